/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Cleans up for a process that was killed, as the kernel does: clears IsSM of its port
 * and ends its connection to ibsim.
 *
 * Model: a child of the process, the guardian, reads from a socket; the process has the
 * other end.  If that end is closed and the process has not sent LAB_GUARDED_GONE, the
 * process was killed, and the guardian sends ibsim the messages that the process could
 * not send.  The guardian holds the process's sockets: until it has disconnected from
 * ibsim, ibsim considers the client alive and gives its slot to no other client.
 *
 * The guardian is created by clone(), not by fork(): handlers that the program, its
 * libraries or a sanitizer registered for fork() don't run.  It makes system calls
 * only.  It has its own session, blocks signals, sends its parent none when it ends,
 * and empties the environment variable by which a lab finds its processes.
 *
 * Thread-safety: all functions; a signal handler may call lab_guardian_notify(). */
#ifndef LAB_UMAD_GUARDIAN_H
#define LAB_UMAD_GUARDIAN_H

#include <stdint.h>

#define LAB_GUARDIAN_FDS 2u

enum lab_guarded {
	LAB_GUARDED_CONNECTING, /* the process may have requested a slot from ibsim */
	LAB_GUARDED_CLIENT,
	LAB_GUARDED_SM,
	LAB_GUARDED_GONE, /* the process disconnected itself, or has no slot */
};

/* Message to the guardian, sent at each change. */
struct lab_guardian_message {
	enum lab_guarded state;
	uint32_t client; /* its number at ibsim, if it has one */
};

/* Cleans up for a process whose last message this was. */
typedef void lab_clean_up(void *context, const struct lab_guardian_message *message);

/* Starts a guardian that keeps these descriptors and calls 'clean_up' in its process.
 * Its state is LAB_GUARDED_CONNECTING until the first message.  Returns the descriptor
 * for lab_guardian_notify(), which the caller closes; or -1 with errno. */
int lab_guardian_start(
	const int fds[LAB_GUARDIAN_FDS], lab_clean_up *clean_up, void *context);

/* Sends a state to the guardian behind the descriptor; does nothing for -1. */
void lab_guardian_notify(int fd, enum lab_guarded state, uint32_t client);

#endif
