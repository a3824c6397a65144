/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "triad/clock.h"

#define LOOK_MS 100
#define LOOK_US 2000
#define KEPT_US TRIAD_US_PER_S

/* One of the child's two pipes, read here. */
struct child_pipe {
	int fd; /* -1: it has ended */
	char *text;
	size_t size, used;
	bool is_cut; /* more came than there is room for */
};

/* --- its start --- */

static int set_actions(posix_spawn_file_actions_t *actions, int output, int errors)
{
	int error = posix_spawn_file_actions_addopen(
		actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!error)
		error = posix_spawn_file_actions_adddup2(
			actions, output, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(
			actions, errors, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
	if (!error)
		error = posix_spawn_file_actions_addclosefrom_np(
			actions, STDERR_FILENO + 1);
#endif
	return error;
}

/* A group of its own, no signal blocked or ignored.  These calls can't fail. */
static void set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, defaulted;

	sigemptyset(&none);
	sigemptyset(&defaulted);
	sigaddset(&defaulted, SIGPIPE);
	(void)posix_spawnattr_setpgroup(attributes, 0);
	(void)posix_spawnattr_setsigmask(attributes, &none);
	(void)posix_spawnattr_setsigdefault(attributes, &defaulted);
	(void)posix_spawnattr_setflags(attributes,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int child_start(
	const struct triad_child *child, int output, int errors, pid_t *pid)
{
	char *const *words = (char *const *)child->words;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error) {
		posix_spawn_file_actions_destroy(&actions);
		return error;
	}
	set_attributes(&attributes);
	error = set_actions(&actions, output, errors);
	if (!error)
		error = child->searches_path ? posix_spawnp(pid, words[0], &actions,
						       &attributes, words, environ)
					     : posix_spawn(pid, words[0], &actions,
						       &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* --- what it prints --- */

static void close_pipe(struct child_pipe *from)
{
	if (from->fd >= 0)
		close(from->fd);
	from->fd = -1;
}

/* Returns how many octets were read. */
static size_t read_pipe(struct child_pipe *from)
{
	char rest[512];
	size_t room = from->size - 1 - from->used;
	ssize_t n = read(from->fd, room ? from->text + from->used : rest,
		room ? room : sizeof(rest));

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		close_pipe(from);
	else if (room)
		from->used += (size_t)n;
	else
		from->is_cut = true;
	return n > 0 ? (size_t)n : 0;
}

/* Why the child is not waited for any longer; 0: it is. */
static int why_over(const struct triad_child *child, uint64_t end_us)
{
	if (child->is_ending && atomic_load(child->is_ending))
		return ECANCELED;
	return triad_clock_now_us() >= end_us ? ETIMEDOUT : 0;
}

/* Leaves its status to waitpid(), so that its number stays taken. */
static bool has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		info.si_pid;
}

/* Reads what is in the pipe now, and no more: processes that the child has left behind may
 * keep it open, and write. */
static void read_rest(struct child_pipe *from)
{
	int n = 0;

	if (from->fd < 0 || ioctl(from->fd, FIONREAD, &n))
		return;
	while (n > 0 && from->fd >= 0)
		n -= (int)read_pipe(from);
}

/* Reads until both pipes or the child have ended. */
static int read_pipes(const struct triad_child *child, pid_t pid,
	struct child_pipe pipes[2], uint64_t end_us)
{
	bool is_over = false;
	int error = 0;

	while (!error && !is_over && (pipes[0].fd >= 0 || pipes[1].fd >= 0)) {
		struct pollfd ready[2] = {{.fd = pipes[0].fd, .events = POLLIN},
			{.fd = pipes[1].fd, .events = POLLIN}};

		if (poll(ready, 2, LOOK_MS) > 0)
			for (unsigned i = 0; i < 2; i++)
				if (ready[i].revents)
					(void)read_pipe(&pipes[i]);
		/* What it has printed is in the pipes when it has ended. */
		is_over = has_ended(pid);
		for (unsigned i = 0; i < 2 && is_over; i++)
			read_rest(&pipes[i]);
		error = pipes[0].is_cut ? E2BIG : why_over(child, end_us);
	}
	return error;
}

/* --- its end --- */

/* False: its status can't be had, as the kernel keeps the process or somebody else has
 * waited for it. */
static bool wait_for_killed(struct triad_child *child, pid_t pid)
{
	uint64_t until_us = triad_clock_now_us() + KEPT_US;
	pid_t ended;

	while (!(ended = waitpid(pid, &child->status, WNOHANG)) &&
		triad_clock_now_us() < until_us)
		usleep(LOOK_US);
	return ended == pid;
}

/* Waits for the child, whose pipes need no reading, until its time is over, and kills its
 * group with 'error' or then.  Returns 'error', or why it was killed.  The group's number
 * stays taken until waitpid() has the child. */
static int child_end(struct triad_child *child, pid_t pid, int error, uint64_t end_us)
{
	while (!error && !has_ended(pid)) {
		error = why_over(child, end_us);
		usleep(LOOK_US);
	}
	kill(-pid, SIGKILL);
	return wait_for_killed(child, pid) || error ? error : ECHILD;
}

/* --- all of it --- */

static int run_with_pipes(struct triad_child *child, int output[2], int errors[2])
{
	uint64_t end_us = triad_clock_now_us() + child->limit_us;
	struct child_pipe pipes[2] = {
		{.fd = output[0], .text = child->output, .size = child->size},
		{.fd = errors[0],
			.text = child->errors,
			.size = sizeof(child->errors)}};
	pid_t pid;
	int error = child_start(child, output[1], errors[1], &pid);

	/* Now only the child can write: its end is the end of the pipes. */
	close(output[1]);
	close(errors[1]);
	if (!error) {
		error = read_pipes(child, pid, pipes, end_us);
		error = child_end(child, pid, error, end_us);
	}
	for (unsigned i = 0; i < 2; i++) {
		pipes[i].text[pipes[i].used] = '\0';
		close_pipe(&pipes[i]);
	}
	return error;
}

int triad_child_run(struct triad_child *child)
{
	int output[2], errors[2], error;

	child->output[0] = child->errors[0] = '\0';
	child->status = 0;
	if (pipe2(output, O_CLOEXEC))
		return errno;
	if (!pipe2(errors, O_CLOEXEC))
		return run_with_pipes(child, output, errors);
	error = errno;
	close(output[0]);
	close(output[1]);
	return error;
}
