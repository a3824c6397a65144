/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files and messages of earlier releases (tests/compat/VERSION) are read completely:
 * written again, they are the same.  A higher version is refused as such. */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "collect/message.h"
#include "perfmgr/formats/silence_file.h"
#include "perfmgr/timeline/reader.h"
#include "portmgr/election/message.h"
#include "portmgr/election/stored.h"
#include "portmgr/history/journal_reader.h"
#include "portmgr/replica/replica_message.h"
#include "tests/unit/run.h"

#define MAX_SIZE 16384
/* The offset of the version, after the magic. */
#define VERSION_AT 4
#define COLLECT_VERSION_AT 2

struct file {
	char path[PATH_MAX];
	size_t size;
	uint8_t octets[MAX_SIZE];
};

static void read_file(struct file *file)
{
	FILE *stream = fopen(file->path, "rb");

	ck_assert_msg(stream, "%s", file->path);
	file->size = fread(file->octets, 1, sizeof(file->octets), stream);
	ck_assert_uint_lt(file->size, sizeof(file->octets));
	fclose(stream);
}

/* Calls check() for the files of each release whose name matches; 'name' may contain
 * '*'. */
static void for_each(const char *name, void (*check)(struct file *file))
{
	static struct file file;
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/tests/compat/[0-9]*/%s", source_folder(),
		name);
	ck_assert_msg(!glob(pattern, 0, NULL, &found), "%s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		snprintf(file.path, sizeof(file.path), "%s", found.gl_pathv[i]);
		read_file(&file);
		check(&file);
	}
	globfree(&found);
}

static void check_same(const struct file *file, const void *octets, size_t size)
{
	ck_assert_msg(size == file->size && !memcmp(octets, file->octets, size),
		"%s is written otherwise", file->path);
}

/* --- state files --- */

static void check_silences(struct file *file)
{
	static uint8_t again[TRIAD_SILENCE_FILE_SIZE];
	struct triad_silences silences = {.wall_us = 1};

	ck_assert_int_eq(
		triad_silence_file_read(file->octets, file->size, &silences), 0);
	ck_assert_uint_eq(silences.n, 2);
	ck_assert_str_eq(silences.list[0].reason, "new HCA");
	check_same(file, again, triad_silence_file_write(&silences, again));
}

static void check_election_state(struct file *file)
{
	struct triad_election_stored stored;
	char again[TRIAD_ELECTION_STORED_SIZE];

	ck_assert_int_eq(
		triad_election_stored_parse((char *)file->octets, file->size, &stored),
		0);
	check_same(file, again, triad_election_stored_format(&stored, again));
}

static void check_history(struct file *file)
{
	struct triad_timeline *timeline = triad_timeline_new(100);
	struct triad_timeline_reader reader;
	char again[MAX_SIZE + TRIAD_TIMELINE_LINE_SIZE];
	size_t size = 0;

	triad_timeline_reader_init(&reader, timeline);
	triad_timeline_reader_take(&reader, (char *)file->octets, file->size);
	ck_assert_uint_eq(reader.n_bad, 0);
	for (uint64_t i = triad_timeline_first(timeline);
		i < triad_timeline_end(timeline) && size < MAX_SIZE; i++) {
		size += triad_timeline_event_format(
			triad_timeline_get(timeline, i), again + size);
		again[size++] = '\n';
	}
	check_same(file, again, size);
	triad_timeline_free(timeline);
}

static void check_journal(struct file *file)
{
	struct triad_history *history = triad_history_new();
	struct triad_journal_reader reader;
	const struct triad_record *record;
	char line[TRIAD_RECORD_LINE_SIZE];
	uint32_t n = 0;

	triad_journal_reader_init(&reader, history);
	ck_assert_int_eq(
		triad_journal_reader_take(&reader, (char *)file->octets, file->size),
		0);
	ck_assert_uint_eq(reader.n_bad, 0);
	/* A port's later record replaces an earlier one. */
	for (; (record = triad_history_latest(history, n)); n++) {
		(void)triad_record_format(record, line);
		ck_assert_msg(strstr((char *)file->octets, line), "%s", line);
	}
	ck_assert_uint_ge(n, 1);
	triad_history_free(history);
}

START_TEST(test_state_files_of_earlier_releases_are_read_and_written_the_same)
{
	for_each("state/silences-*", check_silences);
	for_each("state/election-*", check_election_state);
	for_each("state/history-*", check_history);
	for_each("state/ports-*", check_journal);
}
END_TEST

/* --- messages --- */

static void check_election(struct file *file)
{
	struct triad_election_message message;
	uint8_t again[TRIAD_ELECTION_MESSAGE_SIZE];

	ck_assert_int_eq(
		triad_election_message_decode(&message, file->octets, file->size), 0);
	check_same(file, again, triad_election_message_encode(&message, again));
	file->octets[VERSION_AT]++;
	ck_assert_int_eq(
		triad_election_message_decode(&message, file->octets, file->size),
		EPROTONOSUPPORT);
}

static void check_replica(struct file *file)
{
	struct triad_replica_message message;
	uint8_t again[TRIAD_CLUSTER_PAYLOAD_SIZE];

	ck_assert_int_eq(
		triad_replica_message_decode(&message, file->octets, file->size), 0);
	check_same(file, again, triad_replica_message_encode(&message, again));
	file->octets[VERSION_AT]++;
	ck_assert_int_eq(
		triad_replica_message_decode(&message, file->octets, file->size),
		EPROTONOSUPPORT);
}

static void check_head(struct file *file, struct triad_wire *body)
{
	struct triad_collect_head head;

	ck_assert_int_eq(triad_collect_get_head(file->octets, file->size, &head, body),
		TRIAD_COLLECT_HEAD_GOOD);
}

static void check_alive(struct file *file)
{
	struct triad_collect_head head;
	struct triad_collect_alive alive;
	struct triad_wire body;
	uint8_t again[MAX_SIZE];

	/* A later release may append octets. */
	memset(file->octets + file->size, 0xff, 9);
	ck_assert_int_eq(
		triad_collect_get_head(file->octets, file->size + 9, &head, &body),
		TRIAD_COLLECT_HEAD_GOOD);
	ck_assert(triad_collect_get_alive(&body, &alive));
	check_same(file, again,
		triad_collect_put_alive(&head, &alive, again, sizeof(again)));
	file->octets[COLLECT_VERSION_AT]++;
	ck_assert_int_eq(triad_collect_get_head(file->octets, file->size, &head, &body),
		TRIAD_COLLECT_HEAD_OTHER_VERSION);
}

static void check_owner(struct file *file)
{
	struct triad_collect_owner owner;
	struct triad_collect_claim claim;
	struct triad_wire body;

	check_head(file, &body);
	ck_assert(triad_collect_get_owner(&body, &owner));
	for (uint32_t i = 0; i < owner.n; i++)
		ck_assert(triad_collect_get_claim(&body, &claim));
}

static void check_kind(struct file *file)
{
	struct triad_wire body;

	check_head(file, &body);
}

START_TEST(test_messages_of_earlier_releases_are_understood)
{
	for_each("messages/election", check_election);
	for_each("messages/replica", check_replica);
	for_each("messages/agent-alive", check_alive);
	for_each("messages/agent-owner", check_owner);
	for_each("messages/agent-data", check_kind);
	for_each("messages/agent-topology", check_kind);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("releases");

	tcase_add_test(cases,
		test_state_files_of_earlier_releases_are_read_and_written_the_same);
	tcase_add_test(cases, test_messages_of_earlier_releases_are_understood);
	return run_cases(cases);
}
