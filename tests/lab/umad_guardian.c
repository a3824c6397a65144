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

/* What scripts/triadlab/process.py looks for in the environment of processes. */
#define MARK "TRIAD_LAB_PROCESS"

/* --- the guardian's process --- */

/* Closes all descriptors but these, which get sorted. */
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

/* Cuts the value of the mark in this process's copy of the environment. */
static void remove_mark(void)
{
	char *mark = getenv(MARK);

	if (mark)
		*mark = '\0';
}

/* Reads what there is to know until the process is gone, or has said goodbye. */
static void guard(int fd, lab_last_words *say, void *context)
{
	struct lab_news next, news = {.state = LAB_GUARDED_CONNECTING};
	long size;

	for (;;) {
		size = syscall(SYS_read, fd, &next, sizeof(next));
		if (size < 0 && errno == EINTR)
			continue;
		if (size != (long)sizeof(next))
			break;
		if (next.state == LAB_GUARDED_GONE)
			return;
		news = next;
	}
	say(context, &news);
}

static void live(
	int fd, const int fds[LAB_GUARDIAN_FDS], lab_last_words *say, void *context)
{
	int kept[] = {fd, fds[0], fds[1]};

	syscall(SYS_setsid);
	syscall(SYS_prctl, PR_SET_NAME, "lab-guardian", 0, 0, 0);
	/* The lab's folders come and go. */
	syscall(SYS_chdir, "/");
	remove_mark();
	close_others(kept, (int)(sizeof(kept) / sizeof(*kept)));
	guard(fd, say, context);
	syscall(SYS_exit_group, 0);
}

/* --- the process that is guarded --- */

int lab_guardian_start(
	const int fds[LAB_GUARDIAN_FDS], lab_last_words *say, void *context)
{
	sigset_t all, before;
	int ends[2], error;
	long pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	/* The program's handlers are not for the guardian. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	/* Without a signal at its end, so that the program's wait() doesn't see it. */
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	error = errno;
	if (pid == 0)
		live(ends[0], fds, say, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	/* close() would be our own. */
	syscall(SYS_close, ends[0]);
	if (pid > 0)
		return ends[1];
	syscall(SYS_close, ends[1]);
	errno = error;
	return -1;
}

void lab_guardian_tell(int fd, enum lab_guarded state, uint32_t client)
{
	const struct lab_news news = {.state = state, .client = client};

	/* Without SIGPIPE, should somebody have killed the guardian. */
	if (fd >= 0)
		(void)!syscall(SYS_sendto, fd, &news, sizeof(news),
			MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}
