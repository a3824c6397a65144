/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A recorder and its file, without a PerfManager. */
#include "service/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"
#include "triad/clock.h"

#define GUID UINT64_C(0x1234)
#define ROOM 64u

/* --- substitutes for service/perf.c, whose functions do nothing here --- */

struct triad_watch *triad_perf_watch(struct triad_perf *perf)
{
	return NULL;
}

struct triad_reset_log *triad_perf_resets(struct triad_perf *perf)
{
	return NULL;
}

struct triad_view *triad_perf_view(struct triad_perf *perf)
{
	return NULL;
}

/* --- a log --- */

static char logged[8192];

static void write_log(void *context, enum triad_log_level level, const char *line)
{
	size_t length = strlen(logged);

	snprintf(logged + length, sizeof(logged) - length, "%s\n", line);
}

static struct triad_log test_log = {.write = write_log, .level = TRIAD_LOG_INFO};

/* --- fixture --- */

static char folder[TEST_FOLDER_SIZE], path[256];
static struct triad_recorder *recorder;

static struct triad_recorder *start_as(const char *program, uint32_t room)
{
	const struct triad_recorder_params params = {
		.room = room, .dir = folder, .program = program, .port_guid = GUID};
	struct triad_recorder *started = triad_recorder_new(&params, &test_log);

	ck_assert_ptr_nonnull(started);
	return started;
}

static bool is_read(struct triad_recorder *of)
{
	return !triad_recorder_status(of).is_reading;
}

static bool is_failing(struct triad_recorder *of)
{
	return triad_recorder_status(of).error;
}

static bool is_well(struct triad_recorder *of)
{
	return !is_failing(of) && triad_recorder_status(of).n_lines;
}

static void wait_until(
	bool (*is_so)(struct triad_recorder *), struct triad_recorder *of)
{
	uint64_t until_us = triad_clock_now_us() + 60 * TRIAD_US_PER_S;

	while (!is_so(of)) {
		ck_assert_uint_lt(triad_clock_now_us(), until_us);
		usleep(2000);
	}
}

static void start(void)
{
	recorder = start_as("OpenSM", ROOM);
	wait_until(is_read, recorder);
}

static void stop(void)
{
	ck_assert(triad_recorder_stop(recorder));
	triad_recorder_free(recorder);
	recorder = NULL;
}

static void set_up(void)
{
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/history-opensm-0x%016x", folder, 0x1234);
	logged[0] = '\0';
}

static void tear_down(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void note(uint32_t count)
{
	const struct triad_timeline_event event = {.kind = TRIAD_TIMELINE_COUNTED_DOWN,
		.count = count,
		.ends[0] = {.node_guid = 0x200, .port = 3, .node_name = "leaf-01"}};

	triad_recorder_note(recorder, &event);
}

/* The kinds of all events, the newest first, as "ended started". */
static const char *kinds(void)
{
	static char text[4096];
	struct triad_timeline_event events[ROOM];
	uint64_t number = UINT64_MAX;
	uint32_t n = triad_recorder_copy(recorder, &number, events, ROOM);
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
			i ? " " : "", triad_timeline_kind_name(events[i].kind));
	return text;
}

static uint64_t size_of_file(void)
{
	struct stat status;

	return stat(path, &status) ? 0 : (uint64_t)status.st_size;
}

static void append_to_file(const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq((int)write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

/* --- cases --- */

START_TEST(test_recorder_restart_has_it_all)
{
	start();
	ck_assert_str_eq(kinds(), "started");
	note(1);
	note(2);
	stop();
	start();
	ck_assert_str_eq(kinds(), "started ended counted-down counted-down started");
	stop();
}
END_TEST

static void take_copied(unsigned kind, uint64_t at_us, uint32_t count)
{
	const struct triad_timeline_event event = {.at_us = at_us,
		.kind = (uint8_t)kind,
		.count = count,
		.ends[0] = {.node_guid = 0x200, .port = 3, .node_name = "leaf-01"}};

	triad_recorder_take_copied(recorder, &event);
}

/* Row: N10 */
START_TEST(test_recorder_takes_events_of_another_sm_once_and_in_order)
{
	uint64_t now_us;

	start();
	now_us = triad_clock_wall_us();
	take_copied(TRIAD_TIMELINE_LINK_DOWN, now_us, 0);
	take_copied(TRIAD_TIMELINE_LINK_UP, now_us + 1, 0);
	ck_assert_str_eq(kinds(), "link-up link-down started");
	/* The other SM's next image has the same events. */
	take_copied(TRIAD_TIMELINE_LINK_DOWN, now_us, 0);
	take_copied(TRIAD_TIMELINE_LINK_UP, now_us + 1, 0);
	ck_assert_str_eq(kinds(), "link-up link-down started");
	/* The recorder ignores events about the other program, old events, and events
	 * with times of a wrong clock. */
	take_copied(TRIAD_TIMELINE_STARTED, now_us + 2, 0);
	take_copied(TRIAD_TIMELINE_ROLE, now_us + 2, 0);
	take_copied(TRIAD_TIMELINE_PORT_MANAGER, now_us + 2, 0);
	take_copied(TRIAD_TIMELINE_QOS, now_us + 2, 0);
	take_copied(TRIAD_TIMELINE_NODE_LEFT, now_us - 2 * TRIAD_RECORDER_LATE_US, 0);
	take_copied(TRIAD_TIMELINE_NODE_LEFT, now_us + 3 * TRIAD_RECORDER_LATE_US, 0);
	ck_assert_str_eq(kinds(), "link-up link-down started");
	take_copied(TRIAD_TIMELINE_LINK_UP, now_us + 1, 1);
	ck_assert_str_eq(kinds(), "link-up link-up link-down started");
	stop();
	start();
	ck_assert_str_eq(kinds(), "started ended link-up link-up link-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_after_a_kill_shows_when_it_was_alive_last)
{
	const struct timespec alive[2] = {
		{.tv_sec = 2000000000}, {.tv_sec = 2000000000}};
	struct triad_timeline_event events[3];
	uint64_t number = UINT64_MAX;
	char line[512] = "";
	FILE *file;

	start();
	note(1);
	stop();
	/* As a killed program leaves the file: without the line of its end. */
	file = fopen(path, "r+");
	for (unsigned i = 0; i < 2; i++)
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	ck_assert_int_eq(ftruncate(fileno(file), ftell(file)), 0);
	fclose(file);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, alive, 0), 0);
	start();
	ck_assert_str_eq(kinds(), "started lost counted-down started");
	ck_assert_uint_eq(triad_recorder_copy(recorder, &number, events, 2), 2);
	ck_assert_uint_eq(events[1].at_us, 2000000000 * TRIAD_US_PER_S);
	stop();
	/* The file has the event "lost" only once. */
	start();
	ck_assert_str_eq(kinds(), "started ended started lost counted-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_torn_and_altered_lines_left_out_and_reported)
{
	start();
	note(1);
	stop();
	append_to_file(
		"2026-01-02T03:04:05.678901Z link-down 0 0x00\n2026-01-02T03:04");
	start();
	ck_assert_str_eq(kinds(), "started ended counted-down started");
	ck_assert_uint_eq(triad_recorder_status(recorder).n_bad, 2);
	assert_line_with(logged, "2 lines");
	note(2);
	stop();
	/* The event after a torn line is on a new line. */
	start();
	ck_assert_str_eq(kinds(),
		"started ended counted-down started ended counted-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_file_of_a_later_version_stays)
{
	struct stat before, after;

	start();
	stop();
	ck_assert_int_eq(truncate(path, 0), 0);
	append_to_file("# Triad's history, version 2\nwhatever\n");
	ck_assert_int_eq(stat(path, &before), 0);
	start();
	note(1);
	ck_assert_str_eq(kinds(), "counted-down started");
	ck_assert_int_eq(triad_recorder_status(recorder).error, EPROTONOSUPPORT);
	stop();
	assert_line_with(logged, "version 2");
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
}
END_TEST

START_TEST(test_recorder_file_does_not_grow_for_ever)
{
	uint64_t largest = 0;

	for (unsigned round = 0; round < 40; round++) {
		start();
		for (uint32_t i = 0; i < 10; i++)
			note(i);
		stop();
		if (size_of_file() > largest)
			largest = size_of_file();
	}
	ck_assert_uint_lt(largest, 3 * (size_t)ROOM * 160);
	start();
	ck_assert_uint_eq(triad_recorder_status(recorder).events.n, ROOM);
	ck_assert_uint_eq(triad_recorder_status(recorder).n_bad, 0);
	stop();
}
END_TEST

START_TEST(test_recorder_second_program_with_the_file_refused_and_harmless)
{
	struct triad_recorder *second;

	start();
	note(1);
	second = start_as("OpenSM", ROOM);
	wait_until(is_failing, second);
	ck_assert_ptr_nonnull(strstr(
		triad_recorder_status(second).reason, "another program writes it"));
	ck_assert(triad_recorder_stop(second));
	triad_recorder_free(second);
	/* Another program has its own file. */
	second = start_as("triad-agent", ROOM);
	wait_until(is_well, second);
	ck_assert(triad_recorder_stop(second));
	triad_recorder_free(second);
	note(2);
	stop();
	start();
	ck_assert_str_eq(kinds(), "started ended counted-down counted-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_file_of_others_untouched)
{
	int fd = open(path, O_CREAT | O_WRONLY, 0666);

	ck_assert_int_ge(fd, 0);
	fchmod(fd, 0666);
	close(fd);
	recorder = start_as("OpenSM", ROOM);
	wait_until(is_failing, recorder);
	note(1);
	ck_assert_str_eq(kinds(), "counted-down started");
	stop();
	ck_assert_uint_eq(size_of_file(), 0);
	ck_assert_ptr_nonnull(strstr(logged, path));
}
END_TEST

/* A limit on file sizes of this process simulates a full disk. */
START_TEST(test_recorder_full_disk_reported_once_and_its_end)
{
	const struct rlimit none = {0, RLIM_INFINITY},
			    all = {RLIM_INFINITY, RLIM_INFINITY};
	const char *at;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	recorder = start_as("OpenSM", ROOM);
	note(1);
	wait_until(is_failing, recorder);
	note(2);
	/* The recorder tries again each second. */
	usleep(2500000);
	at = strstr(logged, "kept in memory meanwhile");
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_null(strstr(at + 1, "kept in memory meanwhile"));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
	wait_until(is_well, recorder);
	ck_assert_ptr_nonnull(strstr(logged, "is written again"));
	stop();
	start();
	ck_assert_str_eq(kinds(), "started ended counted-down counted-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_file_moved_away_is_written_anew)
{
	char moved[300];

	start();
	note(1);
	wait_until(is_well, recorder);
	snprintf(moved, sizeof(moved), "%s.old", path);
	ck_assert_int_eq(rename(path, moved), 0);
	note(2);
	stop();
	start();
	ck_assert_str_eq(kinds(), "started ended counted-down counted-down started");
	stop();
}
END_TEST

START_TEST(test_recorder_storm_is_cut_and_reported_at_the_end)
{
	start();
	for (uint32_t i = 0; i < 100000; i++)
		note(i);
	ck_assert_uint_eq(triad_recorder_status(recorder).events.n, 17);
	stop();
	start();
	ck_assert(!strncmp(kinds(), "started ended more counted-down", 31));
	stop();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("recorder");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, test_recorder_restart_has_it_all);
	tcase_add_test(
		tcase, test_recorder_takes_events_of_another_sm_once_and_in_order);
	tcase_add_test(tcase, test_recorder_after_a_kill_shows_when_it_was_alive_last);
	tcase_add_test(
		tcase, test_recorder_torn_and_altered_lines_left_out_and_reported);
	tcase_add_test(tcase, test_recorder_file_of_a_later_version_stays);
	tcase_add_test(tcase, test_recorder_file_does_not_grow_for_ever);
	tcase_add_test(
		tcase, test_recorder_second_program_with_the_file_refused_and_harmless);
	tcase_add_test(tcase, test_recorder_file_of_others_untouched);
	tcase_add_test(tcase, test_recorder_full_disk_reported_once_and_its_end);
	tcase_add_test(tcase, test_recorder_file_moved_away_is_written_anew);
	tcase_add_test(tcase, test_recorder_storm_is_cut_and_reported_at_the_end);
	return run_cases(tcase);
}
