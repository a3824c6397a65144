# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Jobs: sets of hosts, as a workload manager names them, and what they use; pure.
libtriad_la_SOURCES += \
	jobs/hostlist.c jobs/hostlist.h \
	jobs/slurm_topology.c jobs/slurm_topology.h
