/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Simulates clusters with the scripts in tests/sim/elections, and checks the errors
 * that are reported for invalid scripts. */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/election_script.h"
#include "tests/unit/mentions.h"
#include "tests/unit/run.h"

static glob_t scripts;

/* Row: E1, E2, E6, E7, E8, E13, X4 */
START_TEST(test_cluster_after_script_does_as_expected)
{
	char error[600];

	printf("# %s\n", scripts.gl_pathv[_i]);
	fflush(stdout);
	ck_assert_msg(
		election_script_run(scripts.gl_pathv[_i], NULL, error, sizeof(error)),
		"%s", error);
}
END_TEST

static const struct {
	const char *text, *error;
} mistakes[] = {
	{"", ":1: nothing happens"},
	{"run 1s\n", ":1: 'run' 'nodes'"},
	{"check\n", ":1: 'check' comes before 'nodes'"},
	{"nodes 3 ring\n# x\n\nrun 5\n", ":4: '5' time"},
	{"nodes 3 star\n", ":1: 'star' ring peers"},
	{"nodes 17 ring\n", ":1: from 1 to 16 nodes"},
	{"nodes 3 ring bare\n", ":1: 'bare' number"},
	{"nodes 1 ring\nnodes 1 ring\n", ":2: nodes already"},
	{"nodes 1 ring\nseeds 5\n", ":2: nodes already"},
	{"seeds 5\nseed 5\n", ":2: seeds already"},
	{"seeds 5\nnodes 1 ring\nexpect permitted A\n", ":3: A permitted (seed 1)"},
	{"nodes 1 ring\nkill B\n", ":2: 'B' is no node"},
	{"nodes 1 ring\nkill A\nkill A\n", ":3: A does not run"},
	{"nodes 1 ring\nstart A\n", ":2: A bare"},
	{"nodes 1 ring\nfly A\n", ":2: 'fly'"},
	{"nodes 1 ring\nkill\n", ":2: 'kill' takes 1 word(s)"},
	{"nodes 1 ring\nexpect luck\n", ":2: 'luck'"},
	{"nodes 1 ring\nwithin 1s expect luck\n", ":2: 'luck'"},
	{"nodes 1 ring\nloss 20\n", ":2: '20' rate"},
	{"nodes 1 ring\ndelay 20 1\n", ":2: lower delay"},
	{"nodes 1 ring\nports A 1\n", ":2: '1' is not as 1/2"},
	{"nodes 1 ring\ncheck-answer A so\n", ":2: 'so' check"},
	{"nodes 1 ring\nconfig A x 1\n", ":2: 'x' number"},
	{"nodes 1 ring\nconfirm A\n", ":2: refused: Invalid argument"},
	{"nodes 1 ring\nexpect refused blacklist A add A\n", ":2: refused"},
	{"nodes 1 ring\nrun 2s\nexpect state A STANDBY\n", ":3: A is MASTER"},
	{"nodes 1 ring\nwithin 1s expect state A STANDBY\n", ":2: A is MASTER"},
	{"nodes 1 ring\nuntil 1s expect state A STANDBY\n", ":2: A is ELECTING"},
	{"nodes 1 ring\nexpect permitted A\n", ":2: A is not permitted"},
	{"nodes 1 ring\nrun 2s\nexpect permitted none\n", ":3: A is permitted"},
	{"nodes 2 ring\nrun 2s\nexpect follows B B\n", ":3: B follows A"},
	{"nodes 2 ring\nrun 2s\nexpect master B\n", ":3: B is STANDBY"},
	{"nodes 2 ring\nrun 2s\nexpect sm-priority B 7\n", ":3: B has 6"},
	{"nodes 2 ring\nrun 2s\nexpect against B off\n",
		":3: against B: not_elected not_master"},
	{"nodes 2 ring\ncalm 5s\n", " changes while calm"},
	{"nodes 2 ring", ":1: line long end"},
};

START_TEST(test_script_with_mistake_error_has_line_and_text)
{
	char folder[TEST_FOLDER_SIZE], path[80], error[600] = "";
	FILE *file;
	bool is_good;

	make_test_folder(folder);
	snprintf(path, sizeof(path), "%s/script", folder);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(mistakes[_i].text, file);
	fclose(file);
	is_good = election_script_run(path, NULL, error, sizeof(error));
	unlink(path);
	rmdir(folder);
	ck_assert(!is_good);
	assert_line_with(error, mistakes[_i].error);
}
END_TEST

START_TEST(test_script_missing_error_reported)
{
	char error[600];

	ck_assert(!election_script_run("/nowhere/x.sim", NULL, error, sizeof(error)));
	ck_assert_str_eq(error, "/nowhere/x.sim: No such file or directory");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("election_scripts");
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%s/tests/sim/elections/*.sim",
		source_folder());
	if (glob(pattern, 0, NULL, &scripts))
		return 1;
	tcase_add_loop_test(cases, test_cluster_after_script_does_as_expected, 0,
		(int)scripts.gl_pathc);
	tcase_add_loop_test(cases, test_script_with_mistake_error_has_line_and_text, 0,
		sizeof(mistakes) / sizeof(*mistakes));
	tcase_add_test(cases, test_script_missing_error_reported);
	return run_cases(cases);
}
