/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The process that discovers for an agent.  The tests run this program itself, which
 * finds made-up fabrics, and other programs that misbehave. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/discovery.h"
#include "tests/sim/fat_tree.h"
#include "tests/unit/mentions.h"

#define FABRIC_GUID 0x11
#define NO_PORT_GUID 0x12
#define CRASH_GUID 0x13
#define SELF "/proc/self/exe"

static char folder[TEST_FOLDER_SIZE], program[80]; /* a program that the test wrote */
static unsigned n_looks, n_looks_to_go;
/* kill() has no effect until note_kept() was called, and a few times more. */
static bool is_kept;
static unsigned n_kept, n_more;
static int kept_pid;

/* --- substitute for libibnetdisc --- */

int triad_discovery_make(uint64_t port_guid, struct triad_discovery *made)
{
	*made = (struct triad_discovery){0};
	if (port_guid == CRASH_GUID)
		raise(SIGKILL);
	if (port_guid != FABRIC_GUID)
		return ENODEV;
	made->fabric = fat_tree(8);
	made->n_smps = 1234;
	made->n_silent = 5;
	return made->fabric ? 0 : ENOMEM;
}

/* --- substitute for the kernel's kill() --- */

int kill(pid_t pid, int signal)
{
	bool is_there = is_kept && (!n_kept || ++n_more < 4);

	return is_there ? 0 : (int)syscall(SYS_kill, pid, signal);
}

/* --- */

static bool never(void *context)
{
	return false;
}

static bool is_over(void *context)
{
	return ++n_looks > n_looks_to_go;
}

static void note_kept(void *context, int pid)
{
	n_kept++;
	kept_pid = pid;
}

static int ask(const char *of, uint64_t guid, struct triad_discovery *made)
{
	const struct triad_discovery_asking asking = {.program = of,
		.port_guid = guid,
		.limit_us = 30 * TRIAD_US_PER_S,
		.is_over = never,
		.kept_us = UINT64_MAX / 2};

	return triad_discovery_ask(&asking, made);
}

static void write_program(const char *text)
{
	int fd;

	make_test_folder(folder);
	snprintf(program, sizeof(program), "%s/program", folder);
	fd = open(program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	ck_assert_int_eq(close(fd), 0);
}

static void tear_down(void)
{
	if (program[0]) {
		unlink(program);
		rmdir(folder);
	}
	/* No process is left behind. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

START_TEST(test_what_it_finds_comes_out_as_it_is)
{
	struct triad_fabric *fabric = fat_tree(8);
	struct triad_discovery made;

	ck_assert_int_eq(ask(SELF, FABRIC_GUID, &made), 0);
	ck_assert_uint_eq(made.n_smps, 1234);
	ck_assert_uint_eq(made.n_silent, 5);
	ck_assert_uint_eq(made.fabric->n_nodes, fabric->n_nodes);
	ck_assert_uint_eq(made.fabric->n_ports, fabric->n_ports);
	ck_assert_uint_eq(made.fabric->sm_port, fabric->sm_port);
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		ck_assert_str_eq(made.fabric->nodes[i].name, fabric->nodes[i].name);
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		const struct triad_fabric_port *port = &made.fabric->ports[i];

		ck_assert_uint_eq(port->guid, fabric->ports[i].guid);
		ck_assert_uint_eq(port->lid, fabric->ports[i].lid);
		ck_assert_uint_eq(port->remote, fabric->ports[i].remote);
		ck_assert_uint_eq(port->has_pma, fabric->ports[i].has_pma);
	}
	triad_fabric_unref(made.fabric);
	triad_fabric_unref(fabric);
}
END_TEST

START_TEST(test_why_it_failed_comes_out)
{
	struct triad_discovery made;

	ck_assert_int_eq(ask(SELF, NO_PORT_GUID, &made), ENODEV);
	ck_assert_ptr_null(made.fabric);
}
END_TEST

START_TEST(test_crash_is_reported)
{
	struct triad_discovery made;

	ck_assert_int_eq(ask(SELF, CRASH_GUID, &made), ECHILD);
	assert_mentions(made.why, "triad-discover signal 9");
}
END_TEST

START_TEST(test_end_without_a_word_is_reported)
{
	struct triad_discovery made;

	write_program("#!/bin/sh\nprintf SID\nexit 3\n");
	ck_assert_int_eq(ask(program, FABRIC_GUID, &made), ECHILD);
	assert_mentions(made.why, "triad-discover status 3");
}
END_TEST

START_TEST(test_nonsense_is_refused)
{
	static const char *const programs[] = {
		"exec tr '\\0' x </dev/zero",
		/* A reply whose fabric is larger than the limit, */
		"printf 'SIDT\\0\\0\\0\\0'; head -c 20 /dev/zero;"
		"printf '\\1\\0\\0\\0\\377\\377\\377\\377'; exec cat /dev/zero",
		/* and one whose fabric is invalid. */
		"printf 'SIDT\\0\\0\\0\\0'; head -c 20 /dev/zero;"
		"printf '\\1\\0\\0\\0\\3\\0\\0\\0\\0\\0\\0\\0abc'",
	};
	struct triad_discovery made;
	char text[256];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", programs[_i]);
	write_program(text);
	ck_assert_int_eq(ask(program, FABRIC_GUID, &made), EPROTO);
	assert_mentions(made.why, "triad-discover");
}
END_TEST

START_TEST(test_program_that_is_not_there_is_reported)
{
	struct triad_discovery made;

	ck_assert_int_eq(ask("/nowhere/at/all", FABRIC_GUID, &made), ECHILD);
	assert_mentions(made.why, "triad-discover No such file");
}
END_TEST

/* Signals to the agent's process group also reach the discovery process, but only the
 * agent may react. */
START_TEST(test_signals_of_the_agent_do_not_end_it)
{
	struct triad_discovery made;

	write_program("#!/bin/sh\nkill -s TERM $$; kill -s INT $$; kill -s HUP $$\n"
		      "exec cat /dev/zero\n");
	ck_assert_int_eq(ask(program, FABRIC_GUID, &made), EPROTO);
}
END_TEST

/* The process gets only its name and the port; it has no standard input, and no open
 * file of the agent. */
START_TEST(test_it_has_nothing_of_the_agents)
{
	static const char check[] = "#!/bin/sh\n"
				    "[ \"$*\" = 0x0000000000000011 ] &&\n"
				    "[ \"$(readlink /proc/$$/fd/0)\" = /dev/null ] &&\n"
				    "[ ! -e /proc/$$/fd/77 ] && exec cat /dev/zero\n";
	struct triad_discovery made;

	ck_assert_ptr_nonnull(freopen("/dev/zero", "r", stdin));
	ck_assert_int_eq(dup2(STDOUT_FILENO, 77), 77);
	write_program(check);
	/* If a check failed, the program would end without any output. */
	ck_assert_int_eq(ask(program, FABRIC_GUID, &made), EPROTO);
	close(77);
}
END_TEST

START_TEST(test_it_takes_too_long_and_is_killed)
{
	const struct triad_discovery_asking asking = {.program = program,
		.limit_us = TRIAD_US_PER_S / 5,
		.is_over = never,
		.kept_us = UINT64_MAX / 2};
	struct triad_discovery made;

	write_program("#!/bin/sh\nexec sleep 1000\n");
	ck_assert_int_eq(triad_discovery_ask(&asking, &made), ETIMEDOUT);
	ck_assert_str_eq(made.why, "it took over 0 s");
}
END_TEST

START_TEST(test_it_is_killed_and_does_not_end_which_is_reported_once)
{
	const struct triad_discovery_asking asking = {.program = program,
		.limit_us = TRIAD_US_PER_S / 5,
		.is_over = never,
		.kept_us = TRIAD_US_PER_S / 5,
		.is_kept = note_kept};
	struct triad_discovery made;

	is_kept = true;
	write_program("#!/bin/sh\nexec sleep 1000\n");
	ck_assert_int_eq(triad_discovery_ask(&asking, &made), ETIMEDOUT);
	ck_assert_uint_eq(n_kept, 1);
	ck_assert_int_eq(kill(kept_pid, 0), -1); /* the process is gone */
	ck_assert_int_eq(errno, ESRCH);
}
END_TEST

START_TEST(test_it_is_over_and_is_killed)
{
	const struct triad_discovery_asking asking = {.program = program,
		.limit_us = 1000 * TRIAD_US_PER_S,
		.is_over = is_over,
		.kept_us = UINT64_MAX / 2};
	struct triad_discovery made;

	n_looks_to_go = 2;
	write_program("#!/bin/sh\nexec sleep 1000\n");
	ck_assert_int_eq(triad_discovery_ask(&asking, &made), ECANCELED);
	ck_assert_uint_ge(n_looks, 3);
}
END_TEST

int main(int argc, char **argv)
{
	TCase *cases = tcase_create("discovery_process");

	if (argc == 2 && !strcmp(argv[0], TRIAD_DISCOVERY_NAME))
		return triad_discovery_reply_write(
			strtoull(argv[1], NULL, 16), STDOUT_FILENO);
	if (is_skipped_under_emulation("/proc/self/exe to be run"))
		return 0;
	tcase_add_checked_fixture(cases, NULL, tear_down);
	tcase_add_test(cases, test_what_it_finds_comes_out_as_it_is);
	tcase_add_test(cases, test_why_it_failed_comes_out);
	tcase_add_test(cases, test_crash_is_reported);
	tcase_add_test(cases, test_end_without_a_word_is_reported);
	tcase_add_loop_test(cases, test_nonsense_is_refused, 0, 3);
	tcase_add_test(cases, test_signals_of_the_agent_do_not_end_it);
	tcase_add_test(cases, test_program_that_is_not_there_is_reported);
	/* With an older C library only triad_discovery_reply_write() closes files. */
	if (__GLIBC_PREREQ(2, 34))
		tcase_add_test(cases, test_it_has_nothing_of_the_agents);
	tcase_add_test(cases, test_it_takes_too_long_and_is_killed);
	tcase_add_test(
		cases, test_it_is_killed_and_does_not_end_which_is_reported_once);
	tcase_add_test(cases, test_it_is_over_and_is_killed);
	return run_cases(cases);
}
