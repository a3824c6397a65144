/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/election/state_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

#define FIRST_LINE "# Triad's election; written by itself\n"

static char dir[TEST_FOLDER_SIZE], path[80], new_path[96];

static void set_up(void)
{
	make_test_folder(dir);
	snprintf(path, sizeof(path), "%s/sub/x.state", dir);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
}

static void tear_down(void)
{
	char sub[80];

	snprintf(sub, sizeof(sub), "%s/sub", dir);
	unlink(path);
	unlink(new_path);
	rmdir(new_path);
	rmdir(sub);
	ck_assert_int_eq(rmdir(dir), 0);
}

static struct triad_election_stored some(uint32_t n_blacklisted)
{
	struct triad_election_stored stored = {
		.term = UINT64_MAX,
		.voted_term = UINT64_MAX - 1,
		.voted_for = UINT64_C(0xffffffffffffffff),
		.generation = UINT64_MAX - 2,
		.blacklist = {.n = n_blacklisted},
	};

	for (uint32_t i = 0; i < n_blacklisted; i++)
		stored.blacklist.entries[i] =
			(struct triad_blacklist_entry){.id = UINT64_MAX - i,
				.version = UINT32_MAX - i,
				.is_listed = i % 2};
	return stored;
}

static void check_same(
	const struct triad_election_stored *a, const struct triad_election_stored *b)
{
	ck_assert_uint_eq(a->term, b->term);
	ck_assert_uint_eq(a->voted_term, b->voted_term);
	ck_assert_uint_eq(a->voted_for, b->voted_for);
	ck_assert_uint_eq(a->generation, b->generation);
	ck_assert_uint_eq(a->blacklist.n, b->blacklist.n);
	for (uint32_t i = 0; i < a->blacklist.n; i++) {
		const struct triad_blacklist_entry *x = &a->blacklist.entries[i];
		const struct triad_blacklist_entry *y = &b->blacklist.entries[i];

		ck_assert_uint_eq(x->id, y->id);
		ck_assert_uint_eq(x->version, y->version);
		ck_assert_int_eq(x->is_listed, y->is_listed);
	}
}

/* The reason why the last call failed, if that was the version. */
static char why[TRIAD_FORMAT_REFUSAL_SIZE];

static void check_zeroes(const struct triad_election_stored *stored)
{
	const struct triad_election_stored zeroes = {.term = 0};

	check_same(stored, &zeroes);
}

static void put(const char *text)
{
	const struct triad_election_stored nothing = {.term = 0};
	FILE *file;

	ck_assert_int_eq(triad_state_file_write(path, &nothing, why), 0);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

START_TEST(test_state_written_is_read_back)
{
	struct triad_election_stored ours = some((uint32_t)_i), theirs;

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), 0);
	check_same(&ours, &theirs);
	ck_assert_int_ne(access(new_path, F_OK), 0);
}
END_TEST

START_TEST(test_state_written_again_replaces_the_file_as_a_whole)
{
	struct triad_election_stored ours = some(TRIAD_BLACKLIST_MAX), theirs;
	struct stat before, after;

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	ck_assert_int_eq(stat(path, &before), 0);
	ours = (struct triad_election_stored){.term = 3};
	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_ne(before.st_ino, after.st_ino);
	ck_assert_uint_eq(after.st_mode & 0777, 0600);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), 0);
	check_same(&ours, &theirs);
}
END_TEST

/* Whatever the reason of the failure is, the old state stays. */
START_TEST(test_state_not_writable_leaves_the_old_one)
{
	struct triad_election_stored ours = some(1), other = some(2), theirs;

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	ck_assert_int_eq(mkdir(new_path, 0700), 0);
	ck_assert_int_eq(triad_state_file_write(path, &other, why), EISDIR);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), 0);
	check_same(&ours, &theirs);
}
END_TEST

START_TEST(test_state_missing_is_zeroes)
{
	struct triad_election_stored theirs = some(1);

	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), ENOENT);
	check_zeroes(&theirs);
}
END_TEST

/* Invalid files are refused as a whole: if a vote were missing, this SM could vote
 * twice. */
static const char *const foreign[] = {
	"",
	"term 5\n",
	"# something else\nterm 5\n",
	FIRST_LINE "term 5\nnonsense\n",
	FIRST_LINE "term 5\nterm -\n",
	FIRST_LINE "term 5x\nvoted 0 0x0\ngeneration 0\n",
	FIRST_LINE "term -5\nvoted 0 0x0\ngeneration 0\n",
	FIRST_LINE "term 99999999999999999999\nvoted 0 0x0\ngeneration 0\n",
	FIRST_LINE "term 5\nvoted 4\ngeneration 7\n",
	FIRST_LINE "term 5\nblacklist 0x0 1 1\n",
	FIRST_LINE "term 5\nblacklist 0x1 0 1\n",
	FIRST_LINE "term 5\nblacklist 0x1 1 2\n",
	FIRST_LINE "term 5\nblacklist 0x1 1\n",
	/* cut off */
	FIRST_LINE,
	FIRST_LINE "term 5\n",
	FIRST_LINE "term 5\nvoted 4 0x7\n",
	FIRST_LINE "term 52\nvoted 48 0x00000000000000",
	FIRST_LINE "term 52\nvoted 48 0x0000000000000007\ngeneration 5",
	/* known lines behind one of a later Triad, and a line without a value */
	FIRST_LINE "flavour 7\nterm 5\nvoted 4 0x0000000000000007\ngeneration 5\n"
		   "lease_ms 400\n",
	FIRST_LINE "term 5\nvoted 4 0x0000000000000007\ngeneration 5\nlease_ms 400\n"
		   "flavour\n",
	FIRST_LINE "term 5\nvoted 4 0x0000000000000007\ngeneration 5\nlease_ms 400\n"
		   "flavour 7",
	/* a vote in a term above the newest one */
	FIRST_LINE "term 5\nvoted 6 0x0000000000000007\ngeneration 5\n",
};

/* A later Triad may append lines to the known ones. */
START_TEST(test_state_with_lines_of_a_later_triad_is_read)
{
	struct triad_election_stored ours = some(2), theirs;
	FILE *file;

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	file = fopen(path, "a");
	fputs("flavour 7 0x1\nlatest_wish none\n", file);
	fclose(file);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), 0);
	check_same(&ours, &theirs);
	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
}
END_TEST

/* The meaning of a later version is unknown, so no vote of this version may replace
 * it. */
START_TEST(test_state_of_a_later_version_is_refused_and_stays)
{
	const char *text = "# Triad's election, version 2; written by itself\nterm 5\n";
	struct triad_election_stored ours = some(1), theirs = some(1);
	char there[128];
	FILE *file;
	size_t n;

	put(text);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), EPROTONOSUPPORT);
	check_zeroes(&theirs);
	why[0] = '\0';
	ck_assert_int_eq(triad_state_file_write(path, &ours, why), EPROTONOSUPPORT);
	assert_line_with(why, "version 2");
	file = fopen(path, "r");
	n = fread(there, 1, sizeof(there), file);
	fclose(file);
	ck_assert_uint_eq(n, strlen(text));
	ck_assert_mem_eq(there, text, n);
}
END_TEST

START_TEST(test_state_not_written_by_triad_or_cut_off_is_refused)
{
	struct triad_election_stored theirs = some(1);

	put(foreign[_i]);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), EINVAL);
	check_zeroes(&theirs);
}
END_TEST

/* A disk that lost a block leaves zeros. */
START_TEST(test_state_with_octets_behind_a_zero_is_refused)
{
	struct triad_election_stored ours = some(1), theirs;
	FILE *file;

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	file = fopen(path, "a");
	ck_assert_ptr_nonnull(file);
	fwrite("\0term 5\n", 1, 8, file);
	fclose(file);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), EINVAL);
	check_zeroes(&theirs);
}
END_TEST

START_TEST(test_state_with_long_blacklist_is_refused)
{
	char text[4096] = FIRST_LINE "term 5\nvoted 0 0x0\ngeneration 0\n";
	struct triad_election_stored theirs;

	for (unsigned i = 1; i <= TRIAD_BLACKLIST_MAX + 1; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"blacklist 0x%x 1 1\n", i);
	put(text);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), EINVAL);
}
END_TEST

START_TEST(test_state_behind_symbolic_link_is_not_followed)
{
	struct triad_election_stored theirs, ours = some(1);
	char target[80];

	ck_assert_int_eq(triad_state_file_write(path, &ours, why), 0);
	snprintf(target, sizeof(target), "%s/target", dir);
	ck_assert_int_eq(rename(path, target), 0);
	ck_assert_int_eq(symlink(target, path), 0);
	ck_assert_int_eq(triad_state_file_read(path, &theirs, why), ELOOP);
	check_zeroes(&theirs);
	unlink(target);
}
END_TEST

START_TEST(test_state_that_is_a_fifo_does_not_hang)
{
	struct triad_election_stored theirs;

	put("");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_ne(triad_state_file_read(path, &theirs, why), 0);
	check_zeroes(&theirs);
}
END_TEST

START_TEST(test_state_name_has_the_guid_and_fits)
{
	char name[64], small[36];

	ck_assert_int_eq(triad_state_file_name("/x", 0x1234, name, sizeof(name)), 0);
	ck_assert_str_eq(name, "/x/election-0x0000000000001234.state");
	ck_assert_int_eq(triad_state_file_name("/x", 0x1234, small, sizeof(small)),
		ENAMETOOLONG);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("state_file");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_loop_test(
		cases, test_state_written_is_read_back, 0, TRIAD_BLACKLIST_MAX + 1);
	tcase_add_test(cases, test_state_written_again_replaces_the_file_as_a_whole);
	tcase_add_test(cases, test_state_not_writable_leaves_the_old_one);
	tcase_add_test(cases, test_state_missing_is_zeroes);
	tcase_add_test(cases, test_state_with_lines_of_a_later_triad_is_read);
	tcase_add_test(cases, test_state_of_a_later_version_is_refused_and_stays);
	tcase_add_loop_test(cases,
		test_state_not_written_by_triad_or_cut_off_is_refused, 0,
		sizeof(foreign) / sizeof(*foreign));
	tcase_add_test(cases, test_state_with_octets_behind_a_zero_is_refused);
	tcase_add_test(cases, test_state_with_long_blacklist_is_refused);
	tcase_add_test(cases, test_state_behind_symbolic_link_is_not_followed);
	tcase_add_test(cases, test_state_that_is_a_fifo_does_not_hang);
	tcase_add_test(cases, test_state_name_has_the_guid_and_fits);
	return run_cases(cases);
}
