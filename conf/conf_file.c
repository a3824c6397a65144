/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triad/conf.h"
#include "triad/file.h"

/* Returns 0 if it is a regular file, else an errno. */
static int check_file(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode))
		return EINVAL;
	return 0;
}

/* The caller has set '*text' to NULL and frees it in any case. */
static int read_conf_text(const char *path, char **text, size_t *size)
{
	const size_t room = TRIAD_CONF_FILE_MAX_SIZE + 1; /* to notice larger files */
	int error, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno;
	error = check_file(fd);
	if (!error) {
		*text = malloc(room);
		error = *text ? triad_read_all(fd, *text, room, size) : ENOMEM;
	}
	close(fd);
	return error;
}

int triad_conf_load(const char *path, uint64_t port_guid, struct triad_conf *conf,
	struct triad_diags *diags)
{
	char *text = NULL;
	size_t size = 0;
	int error;

	triad_diags_init(diags, path);
	error = read_conf_text(path, &text, &size);
	if (error)
		triad_diags_add(diags, 0, 0, "the file can't be read: %s",
			error == EINVAL ? "Not a regular file" : strerror(error));
	else
		error = triad_conf_parse(text, size, port_guid, conf, diags);
	free(text);
	return error;
}
