/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

static char folder[TEST_FOLDER_SIZE];
static char path[256], message[1024];

static void make_folder(void)
{
	make_test_folder(folder);
}

static void make_file(const char *name)
{
	char file_name[256];
	FILE *file;

	snprintf(file_name, sizeof(file_name), "%s/%s", folder, name);
	file = fopen(file_name, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
}

static void remove_folder(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static int find(void)
{
	return triad_socket_find(
		folder, ".sock", false, path, sizeof(path), message, sizeof(message));
}

START_TEST(test_find_one_socket_taken)
{
	char expected[256];

	make_file("0x0002c90300001234.sock");
	make_file("other.txt");
	make_file(".sock");
	make_file("sock");
	ck_assert_int_eq(find(), 0);
	snprintf(expected, sizeof(expected), "%s/0x0002c90300001234.sock", folder);
	ck_assert_str_eq(path, expected);
}
END_TEST

START_TEST(test_find_several_listed)
{
	make_file("0x0000000000000001.sock");
	make_file("0x0000000000000002.sock");
	ck_assert_int_eq(find(), EEXIST);
	ck_assert_ptr_nonnull(strstr(message, "2 OpenSMs"));
	ck_assert_ptr_nonnull(strstr(message, "/0x0000000000000001.sock"));
	ck_assert_ptr_nonnull(strstr(message, "/0x0000000000000002.sock"));
	ck_assert_ptr_nonnull(strstr(message, "--port-guid"));
	ck_assert_ptr_nonnull(strstr(message, "--socket"));
}
END_TEST

START_TEST(test_find_none_reports_what_to_do)
{
	ck_assert_int_eq(find(), ENOENT);
	assert_line_with(message, "OpenSM");
	ck_assert_ptr_nonnull(strstr(message, folder));
	assert_line_with(message, "event_plugin_name osmtriad ERR 1000");
}
END_TEST

START_TEST(test_find_no_folder_is_none)
{
	ck_assert_int_eq(triad_socket_find("/nowhere/at/all", ".sock", false, path,
				 sizeof(path), message, sizeof(message)),
		ENOENT);
	ck_assert_ptr_nonnull(strstr(message, "/nowhere/at/all/*.sock: no socket"));
}
END_TEST

START_TEST(test_find_unreadable_folder_reports_why)
{
	make_file("plain");
	strcat(strcpy(path, folder), "/plain");
	ck_assert_int_eq(triad_socket_find(path, ".sock", false, message,
				 sizeof(message), message, sizeof(message)),
		ENOTDIR);
	ck_assert_ptr_nonnull(strstr(message, "Not a directory"));
}
END_TEST

START_TEST(test_find_agent_apart_from_opensm)
{
	char expected[256];

	make_file("0x0000000000000001.sock");
	make_file("agent-0x0000000000000001.sock");
	ck_assert_int_eq(find(), 0);
	snprintf(expected, sizeof(expected), "%s/0x0000000000000001.sock", folder);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(triad_socket_find(folder, ".sock", true, path, sizeof(path),
				 message, sizeof(message)),
		0);
	snprintf(
		expected, sizeof(expected), "%s/agent-0x0000000000000001.sock", folder);
	ck_assert_str_eq(path, expected);
}
END_TEST

START_TEST(test_find_no_agent_reports_what_to_do)
{
	make_file("0x0000000000000001.sock");
	ck_assert_int_eq(triad_socket_find(folder, ".sock", true, path, sizeof(path),
				 message, sizeof(message)),
		ENOENT);
	ck_assert_ptr_nonnull(strstr(message, "triad-agent isn't running here: "));
	ck_assert_ptr_nonnull(strstr(message, "/agent-*.sock: no socket; start"));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("find");

	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_add_test(cases, test_find_one_socket_taken);
	tcase_add_test(cases, test_find_several_listed);
	tcase_add_test(cases, test_find_none_reports_what_to_do);
	tcase_add_test(cases, test_find_no_folder_is_none);
	tcase_add_test(cases, test_find_unreadable_folder_reports_why);
	tcase_add_test(cases, test_find_agent_apart_from_opensm);
	tcase_add_test(cases, test_find_no_agent_reports_what_to_do);
	return run_cases(cases);
}
