/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which OpenSM or triad-agent to ask: the control socket's path.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CLI_FIND_H
#define TRIAD_CLI_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* What agents' sockets begin with. */
#define TRIAD_SOCKET_OF_AGENT "agent-"

/* The one socket, FOLDER/NAME.sock, of an OpenSM in 'folder', or with 'is_agent' the
 * one, FOLDER/agent-NAME.sock, of an agent.  Returns 0; ENOENT when there is none or no
 * such folder; EEXIST when there are several; another errno when the folder can't be
 * read.  On error 'message' says so and what to do. */
int triad_socket_find(const char *folder, bool is_agent, char *path, size_t path_size,
	char *message, size_t message_size);

/* Calls 'visit' with each of those sockets of OpenSMs.  Returns how many there are. */
unsigned triad_sockets_visit(const char *folder,
	void (*visit)(void *context, const char *path), void *context);

/* What to do when nobody answers, put after the reason; ends without newline. */
#define TRIAD_SOCKET_ADVICE                                                            \
	"start opensm with event_plugin_name osmtriad, see its log for ERR 1000"
#define TRIAD_AGENT_ADVICE "start triad-agent, see its log"

#endif
