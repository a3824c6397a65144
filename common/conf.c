/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "common/conf_keys.h"
#include "common/conf_value.h"

void triad_conf_init(struct triad_conf *conf, uint64_t port_guid)
{
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	memset(conf, 0, sizeof(*conf));
	for (i = 0; i < n; i++)
		triad_conf_value_set(conf, &keys[i], keys[i].standard, port_guid,
			reason, sizeof(reason));
}

/* Reads up to 'size' octets; fewer only at the end of the file. */
static int read_whole(int fd, char *text, size_t size, size_t *n_read)
{
	ssize_t n = 1;

	for (*n_read = 0; n && *n_read < size; *n_read += (size_t)n) {
		n = read(fd, text + *n_read, size - *n_read);
		if (n < 0)
			return errno;
	}
	return 0;
}

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
static int read_file(const char *path, char **text, size_t *size)
{
	const size_t room = TRIAD_CONF_FILE_MAX_SIZE + 1; /* one too much shows */
	int error, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return errno;
	error = check_file(fd);
	if (!error) {
		*text = malloc(room);
		error = *text ? read_whole(fd, *text, room, size) : ENOMEM;
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
	triad_conf_init(conf, port_guid);
	error = read_file(path, &text, &size);
	if (error)
		triad_diags_add(diags, 0, 0, "the file can't be read: %s",
			error == EINVAL ? "Not a regular file" : g_strerror(error));
	else
		error = triad_conf_parse(text, size, port_guid, conf, diags);
	free(text);
	return error;
}

int triad_conf_set(struct triad_conf *conf, const char *name, const char *value,
	uint64_t port_guid, struct triad_diags *diags)
{
	const struct triad_conf_key *key = triad_conf_key_find(NULL, name);
	char text[TRIAD_DIAG_TEXT_SIZE];

	if (!key) {
		triad_conf_key_explain(NULL, name, text, sizeof(text));
		triad_diags_add(diags, 0, 0, "%s", text);
		return ENOENT;
	}
	if (!key->at_run_time) {
		triad_diags_add(diags, 0, 0,
			"%s is read only when OpenSM starts: change it in triad.conf, "
			"then restart OpenSM",
			name);
		return EPERM;
	}
	if (!triad_conf_value_set(conf, key, value, port_guid, text, sizeof(text))) {
		triad_diags_add(diags, 0, 0, "%s: %s", name, text);
		return EINVAL;
	}
	return 0;
}

void triad_conf_keep_start_only(struct triad_conf *conf,
	const struct triad_conf *in_force, struct triad_diags *notes)
{
	char wanted[TRIAD_CONF_VALUE_SIZE], present[TRIAD_CONF_VALUE_SIZE];
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++) {
		if (keys[i].at_run_time)
			continue;
		triad_conf_format(conf, &keys[i], wanted, sizeof(wanted));
		triad_conf_format(in_force, &keys[i], present, sizeof(present));
		if (strcmp(wanted, present) != 0)
			triad_diags_add(notes, 0, 0,
				"%s.%s = %s takes effect when OpenSM is restarted; "
				"until then it is %s",
				keys[i].section, keys[i].name, wanted, present);
		triad_conf_value_copy(conf, in_force, &keys[i]);
	}
}
