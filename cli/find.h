/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Finds the control socket of an OpenSM or triad-agent.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CLI_FIND_H
#define TRIAD_CLI_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* The prefix of agents' sockets. */
#define TRIAD_SOCKET_OF_AGENT "agent-"

/* Finds the only socket of an OpenSM in 'folder', FOLDER/NAME and 'ending' (".sock"); with
 * 'is_agent' the only one of an agent, FOLDER/agent-NAME and the same.  Returns 0; ENOENT when there is no
 * socket or folder; EEXIST when there are several sockets; another errno when the
 * folder can't be read.  On error 'message' has why, and what to do. */
int triad_socket_find(const char *folder, const char *ending, bool is_agent, char *path,
	size_t path_size, char *message, size_t message_size);

/* Advice after the reason when no process answers; without a newline. */
#define TRIAD_SOCKET_ADVICE                                                            \
	"start opensm with event_plugin_name osmtriad, see its log for ERR 1000"
#define TRIAD_AGENT_ADVICE "start triad-agent, see its log"

#endif
