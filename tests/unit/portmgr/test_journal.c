/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/mentions.h"

/* The linker replaces the system's functions with these (--wrap). */
int __real_fdatasync(int fd);
int __real_ftruncate64(int fd, off_t size);
int __wrap_fdatasync(int fd);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_ftruncate64(int fd, off_t size);

static bool is_sync_failing, is_truncate_failing;

int __wrap_fdatasync(int fd)
{
	errno = EIO;
	return is_sync_failing ? -1 : __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
	errno = EIO;
	return is_sync_failing ? -1 : __real_fsync(fd);
}

int __wrap_ftruncate64(int fd, off_t size)
{
	errno = EIO;
	return is_truncate_failing ? -1 : __real_ftruncate64(fd, size);
}

static char folder[TEST_FOLDER_SIZE], path[128];
static struct triad_history *history;
static struct triad_journal *journal;
static char reason[400];

static int open_journal(void)
{
	history = triad_history_new();
	return triad_journal_open(path, history, &journal, reason, sizeof(reason));
}

static void close_journal(void)
{
	triad_journal_close(journal);
	triad_history_free(history);
}

static void reopen(void)
{
	close_journal();
	ck_assert_int_eq(open_journal(), 0);
}

static void setup(void)
{
	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/ports.journal", folder);
	is_sync_failing = is_truncate_failing = false;
}

static void teardown(void)
{
	char beside[160];

	snprintf(beside, sizeof(beside), "%s.new", path);
	unlink(beside);
	rmdir(beside);
	unlink(path);
	rmdir(path);
	rmdir(folder);
}

static struct triad_record a_record(uint64_t number, uint64_t node_guid)
{
	struct triad_record record = {.term = 1,
		.number = number,
		.writer = 1,
		.node_guid = node_guid,
		.port = 1,
		.action = TRIAD_ACTION_DISABLE,
		.outcome = TRIAD_OUTCOME_DONE,
		.reason = TRIAD_REASON_EXPECTED};

	snprintf(record.text, sizeof(record.text), "number %u", (unsigned)number);
	return record;
}

/* Appends to the journal, then to the history, in the same order as the plugin. */
static int append(uint64_t number, uint64_t node_guid)
{
	struct triad_record record = a_record(number, node_guid);
	int error = triad_journal_append(journal, &record, true);

	if (!error)
		triad_history_merge(history, &record);
	return error;
}

static void check_has(uint64_t number, uint64_t node_guid)
{
	const struct triad_record *found = triad_history_find(history, node_guid, 1);

	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->number, number);
}

/* Appends octets to the file. */
static void add_octets(const char *octets)
{
	FILE *file = fopen(path, "ab");

	ck_assert_ptr_nonnull(file);
	fputs(octets, file);
	fclose(file);
}

static off_t size_of(const char *name)
{
	struct stat status;

	return stat(name, &status) ? -1 : status.st_size;
}

START_TEST(test_journal_reopened_has_same_memory)
{
	struct triad_history_digest before, after;
	struct stat status;

	ck_assert_int_eq(open_journal(), 0);
	for (uint64_t i = 1; i <= 100; i++)
		ck_assert_int_eq(append(i, 1 + i % 7), 0);
	triad_history_digest(history, &before);
	reopen();
	triad_history_digest(history, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	ck_assert_uint_eq(triad_journal_n_bad(journal), 0);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(triad_history_latest(history, i)->number, 100 - i);
	ck_assert_int_eq(append(101, 1), 0);
	reopen();
	check_has(101, 1);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	close_journal();
}
END_TEST

START_TEST(test_journal_torn_last_line_is_left_out_next_one_found)
{
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 1), 0);
	ck_assert_int_eq(append(2, 2), 0);
	ck_assert_int_eq(truncate(path, size_of(path) - 9), 0);
	reopen();
	ck_assert_uint_eq(triad_journal_n_bad(journal), 1);
	check_has(1, 1);
	ck_assert_ptr_null(triad_history_find(history, 2, 1));
	ck_assert_int_eq(append(3, 3), 0);
	ck_assert_int_eq(append(4, 4), 0);
	reopen();
	ck_assert_uint_eq(triad_journal_n_bad(journal), 1);
	check_has(3, 3);
	check_has(4, 4);
	close_journal();
}
END_TEST

/* Only the newline of the last line wasn't written. */
START_TEST(test_journal_last_line_without_end_counts)
{
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 1), 0);
	ck_assert_int_eq(truncate(path, size_of(path) - 1), 0);
	reopen();
	ck_assert_uint_eq(triad_journal_n_bad(journal), 0);
	ck_assert_int_eq(append(2, 2), 0);
	reopen();
	check_has(1, 1);
	check_has(2, 2);
	close_journal();
}
END_TEST

START_TEST(test_journal_altered_lines_are_left_out)
{
	int fd;
	char longer[3000];

	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 1), 0);
	ck_assert_int_eq(append(2, 2), 0);
	fd = open(path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "9", 1, 0), 1);
	close(fd);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	add_octets(longer);
	add_octets("\n\n\nnothing of ours\n");
	ck_assert_int_eq(append(3, 3), 0);
	reopen();
	ck_assert_uint_eq(triad_journal_n_bad(journal), 3);
	ck_assert_ptr_null(triad_history_find(history, 1, 1));
	check_has(2, 2);
	check_has(3, 3);
	close_journal();
}
END_TEST

/* --- a disk that fails --- */

static void limit_size(rlim_t size)
{
	const struct rlimit limit = {size, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Fills the file beyond its maximum with copies of one line, then a torn line. */
static void fill(void)
{
	struct triad_record record = a_record(50, 1);
	char line[TRIAD_RECORD_LINE_SIZE];
	FILE *file = fopen(path, "ab");

	ck_assert_ptr_nonnull(file);
	triad_record_format(&record, line);
	while (ftello(file) <= (off_t)TRIAD_JOURNAL_MAX_OCTETS)
		fprintf(file, "%s\n", line);
	fputs("torn", file);
	fclose(file);
}

/* The journal is so large that the limit on file sizes doesn't affect libcheck's files.
 * With '_i', the partial line can't be truncated away. */
START_TEST(test_journal_full_disk_record_is_not_in_it)
{
	off_t size;

	ck_assert_int_eq(open_journal(), 0);
	fill();
	reopen();
	ck_assert_int_eq(append(1, 7), 0);
	size = size_of(path);
	limit_size((rlim_t)size + 20);
	is_truncate_failing = _i;
	ck_assert_int_eq(append(2, 2), EFBIG);
	ck_assert_int_eq(append(2, 2), EFBIG);
	ck_assert_int_eq(size_of(path), _i ? size + 20 : size);
	limit_size(RLIM_INFINITY);
	ck_assert_int_eq(append(3, 3), 0);
	ck_assert_int_eq(append(4, 4), 0);
	is_truncate_failing = false;
	limit_size((rlim_t)size_of(path) + 20);
	ck_assert_int_eq(append(5, 5), EFBIG);
	limit_size(RLIM_INFINITY);
	reopen();
	ck_assert_uint_eq(triad_journal_n_bad(journal), 1 + (unsigned)_i);
	ck_assert_ptr_null(triad_history_find(history, 2, 1));
	check_has(1, 7);
	check_has(3, 3);
	check_has(4, 4);
	ck_assert_ptr_null(triad_history_find(history, 5, 1));
	close_journal();
}
END_TEST

START_TEST(test_journal_sync_fails_record_is_not_in_it)
{
	ck_assert_int_eq(open_journal(), 0);
	is_sync_failing = true;
	ck_assert_int_eq(append(1, 1), EIO);
	is_sync_failing = false;
	ck_assert_int_eq(append(2, 2), 0);
	reopen();
	ck_assert_ptr_null(triad_history_find(history, 1, 1));
	check_has(2, 2);
	close_journal();
}
END_TEST

/* --- files that aren't journals --- */

static void check_refused(int error, const char *what)
{
	ck_assert_int_eq(open_journal(), error);
	ck_assert_ptr_null(journal);
	assert_mentions(reason, what);
	ck_assert_msg(strstr(reason, path) != NULL, "%s", reason);
	close_journal();
}

START_TEST(test_journal_not_regular_file_is_refused)
{
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	check_refused(EINVAL, "regular file");
	unlink(path);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	check_refused(EISDIR, "file");
}
END_TEST

START_TEST(test_journal_symlink_is_not_followed)
{
	char target[128];

	snprintf(target, sizeof(target), "%s/target", folder);
	ck_assert_int_eq(symlink(target, path), 0);
	check_refused(ELOOP, "symbolic link");
	ck_assert_int_eq(size_of(target), -1);
}
END_TEST

START_TEST(test_journal_that_others_may_write_is_refused_until_mended)
{
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 1), 0);
	close_journal();
	ck_assert_int_eq(chmod(path, 0622), 0);
	check_refused(EPERM, "write 0622 chmod go-w");
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(chmod(folder, 0770), 0);
	check_refused(EPERM, "write folder");
	ck_assert_int_eq(chmod(folder, 0700), 0);
	ck_assert_int_eq(open_journal(), 0);
	check_has(1, 1);
	close_journal();
}
END_TEST

START_TEST(test_journal_folder_missing_is_made)
{
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 1), 0);
	reopen();
	check_has(1, 1);
	close_journal();
}
END_TEST

START_TEST(test_journal_folders_missing_is_refused)
{
	char whole[128];

	strcpy(whole, path);
	snprintf(path, sizeof(path), "%s/a/b/journal", folder);
	check_refused(ENOENT, "make its folder");
	strcpy(path, whole);
}
END_TEST

START_TEST(test_journal_name_too_long_is_refused)
{
	char name[600];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	history = triad_history_new();
	ck_assert_int_eq(
		triad_journal_open(name, history, &journal, reason, 200), ENAMETOOLONG);
	ck_assert_ptr_null(journal);
	close_journal();
}
END_TEST

START_TEST(test_journal_far_too_large_is_refused)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 33), 0);
	close(fd);
	check_refused(EFBIG, "move it away");
}
END_TEST

/* Records of a later version may have another meaning.  The plugin reads none of them,
 * so it changes no port, and it keeps the file. */
START_TEST(test_journal_of_a_later_version_is_refused)
{
	add_octets("# Triad's journal of ports, version 2\nwhatever\n");
	check_refused(EPROTONOSUPPORT, "version 2");
}
END_TEST

START_TEST(test_journal_with_the_version_named_is_read)
{
	add_octets("# Triad's journal of ports, version 1\n");
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_uint_eq(triad_journal_n_bad(journal), 0);
	close_journal();
}
END_TEST

/* --- trimming --- */

/* The journal has more records than the history keeps in order. */
START_TEST(test_journal_too_large_is_trimmed_nothing_lost)
{
	struct triad_history_digest before, after;
	const uint64_t n = TRIAD_HISTORY_N_LATEST + 500;
	ino_t old;
	struct stat status;

	is_sync_failing = false;
	ck_assert_int_eq(open_journal(), 0);
	for (uint64_t i = 1; i <= n; i++)
		ck_assert_int_eq(append(i, i < 300 ? i : 300 + i % 200), 0);
	fill();
	reopen();
	triad_history_digest(history, &before);
	ck_assert_int_eq(stat(path, &status), 0);
	old = status.st_ino;
	triad_journal_trim(journal, history);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_ne(status.st_ino, old);
	ck_assert_int_lt(status.st_size, 1 << 20);
	ck_assert_uint_eq(status.st_mode & 07777, 0600);
	reopen();
	triad_history_digest(history, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	ck_assert_uint_eq(triad_journal_n_bad(journal), 0);
	for (uint32_t i = 0; i < TRIAD_HISTORY_N_LATEST; i++)
		ck_assert_uint_eq(triad_history_latest(history, i)->number, n - i);
	close_journal();
}
END_TEST

START_TEST(test_journal_trimmed_goes_on)
{
	char beside[160];

	snprintf(beside, sizeof(beside), "%s.new", path);
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 9), 0);
	triad_journal_trim(journal, history);
	fill();
	reopen();
	triad_journal_trim(journal, history);
	ck_assert_int_eq(append(60, 2), 0);
	ck_assert_int_eq(size_of(beside), -1);
	reopen();
	check_has(1, 9);
	check_has(50, 1);
	check_has(60, 2);
	ck_assert_int_lt(size_of(path), 1000);
	close_journal();
}
END_TEST

/* A folder has the name of the new file; or the disk fails. */
START_TEST(test_journal_trim_fails_file_stays)
{
	char beside[160];

	snprintf(beside, sizeof(beside), "%s.new", path);
	ck_assert_int_eq(open_journal(), 0);
	ck_assert_int_eq(append(1, 9), 0);
	fill();
	reopen();
	if (_i)
		ck_assert_int_eq(mkdir(beside, 0700), 0);
	is_sync_failing = !_i;
	triad_journal_trim(journal, history);
	is_sync_failing = false;
	ck_assert_int_gt(size_of(path), (off_t)TRIAD_JOURNAL_MAX_OCTETS);
	if (!_i)
		ck_assert_int_eq(size_of(beside), -1);
	ck_assert_int_eq(append(60, 2), 0);
	reopen();
	check_has(1, 9);
	check_has(60, 2);
	close_journal();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("journal");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, test_journal_reopened_has_same_memory);
	tcase_add_test(cases, test_journal_torn_last_line_is_left_out_next_one_found);
	tcase_add_test(cases, test_journal_last_line_without_end_counts);
	tcase_add_test(cases, test_journal_altered_lines_are_left_out);
	tcase_add_loop_test(cases, test_journal_full_disk_record_is_not_in_it, 0, 2);
	tcase_add_test(cases, test_journal_sync_fails_record_is_not_in_it);
	tcase_add_test(cases, test_journal_not_regular_file_is_refused);
	tcase_add_test(cases, test_journal_symlink_is_not_followed);
	tcase_add_test(
		cases, test_journal_that_others_may_write_is_refused_until_mended);
	tcase_add_test(cases, test_journal_folder_missing_is_made);
	tcase_add_test(cases, test_journal_folders_missing_is_refused);
	tcase_add_test(cases, test_journal_name_too_long_is_refused);
	tcase_add_test(cases, test_journal_far_too_large_is_refused);
	tcase_add_test(cases, test_journal_of_a_later_version_is_refused);
	tcase_add_test(cases, test_journal_with_the_version_named_is_read);
	tcase_add_test(cases, test_journal_too_large_is_trimmed_nothing_lost);
	tcase_add_test(cases, test_journal_trimmed_goes_on);
	tcase_add_loop_test(cases, test_journal_trim_fails_file_stays, 0, 2);
	return run_cases(cases);
}
