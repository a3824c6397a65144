# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Built by 'make', run by hand; 'make check' only sees that they run.
noinst_PROGRAMS += tests/bench/engine
