# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Stands in for what can't be had: a fabric without an SM, agents that misbehave.
check_LTLIBRARIES += tests/sim/libsim.la
tests_sim_libsim_la_SOURCES = \
	tests/heap.h \
	tests/random.h \
	tests/sim/agents.c tests/sim/agents.h \
	tests/sim/collectors.c tests/sim/collectors.h \
	tests/sim/collectors_check.c \
	tests/sim/collectors_fabric.c \
	tests/sim/collectors_parts.h \
	tests/sim/election_script.c tests/sim/election_script.h \
	tests/sim/election_script_commands.c \
	tests/sim/election_script_parts.h \
	tests/sim/elections.c tests/sim/elections.h \
	tests/sim/elections_check.c \
	tests/sim/elections_faults.c \
	tests/sim/elections_network.c \
	tests/sim/elections_parts.h \
	tests/sim/event_heap.c tests/sim/event_heap.h \
	tests/sim/fabrics.c tests/sim/fabrics.h \
	tests/sim/fat_tree.c tests/sim/fat_tree.h \
	tests/sim/flows.c tests/sim/flows.h \
	tests/sim/gathering.c tests/sim/gathering.h \
	tests/sim/many_ports.c tests/sim/many_ports.h \
	tests/sim/pmas.c tests/sim/pmas.h \
	tests/sim/naive_setup.c tests/sim/naive_setup.h \
	tests/sim/plans.c tests/sim/plans.h \
	tests/sim/plans_qos.c \
	tests/sim/policies.c tests/sim/policies.h \
	tests/sim/routed.c tests/sim/routed.h \
	tests/sim/setups.c tests/sim/setups.h \
	tests/sim/sflow_decode.c tests/sim/sflow_decode.h \
	tests/sim/storms.c tests/sim/storms.h \
	tests/sim/views.c tests/sim/views.h

# Random storms over simulated clusters: a short one here, a long one in scripts/check.
check_PROGRAMS += tests/sim/claims_storm tests/sim/election_storm \
	tests/sim/gather_storm
TESTS += tests/sim/claims_storm tests/sim/election_storm tests/sim/gather_storm

# Prints what happens after a script; a unit test runs those in tests/sim/elections.
check_PROGRAMS += tests/sim/election_run
EXTRA_DIST += tests/sim/elections

# Repeats runs of tests/model/election.pml; tests/integration/test_model.py gives them.
check_PROGRAMS += tests/sim/model_replay

# Benchmarks (tests/bench/local.mk): ber_trials prints how soon links of known BER are judged,
# congestion_trials how often congestion is explained rightly, damp_trials how often good links are
# held, heal_trials what becomes of bad links in a year.

# Runs flows on a fabric that it is told of; a lab's counters are set to what comes out.
check_PROGRAMS += tests/sim/flows_run
