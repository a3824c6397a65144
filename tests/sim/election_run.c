/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs scripts for simulated elections (election_script.h) and prints what happens. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/election_script.h"

int main(int argc, char **argv)
{
	char error[600];
	int status = 0;

	if (argc < 2 || argv[1][0] == '-') {
		puts("Usage: election_run FILE...\n"
		     "\n"
		     "Runs scripts for simulated elections, as those in tests/sim/elections,\n"
		     "and prints what happens, with times.\n"
		     "\n"
		     "Exit status: 0 all as expected, 1 not, 2 usage.");
		return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
	}
	for (int i = 1; i < argc; i++) {
		printf("%s\n", argv[i]);
		if (election_script_run(argv[i], stdout, error, sizeof(error)))
			continue;
		printf("%s\n", error);
		status = 1;
	}
	return status;
}
