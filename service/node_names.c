/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/node_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ib/node_map.h"
#include "triad/file.h"

/* Reads a regular file of at most TRIAD_NODE_MAP_MAX_OCTETS into memory from malloc(). */
static int read_map_file(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error = 0;
	struct stat stat;

	if (fd < 0)
		return errno;
	if (fstat(fd, &stat))
		error = errno;
	else if (!S_ISREG(stat.st_mode))
		error = EINVAL;
	else if ((uint64_t)stat.st_size > TRIAD_NODE_MAP_MAX_OCTETS)
		error = EFBIG;
	else
		*text = malloc((size_t)stat.st_size + 1);
	if (!error && !*text)
		error = ENOMEM;
	if (!error)
		error = triad_read_all(fd, *text, (size_t)stat.st_size, size);
	close(fd);
	return error;
}

static void report_map(struct triad_node_names *names, const char *path, int error,
	const struct triad_node_map_result *result, struct triad_log *log)
{
	if (error && error != names->error)
		triad_log_write(log, TRIAD_LOG_WARNING,
			"node names: %s can't be read: %s; nodes keep their own "
			"descriptions, which may differ from the SM's names",
			path, strerror(error));
	if (!error && result->wrong_line && result->wrong_line != names->wrong_line)
		triad_log_write(log, TRIAD_LOG_WARNING,
			"node names: %s, line %u: not a GUID and a name, as in 0x1234 "
			"\"leaf-01\"; such lines are left out here, and OpenSM refuses "
			"the file",
			path, result->wrong_line);
	names->error = error;
	names->wrong_line = result->wrong_line;
}

void triad_node_names_apply(struct triad_node_names *names, const char *path,
	struct triad_fabric *fabric, struct triad_log *log)
{
	struct triad_node_map_result result = {0};
	char *text = NULL;
	size_t size = 0;
	int error;

	if (!path[0])
		return;
	error = read_map_file(path, &text, &size);
	if (!error)
		error = triad_node_map_apply(fabric, text, size, &result);
	free(text);
	report_map(names, path, error, &result, log);
}
