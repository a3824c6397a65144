/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/cluster/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triad/file.h"

static bool is_fit(int fd, const char *path, char *reason, size_t size)
{
	char why[TRIAD_FILE_REASON_SIZE];
	struct stat status;

	if (fstat(fd, &status))
		snprintf(why, sizeof(why), "%s", strerror(errno));
	else if (!S_ISREG(status.st_mode))
		snprintf(why, sizeof(why), "it isn't a regular file");
	else if (!triad_file_check_trusted(path, true, why))
		return true;
	snprintf(reason, size, "key %.80s: %s", path, why);
	return false;
}

static bool read_key(int fd, const char *path, uint8_t key[TRIAD_KEY_MAX_SIZE],
	size_t *key_size, char *reason, size_t size)
{
	uint8_t octets[TRIAD_KEY_MAX_SIZE +
		1]; /* one more, to detect a file too large */
	size_t n;
	int error = triad_read_all(fd, octets, sizeof(octets), &n);
	bool is_good = !error && n >= TRIAD_KEY_MIN_SIZE && n <= TRIAD_KEY_MAX_SIZE;

	if (is_good) {
		memcpy(key, octets, n);
		*key_size = n;
	} else if (error) {
		snprintf(reason, size, "key %.80s: %s", path, strerror(error));
	} else {
		snprintf(reason, size,
			"key %.60s has %s octets than allowed (%u to %u): "
			"head -c 32 /dev/urandom > FILE, and copy it to all",
			path, n > TRIAD_KEY_MAX_SIZE ? "more" : "fewer",
			TRIAD_KEY_MIN_SIZE, TRIAD_KEY_MAX_SIZE);
	}
	/* Leave nothing of the key on the stack. */
	explicit_bzero(octets, sizeof(octets));
	return is_good;
}

bool triad_key_file_read(const char *path, uint8_t key[TRIAD_KEY_MAX_SIZE],
	size_t *key_size, char *reason, size_t size)
{
	/* Non-blocking: opening a FIFO would hang. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool ok;

	if (fd < 0) {
		snprintf(reason, size, "key %.80s: %s: put the peers' common key there",
			path, strerror(errno));
		return false;
	}
	ok = is_fit(fd, path, reason, size) &&
		read_key(fd, path, key, key_size, reason, size);
	close(fd);
	return ok;
}
