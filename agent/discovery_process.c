/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery_reply.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/close_range.h"
#include "triad/file.h"

#define LOOK_MS 100
#define LOOK_US 2000
#define END_US TRIAD_US_PER_S /* time for the child to end after its reply */

/* --- the child, which discovers --- */

int triad_discovery_reply_write(uint64_t port_guid, int fd)
{
	struct triad_topology_octets octets = {0};
	struct triad_discovery made;
	struct pollfd reader = {.fd = fd};
	struct triad_discovery_reply reply;
	bool is_written;
	int error;

	prctl(PR_SET_NAME, TRIAD_DISCOVERY_NAME);
#if !__GLIBC_PREREQ(2, 34)
	/* Close the agent's sockets and files in this process. */
	triad_close_range(STDERR_FILENO + 1, INT_MAX);
#endif
	/* This process must end with the agent.  If the agent has ended before this
	 * call, the pipe has no reader, which poll() shows. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&reader, 1, 0) > 0)
		return 1;
	error = triad_discovery_make(port_guid, &made);
	if (!error)
		error = triad_topology_encode(made.fabric, &octets);
	reply = triad_discovery_reply_make(error, &made, &octets);
	is_written = !triad_write_all(fd, &reply, sizeof(reply)) &&
		!triad_write_all(fd, octets.octets, octets.n_octets);
	triad_topology_octets_free(&octets);
	triad_fabric_unref(made.fabric);
	return is_written ? 0 : 1;
}

/* --- the parent --- */

static int prepare_spawn(posix_spawn_file_actions_t *actions,
	posix_spawnattr_t *attributes, int to, bool is_loud)
{
	sigset_t blocked, defaulted;

	/* Block in the child the signals that end or reload the agent: they reach all
	 * processes of its group, but only the agent may end the child.  These calls
	 * can't fail. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	sigemptyset(&defaulted);
	sigaddset(&defaulted, SIGPIPE);
	(void)posix_spawnattr_setsigmask(attributes, &blocked);
	(void)posix_spawnattr_setsigdefault(attributes, &defaulted);
	(void)posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn_file_actions_adddup2(actions, to, STDOUT_FILENO) ||
		posix_spawn_file_actions_addopen(
			actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
		(!is_loud &&
			posix_spawn_file_actions_addopen(
				actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)))
		return ENOMEM;
#if __GLIBC_PREREQ(2, 34)
	return posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#else
	return 0; /* the child closes them itself */
#endif
}

static int start_child(const struct triad_discovery_asking *asking, int to, pid_t *pid)
{
	char name[] = TRIAD_DISCOVERY_NAME, guid[20];
	char *const words[] = {name, guid, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, asking->port_guid);
	if (posix_spawn_file_actions_init(&actions))
		return ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	error = prepare_spawn(&actions, &attributes, to, asking->is_loud);
	if (!error)
		error = posix_spawn(
			pid, asking->program, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Reads 'size' octets, until is_over() or 'end_us' or the end of the pipe. */
static int read_from_child(const struct triad_discovery_asking *asking, uint64_t end_us,
	int from, void *to, size_t size)
{
	uint8_t *octets = to;

	while (size) {
		struct pollfd ready = {.fd = from, .events = POLLIN};
		ssize_t n;

		if (asking->is_over(asking->context))
			return ECANCELED;
		if (triad_clock_now_us() > end_us)
			return ETIMEDOUT;
		if (poll(&ready, 1, LOOK_MS) <= 0)
			continue;
		n = read(from, octets, size);
		if (!n || (n < 0 && errno != EINTR))
			return ECHILD;
		if (n > 0) {
			octets += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int receive_replies(const struct triad_discovery_asking *asking, int from,
	struct triad_discovery *made)
{
	uint64_t end_us = triad_clock_now_us() + asking->limit_us;
	struct triad_discovery_reply reply;
	struct triad_topology_octets octets;
	int error = read_from_child(asking, end_us, from, &reply, sizeof(reply));

	/* First the head, which has the size of the fabric. */
	if (!error)
		error = triad_discovery_reply_read(&reply, made, &octets);
	if (error)
		return error;
	octets.octets = malloc(octets.n_octets + (size_t)1);
	if (!octets.octets)
		return ENOMEM;
	error = read_from_child(asking, end_us, from, octets.octets, octets.n_octets);
	if (!error)
		error = triad_topology_decode(&octets, &made->fabric);
	triad_topology_octets_free(&octets);
	return error;
}

/* Waits until the child is gone, and kills it if it does not end by itself after its
 * reply.  Returns its status as of waitpid(). */
static int end_child(
	const struct triad_discovery_asking *asking, pid_t pid, bool is_ending)
{
	uint64_t kill_us = triad_clock_now_us() + (is_ending ? END_US : 0);
	bool is_logged = false;
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		bool is_over = asking->is_over(asking->context);
		uint64_t now_us = triad_clock_now_us();

		if (is_over || now_us >= kill_us)
			kill(pid, SIGKILL);
		/* The agent's end must not wait for a process that the kernel keeps. */
		if (is_over && now_us >= kill_us + END_US)
			break;
		if (!is_logged && now_us >= kill_us + asking->kept_us) {
			asking->is_kept(asking->context, pid);
			is_logged = true;
		}
		usleep(is_logged ? LOOK_MS * TRIAD_US_PER_MS : LOOK_US);
	}
	return status;
}

/* Writes why the discovery failed. */
static void explain_failure(
	int error, int status, uint64_t limit_us, char *why, size_t size)
{
	if (error == EIO)
		snprintf(why, size, "no answers to SMPs");
	else if (error == EPROTO)
		snprintf(why, size,
			"process " TRIAD_DISCOVERY_NAME " says what makes no sense");
	else if (error == ETIMEDOUT)
		snprintf(why, size, "it took over %u s",
			(unsigned)(limit_us / TRIAD_US_PER_S));
	else if (error == ECHILD && WIFSIGNALED(status))
		snprintf(why, size,
			"process " TRIAD_DISCOVERY_NAME " was ended by signal %d",
			WTERMSIG(status));
	else if (error == ECHILD)
		snprintf(why, size,
			"process " TRIAD_DISCOVERY_NAME " ended with status %d",
			WEXITSTATUS(status));
	else
		snprintf(why, size, "%s", strerror(error));
}

int triad_discovery_ask(
	const struct triad_discovery_asking *asking, struct triad_discovery *made)
{
	int ends[2], error, status;
	pid_t pid;

	*made = (struct triad_discovery){0};
	error = pipe2(ends, O_CLOEXEC) ? errno : 0;
	if (!error) {
		error = start_child(asking, ends[1], &pid);
		/* Now only the child can write: its end is the end of the pipe. */
		close(ends[1]);
	}
	if (error) {
		snprintf(made->why, sizeof(made->why),
			"process " TRIAD_DISCOVERY_NAME " can't be started: %s",
			strerror(error));
		return ECHILD;
	}
	error = receive_replies(asking, ends[0], made);
	status = end_child(asking, pid, error != ECANCELED && error != ETIMEDOUT);
	close(ends[0]);
	if (error)
		explain_failure(
			error, status, asking->limit_us, made->why, sizeof(made->why));
	return error;
}
