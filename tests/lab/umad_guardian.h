/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the kernel does for a process that was killed: its port's IsSM is cleared and
 * its files are closed, though it could not do anything itself.
 *
 * Model: a child of the process waits at a socket of which the process has the other
 * end.  When that end is closed without a goodbye, the process is gone, and the child
 * says to ibsim what the process would have said.  It holds the process's sockets: as
 * long as it has not spoken, ibsim takes the client for alive and gives its place to
 * nobody else.
 *
 * The child is made past fork(), so that nothing that the program, its libraries or a
 * sanitizer prepared for a fork runs; it makes system calls only.  It has a session of
 * its own, takes no signals, sends none to its parent when it ends, and doesn't carry
 * the mark by which a lab finds the processes that it started.
 *
 * Thread-safety: all functions; a signal handler may call lab_guardian_tell(). */
#ifndef LAB_UMAD_GUARDIAN_H
#define LAB_UMAD_GUARDIAN_H

#include <stdint.h>

#define LAB_GUARDIAN_FDS 2u

enum lab_guarded {
	LAB_GUARDED_CONNECTING, /* ibsim may have been asked for a place */
	LAB_GUARDED_CLIENT,
	LAB_GUARDED_SM,
	LAB_GUARDED_GONE, /* the process said goodbye itself, or has no place */
};

/* What the guardian is told, whenever it changes. */
struct lab_news {
	enum lab_guarded state;
	uint32_t client; /* its number at ibsim, when it has one */
};

/* What is to be done for a process whose last news were these. */
typedef void lab_last_words(void *context, const struct lab_news *news);

/* Makes a guardian that keeps these descriptors and calls 'say' in its process; until
 * it is told more, the process is connecting.  Returns the descriptor to tell it by,
 * which the caller closes; or -1 with errno. */
int lab_guardian_start(
	const int fds[LAB_GUARDIAN_FDS], lab_last_words *say, void *context);

/* Tells the guardian behind the descriptor; does nothing for -1. */
void lab_guardian_tell(int fd, enum lab_guarded state, uint32_t client);

#endif
