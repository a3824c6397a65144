# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# For working on Triad and trying it; not installed.
EXTRA_DIST += \
	scripts/bench-failover \
	scripts/bench-sm \
	scripts/bench-pathrecord \
	scripts/bench-qos-tables \
	scripts/bench-sweep \
	scripts/build \
	scripts/check \
	scripts/demo \
	scripts/deps \
	scripts/gen-fabric \
	scripts/lab \
	scripts/rows \
	scripts/triadlab/__init__.py \
	scripts/triadlab/agents.py \
	scripts/triadlab/agents_demo.py \
	scripts/triadlab/bench.py \
	scripts/triadlab/cluster.py \
	scripts/triadlab/down.py \
	scripts/triadlab/election_demo.py \
	scripts/triadlab/environment.py \
	scripts/triadlab/errors.py \
	scripts/triadlab/failover.py \
	scripts/triadlab/faults.py \
	scripts/triadlab/feedback.py \
	scripts/triadlab/hosts.py \
	scripts/triadlab/netfile.py \
	scripts/triadlab/nodes.py \
	scripts/triadlab/opensm.py \
	scripts/triadlab/plugin.py \
	scripts/triadlab/ports_demo.py \
	scripts/triadlab/qos_demo.py \
	scripts/triadlab/process.py \
	scripts/triadlab/run.py \
	scripts/triadlab/simulator.py \
	scripts/triadlab/state.py \
	scripts/triadlab/status.py \
	scripts/triadlab/topology.py \
	scripts/triadlab/up.py
