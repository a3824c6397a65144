/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/find.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lib/text.h"

static bool is_socket(const char *name, const char *ending, bool is_agent)
{
	size_t n = strlen(name), n_ending = strlen(ending);
	/* Agents and OpenSM have their sockets in the same folder. */
	bool of_agent =
		!strncmp(name, TRIAD_SOCKET_OF_AGENT, strlen(TRIAD_SOCKET_OF_AGENT));

	return n > n_ending && !strcmp(name + n - n_ending, ending) &&
		of_agent == is_agent;
}

/* Appends the sockets' paths to 'list', a line each; returns how many; 'name' gets the
 * last one's name. */
static unsigned list_sockets(DIR *dir, const char *folder, const char *ending,
	bool is_agent, char *name, size_t name_size, char *list, size_t list_size)
{
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir))) {
		if (!is_socket(entry->d_name, ending, is_agent))
			continue;
		snprintf(name, name_size, "%s/%s", folder, entry->d_name);
		triad_text_append(list, list_size, "\n  %s", name);
		n++;
	}
	return n;
}

static int explain(int error, const char *folder, const char *ending, bool is_agent,
	char *message, size_t size)
{
	const char *reason = error == ENOENT ? "no socket" : strerror(error);

	snprintf(message, size, "%s isn't running here: %s/%s*%s: %s; %s",
		is_agent ? "triad-agent" : "OpenSM with the Triad plugin", folder,
		is_agent ? TRIAD_SOCKET_OF_AGENT : "", ending, reason,
		is_agent ? TRIAD_AGENT_ADVICE : TRIAD_SOCKET_ADVICE);
	return error;
}

int triad_socket_find(const char *folder, const char *ending, bool is_agent, char *path,
	size_t path_size, char *message, size_t message_size)
{
	DIR *dir = opendir(folder);
	char list[1024] = "";
	unsigned n;

	if (!dir)
		return explain(errno, folder, ending, is_agent, message, message_size);
	n = list_sockets(
		dir, folder, ending, is_agent, path, path_size, list, sizeof(list));
	closedir(dir);
	if (!n)
		return explain(ENOENT, folder, ending, is_agent, message, message_size);
	if (n == 1)
		return 0;
	snprintf(message, message_size,
		"%u %s here; choose one with --port-guid or --socket (or TRIAD_SOCKET "
		"in the environment):%s",
		n, is_agent ? "agents run" : "OpenSMs run the Triad plugin", list);
	return EEXIST;
}
