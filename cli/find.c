/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

#define SUFFIX ".sock"

static bool is_socket(const char *name)
{
	size_t n = strlen(name), n_suffix = strlen(SUFFIX);

	return n > n_suffix && !strcmp(name + n - n_suffix, SUFFIX);
}

/* Appends the sockets' paths to 'list', a line each; returns how many, the last
 * one's name in 'name'. */
static unsigned list_sockets(DIR *dir, const char *folder, char *name, size_t name_size,
	char *list, size_t list_size)
{
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(dir))) {
		if (!is_socket(entry->d_name))
			continue;
		snprintf(name, name_size, "%s/%s", folder, entry->d_name);
		triad_text_append(list, list_size, "\n  %s", name);
		n++;
	}
	return n;
}

static int explain(int error, const char *folder, char *message, size_t size)
{
	const char *reason = error == ENOENT ? "no socket" : strerror(error);

	snprintf(message, size,
		"OpenSM with the Triad plugin isn't running here: %s/*" SUFFIX
		": %s; " TRIAD_SOCKET_ADVICE,
		folder, reason);
	return error;
}

int triad_socket_find(const char *folder, char *path, size_t path_size, char *message,
	size_t message_size)
{
	DIR *dir = opendir(folder);
	char list[1024] = "";
	unsigned n;

	if (!dir)
		return explain(errno, folder, message, message_size);
	n = list_sockets(dir, folder, path, path_size, list, sizeof(list));
	closedir(dir);
	if (!n)
		return explain(ENOENT, folder, message, message_size);
	if (n == 1)
		return 0;
	snprintf(message, message_size,
		"%u OpenSMs run the Triad plugin here; choose one with --port-guid or "
		"--socket (or TRIAD_SOCKET in the environment):%s",
		n, list);
	return EEXIST;
}
