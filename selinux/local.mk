# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The packages for RHEL build it: see rpm/triad.spec.
EXTRA_DIST += selinux/triad.fc selinux/triad.if selinux/triad.te selinux/triad_port.cil
