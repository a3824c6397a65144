# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# On stock opensm and ibsim, as root.
integration_tests = \
	tests/integration/test_bench.py \
	tests/integration/test_conf.py \
	tests/integration/test_console.py \
	tests/integration/test_control_socket.py \
	tests/integration/test_counters.py \
	tests/integration/test_demo.py \
	tests/integration/test_gen_fabric.py \
	tests/integration/test_lab.py \
	tests/integration/test_lifecycle.py \
	tests/integration/test_triadctl.py

TESTS += $(integration_tests)
EXTRA_DIST += \
	$(integration_tests) \
	tests/integration/sanitizer.supp \
	tests/integration/taplib.py \
	tests/integration/triadlib.py
