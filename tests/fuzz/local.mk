# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One program for each parser and decoder of external input.  With
# --enable-fuzzing they are libFuzzer programs, which scripts/fuzz makes and runs.
# Without, each is a test that replays the corpus of its name.
fuzz_targets = \
	tests/fuzz/fuzz_anonym \
	tests/fuzz/fuzz_bus_record \
	tests/fuzz/fuzz_cabling_plan \
	tests/fuzz/fuzz_collect_data \
	tests/fuzz/fuzz_collect_message \
	tests/fuzz/fuzz_conf \
	tests/fuzz/fuzz_console \
	tests/fuzz/fuzz_control \
	tests/fuzz/fuzz_devices \
	tests/fuzz/fuzz_discovery \
	tests/fuzz/fuzz_election_message \
	tests/fuzz/fuzz_election_state \
	tests/fuzz/fuzz_expected \
	tests/fuzz/fuzz_fragments \
	tests/fuzz/fuzz_group \
	tests/fuzz/fuzz_http_request \
	tests/fuzz/fuzz_journal \
	tests/fuzz/fuzz_json_rows \
	tests/fuzz/fuzz_mirror \
	tests/fuzz/fuzz_netdiscover \
	tests/fuzz/fuzz_past \
	tests/fuzz/fuzz_path_request \
	tests/fuzz/fuzz_pma \
	tests/fuzz/fuzz_policy \
	tests/fuzz/fuzz_profile \
	tests/fuzz/fuzz_profile_file \
	tests/fuzz/fuzz_reply \
	tests/fuzz/fuzz_sa \
	tests/fuzz/fuzz_sa_copy \
	tests/fuzz/fuzz_sa_mad \
	tests/fuzz/fuzz_sampled_request \
	tests/fuzz/fuzz_seal \
	tests/fuzz/fuzz_seen_sms \
	tests/fuzz/fuzz_served \
	tests/fuzz/fuzz_squeue \
	tests/fuzz/fuzz_sflow \
	tests/fuzz/fuzz_replica \
	tests/fuzz/fuzz_smp \
	tests/fuzz/fuzz_table \
	tests/fuzz/fuzz_timeline

tests_fuzz_fuzz_bus_record_SOURCES = \
	tests/fuzz/fuzz_bus_record.c collect/nats/record.c $(fuzz_driver)
tests_fuzz_fuzz_collect_data_SOURCES = \
	tests/fuzz/fuzz_collect_data.c $(fuzz_driver)
tests_fuzz_fuzz_collect_message_SOURCES = \
	tests/fuzz/fuzz_collect_message.c $(fuzz_driver)
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c $(fuzz_driver)
tests_fuzz_fuzz_control_SOURCES = tests/fuzz/fuzz_control.c $(fuzz_driver)
tests_fuzz_fuzz_election_message_SOURCES = \
	tests/fuzz/fuzz_election_message.c $(fuzz_driver)
tests_fuzz_fuzz_expected_SOURCES = tests/fuzz/fuzz_expected.c $(fuzz_driver)
tests_fuzz_fuzz_fragments_SOURCES = tests/fuzz/fuzz_fragments.c $(fuzz_driver)
tests_fuzz_fuzz_http_request_SOURCES = \
	tests/fuzz/fuzz_http_request.c $(fuzz_driver)
tests_fuzz_fuzz_mirror_SOURCES = tests/fuzz/fuzz_mirror.c $(fuzz_driver)
tests_fuzz_fuzz_netdiscover_SOURCES = tests/fuzz/fuzz_netdiscover.c $(fuzz_driver)
tests_fuzz_fuzz_past_SOURCES = tests/fuzz/fuzz_past.c $(fuzz_driver)
tests_fuzz_fuzz_path_request_SOURCES = \
	tests/fuzz/fuzz_path_request.c $(fuzz_driver)
tests_fuzz_fuzz_pma_SOURCES = tests/fuzz/fuzz_pma.c $(fuzz_driver)
tests_fuzz_fuzz_policy_SOURCES = tests/fuzz/fuzz_policy.c $(fuzz_driver)
tests_fuzz_fuzz_profile_SOURCES = tests/fuzz/fuzz_profile.c $(fuzz_driver)
tests_fuzz_fuzz_sa_SOURCES = tests/fuzz/fuzz_sa.c $(fuzz_driver)
tests_fuzz_fuzz_sa_copy_SOURCES = tests/fuzz/fuzz_sa_copy.c $(fuzz_driver)
tests_fuzz_fuzz_seal_SOURCES = tests/fuzz/fuzz_seal.c $(fuzz_driver)
tests_fuzz_fuzz_seal_LDADD = $(LDADD) $(NETTLE_LIBS)
tests_fuzz_fuzz_replica_SOURCES = tests/fuzz/fuzz_replica.c $(fuzz_driver)
tests_fuzz_fuzz_squeue_SOURCES = tests/fuzz/fuzz_squeue.c cli/child.c cli/slurm_job.c $(fuzz_driver)
tests_fuzz_fuzz_served_SOURCES = \
	tests/fuzz/fuzz_served.c service/served.c $(fuzz_driver)
tests_fuzz_fuzz_sflow_SOURCES = tests/fuzz/fuzz_sflow.c $(fuzz_driver)
tests_fuzz_fuzz_console_SOURCES = tests/fuzz/fuzz_console.c \
	plugin/console_lines.c $(fuzz_driver)
tests_fuzz_fuzz_devices_SOURCES = tests/fuzz/fuzz_devices.c $(fuzz_driver)
tests_fuzz_fuzz_discovery_SOURCES = tests/fuzz/fuzz_discovery.c \
	agent/discovery_reply.c $(fuzz_driver)
tests_fuzz_fuzz_election_state_SOURCES = \
	tests/fuzz/fuzz_election_state.c $(fuzz_driver)
tests_fuzz_fuzz_seen_sms_SOURCES = \
	tests/fuzz/fuzz_seen_sms.c $(fuzz_driver)
tests_fuzz_fuzz_group_SOURCES = \
	tests/fuzz/fuzz_group.c $(fuzz_driver)
tests_fuzz_fuzz_timeline_SOURCES = \
	tests/fuzz/fuzz_timeline.c $(fuzz_driver)
tests_fuzz_fuzz_journal_SOURCES = \
	tests/fuzz/fuzz_journal.c $(fuzz_driver)
tests_fuzz_fuzz_profile_file_SOURCES = tests/fuzz/fuzz_profile_file.c \
	cli/profile_inputs.c $(fuzz_driver)
tests_fuzz_fuzz_profile_file_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_fuzz_fuzz_reply_SOURCES = tests/fuzz/fuzz_reply.c \
	cli/reply.c $(fuzz_driver)
tests_fuzz_fuzz_sa_mad_SOURCES = tests/fuzz/fuzz_sa_mad.c $(fuzz_driver)
tests_fuzz_fuzz_sampled_request_SOURCES = \
	tests/fuzz/fuzz_sampled_request.c $(fuzz_driver)
tests_fuzz_fuzz_smp_SOURCES = \
	tests/fuzz/fuzz_smp.c $(fuzz_driver)
tests_fuzz_fuzz_anonym_SOURCES = tests/fuzz/fuzz_anonym.c cli/anonym.c $(fuzz_driver)
tests_fuzz_fuzz_json_rows_SOURCES = tests/fuzz/fuzz_json_rows.c \
	cli/json_rows.c $(fuzz_driver)
tests_fuzz_fuzz_cabling_plan_SOURCES = tests/fuzz/fuzz_cabling_plan.c $(fuzz_driver)
tests_fuzz_fuzz_table_SOURCES = tests/fuzz/fuzz_table.c $(fuzz_driver)

if FUZZING
fuzz_driver =
fuzz_ldflags = -fsanitize=fuzzer
noinst_PROGRAMS += $(fuzz_targets)
else
fuzz_driver = tests/fuzz/replay.c
fuzz_ldflags =
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
endif

# Builds the fuzz targets alone, with the libraries that they need.
.PHONY: fuzzers
fuzzers: $(fuzz_targets)

noinst_HEADERS += tests/fuzz/checked_lines.h tests/fuzz/fuzz.h
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/make_seeds
