/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_guardian.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/close_range.h"

/* scripts/triadlab/process.py finds a lab's processes by this environment variable. */
#define VARIABLE "TRIAD_LAB_PROCESS"

/* --- the guardian's process --- */

/* Closes all descriptors except these, which it sorts. */
static void close_others(int *kept, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = i; j > 0 && kept[j] < kept[j - 1]; j--) {
			int higher = kept[j - 1];

			kept[j - 1] = kept[j];
			kept[j] = higher;
		}
	if (kept[0])
		triad_close_range(0, (unsigned)kept[0] - 1);
	for (int i = 1; i < n; i++)
		triad_close_range((unsigned)kept[i - 1] + 1, (unsigned)kept[i] - 1);
	triad_close_range((unsigned)kept[n - 1] + 1, INT_MAX);
}

/* Empties the variable in this process's copy of the environment. */
static void empty_variable(void)
{
	char *value = getenv(VARIABLE);

	if (value)
		*value = '\0';
}

/* Reads the process's states until the process has ended or has disconnected itself. */
static void guard(int fd, lab_clean_up *clean_up, void *context)
{
	struct lab_guardian_message next, message = {.state = LAB_GUARDED_CONNECTING};
	long size;

	for (;;) {
		size = syscall(SYS_read, fd, &next, sizeof(next));
		if (size < 0 && errno == EINTR)
			continue;
		if (size != (long)sizeof(next))
			break;
		if (next.state == LAB_GUARDED_GONE)
			return;
		message = next;
	}
	clean_up(context, &message);
}

static void live(
	int fd, const int fds[LAB_GUARDIAN_FDS], lab_clean_up *clean_up, void *context)
{
	int kept[] = {fd, fds[0], fds[1]};

	syscall(SYS_setsid);
	syscall(SYS_prctl, PR_SET_NAME, "lab-guardian", 0, 0, 0);
	/* The guardian must not keep a lab's folder in use. */
	syscall(SYS_chdir, "/");
	empty_variable();
	close_others(kept, (int)(sizeof(kept) / sizeof(*kept)));
	guard(fd, clean_up, context);
	syscall(SYS_exit_group, 0);
}

/* --- the guarded process --- */

int lab_guardian_start(
	const int fds[LAB_GUARDIAN_FDS], lab_clean_up *clean_up, void *context)
{
	sigset_t all, before;
	int ends[2], error;
	long pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	/* The guardian must not run the program's signal handlers. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* Sends no signal when it ends, so that the program's wait() doesn't return
	 * it. */
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	error = errno;
	if (pid == 0)
		live(ends[0], fds, clean_up, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* Calls the kernel: this library replaces close(). */
	syscall(SYS_close, ends[0]);
	if (pid > 0)
		return ends[1];
	syscall(SYS_close, ends[1]);
	errno = error;
	return -1;
}

void lab_guardian_notify(int fd, enum lab_guarded state, uint32_t client)
{
	const struct lab_guardian_message message = {.state = state, .client = client};

	/* Without SIGPIPE, in case the guardian was killed. */
	if (fd >= 0)
		(void)!syscall(SYS_sendto, fd, &message, sizeof(message),
			MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}
