/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include "cli/election_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "triad/clock.h"
#include "triad/control.h"

/* How long a command may take to end. */
#define GRACE_US TRIAD_US_PER_S

#define CANT_RUN 127

struct check {
	const struct triad_election_command *command;
	const struct triad_election_reporter *reporter;
	sigset_t signals; /* that we wait for; all are blocked */
	bool must_end;
	bool is_deaf;     /* the last report did not reach the plugin */
	bool has_printed; /* what follows was printed */
	bool was_yes;
	char reason[64]; /* of the present answer */
};

/* --- waiting ----------------------------------------------------------- */

/* Waits for a signal until 'until_us'.  False: none has come. */
static bool wait_for_signal(struct check *check, uint64_t until_us)
{
	uint64_t now_us = triad_clock_now_us();
	uint64_t left_us = until_us > now_us ? until_us - now_us : 0;
	const struct timespec left = {
		.tv_sec = (time_t)(left_us / TRIAD_US_PER_S),
		.tv_nsec = (long)(left_us % TRIAD_US_PER_S * 1000),
	};
	int number = sigtimedwait(&check->signals, NULL, &left);

	if (number == SIGINT || number == SIGTERM)
		check->must_end = true;
	/* SIGCHLD also ends the wait: the caller checks whether the command has
	 * ended. */
	return number >= 0 || errno == EINTR;
}

/* Whether the command has ended.  Leaves it as a zombie, so that no other process can
 * get its process group's number. */
static bool has_ended(pid_t child)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) ||
		info.si_pid == child;
}

static bool wait_for_end(struct check *check, pid_t child, uint64_t until_us)
{
	while (!has_ended(child))
		if (!wait_for_signal(check, until_us))
			return has_ended(child);
	return true;
}

/* --- the command ------------------------------------------------------- */

static void be_the_command(const struct check *check, pid_t parent)
{
	char *const *words = (char *const *)check->command->words;
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	/* If triadctl is killed, the command must end, too. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(CANT_RUN);
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(words[0], words);
	fprintf(stderr, "triadctl: election check: can't run %s: %s\n", words[0],
		strerror(errno));
	_exit(CANT_RUN);
}

static pid_t start_command(const struct check *check)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (!child)
		be_the_command(check, parent);
	/* Parent and child both call it, because either may run first. */
	if (child > 0)
		setpgid(child, child);
	return child;
}

/* Ends the command and all processes of its group. */
static void end_command(struct check *check, pid_t child)
{
	kill(-child, SIGTERM);
	wait_for_end(check, child, triad_clock_now_us() + GRACE_US);
	kill(-child, SIGKILL);
}

static bool judge_status(struct check *check, int status)
{
	if (WIFSIGNALED(status))
		snprintf(check->reason, sizeof(check->reason), "signal %d",
			WTERMSIG(status));
	else
		snprintf(check->reason, sizeof(check->reason), "exit status %d",
			WEXITSTATUS(status));
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static bool wait_until(struct check *check, pid_t child, uint64_t until_us)
{
	while (!check->must_end && !has_ended(child))
		if (!wait_for_signal(check, until_us))
			break;
	return has_ended(child);
}

/* Runs the command and returns its verdict. */
static bool ask_command(struct check *check)
{
	uint64_t until_us =
		triad_clock_now_us() + check->command->timeout_s * TRIAD_US_PER_S;
	pid_t child = start_command(check);
	bool is_in_time, is_yes;
	int status = 0;

	if (child < 0) {
		snprintf(check->reason, sizeof(check->reason), "%s", strerror(errno));
		return false;
	}
	is_in_time = wait_until(check, child, until_us);
	if (!is_in_time)
		end_command(check, child);
	/* Not before end_command(): until now no other process can have the group's number. */
	waitpid(child, &status, 0);
	is_yes = judge_status(check, status);
	if (!is_in_time)
		snprintf(check->reason, sizeof(check->reason), "no end within %u s",
			check->command->timeout_s);
	return is_in_time && is_yes;
}

/* --- the answer -------------------------------------------------------- */

static void report_verdict(struct check *check, bool is_yes)
{
	const struct triad_election_reporter *reporter = check->reporter;
	bool is_received = reporter->report(reporter->context, is_yes, !check->is_deaf);

	if (is_received && check->is_deaf)
		fprintf(stderr,
			"triadctl: election check: the plugin hears it again\n");
	check->is_deaf = !is_received;
}

int triad_election_check(const struct triad_election_command *command,
	const struct triad_election_reporter *reporter)
{
	struct check check = {.command = command, .reporter = reporter};
	uint64_t next_us = triad_clock_now_us();

	sigemptyset(&check.signals);
	sigaddset(&check.signals, SIGINT);
	sigaddset(&check.signals, SIGTERM);
	sigaddset(&check.signals, SIGCHLD);
	/* Blocked, so that no signal is lost between two waits. */
	sigprocmask(SIG_BLOCK, &check.signals, NULL);
	while (!check.must_end) {
		bool is_yes = ask_command(&check);

		if (check.must_end)
			break;
		/* Print only changes. */
		if (!check.has_printed || check.was_yes != is_yes)
			fprintf(stderr, "triadctl: election check: %s (%s)\n",
				is_yes ? "yes" : "no", check.reason);
		check.has_printed = true;
		check.was_yes = is_yes;
		report_verdict(&check, is_yes);
		next_us += command->every_s * TRIAD_US_PER_S;
		/* A command that took too long delays the next one. */
		if (next_us < triad_clock_now_us())
			next_us = triad_clock_now_us();
		while (!check.must_end && wait_for_signal(&check, next_us))
			;
	}
	return TRIAD_CONTROL_DONE;
}
