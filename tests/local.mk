# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What a test program is made of unless it says otherwise: its own .c file, the pure
# code, the simulated fabric.
LDADD = tests/sim/libsim.la libtriadkept.la libtriadbus.la libtriadcollect.la libtriadcabling.la libtriadportmgr.la libtriadelection.la libtriadexpected.la libtriadcluster.la libtriadqos.la libtriadexport.la libtriadprofile.la libtriad.la $(GLIB_LIBS) $(CHECK_LIBS)

include tests/sim/local.mk
include tests/lab/local.mk
include tests/unit/local.mk
include tests/fuzz/local.mk
include tests/bench/local.mk
include tests/integration/local.mk

# What earlier releases wrote.
EXTRA_DIST += tests/compat

# Small changes of the product that some test should notice; scripts/mutate tries them.
EXTRA_DIST += tests/mutants

# Models of the election, for spin.
EXTRA_DIST += tests/model

# What the sanitizer of threads does not report.
EXTRA_DIST += tests/threads.supp

tests/unit/%.o tests/lab/%.o: private CFLAGS += $(TRIAD_TEST_CFLAGS)

# libtool would take half of the time that building the tests takes.
$(check_PROGRAMS) $(EXTRA_PROGRAMS) $(fuzz_targets): private LINK = $(top_srcdir)/tests/link $(CCLD) $(AM_CFLAGS) $(CFLAGS) \
	$(AM_LDFLAGS) $(LDFLAGS) -o $@
$(fuzz_targets): private AM_LDFLAGS += $(fuzz_ldflags)
EXTRA_DIST += tests/link
