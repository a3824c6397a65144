/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/profile_old.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/search.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/folder.h"

#define MAX_OLD 65536u
#define TIME_LENGTH 16 /* 20260102T030405Z */

#define NAME_SIZE (TRIAD_CONF_PATH_SIZE + TIME_LENGTH + 2)

/* A path, taken apart: FOLDER / STEM [-TIME] SUFFIX. */
struct name {
	int folder; /* a descriptor (triad/folder.h) */
	char stem[TRIAD_CONF_PATH_SIZE];
	const char *base, *suffix; /* in the path that was given */
};

/* Returns 0 or an errno; then there is nothing to close. */
static int split_path(const char *path, struct name *name)
{
	static const char usual[] = ".csv.zst";
	const char *base, *dot;
	size_t n, n_usual = sizeof(usual) - 1;

	name->folder = triad_folder_open(path, &base);
	if (name->folder < 0)
		return -name->folder;
	n = strlen(base);
	dot = strrchr(base, '.');
	if (!n || strlen(path) >= TRIAD_CONF_PATH_SIZE) {
		close(name->folder);
		return ENAMETOOLONG;
	}
	if (n > n_usual && !strcmp(base + n - n_usual, usual))
		dot = base + n - n_usual;
	name->base = base;
	name->suffix = dot && dot != base ? dot : base + n;
	snprintf(name->stem, sizeof(name->stem), "%.*s", (int)(name->suffix - base),
		base);
	return 0;
}

/* --- the times in names, as seconds since 1970 --- */

static void format_time(time_t time_s, char text[TIME_LENGTH + 1])
{
	struct tm tm;

	gmtime_r(&time_s, &tm);
	if (!strftime(text, TIME_LENGTH + 1, "%Y%m%dT%H%M%SZ", &tm))
		text[0] = '\0';
}

/* 0: it is no time, or not as format_time() writes it. */
static uint64_t read_time(const char *text)
{
	struct tm tm = {0};
	char again[TIME_LENGTH + 1];
	time_t time_s;

	if (sscanf(text, "%4d%2d%2dT%2d%2d%2dZ", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		    &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	time_s = timegm(&tm);
	/* The last second of the year 9999. */
	if (time_s < 0 || time_s > INT64_C(253402300799))
		return 0;
	/* Format it again: sscanf() takes blanks and signs, and the calendar a 30th of
	 * February. */
	format_time(time_s, again);
	return strncmp(text, again, TIME_LENGTH) ? 0 : (uint64_t)time_s;
}

/* The time in the name of a file that was put aside; 0: it is another file. */
static uint64_t time_of(const struct name *name, const char *entry)
{
	size_t n = strlen(name->stem);

	if (strncmp(entry, name->stem, n) || entry[n] != '-' ||
		strlen(entry) != n + 1 + TIME_LENGTH + strlen(name->suffix) ||
		strcmp(entry + n + 1 + TIME_LENGTH, name->suffix))
		return 0;
	return read_time(entry + n + 1);
}

static void make_name(const struct name *name, uint64_t time_s, char to[NAME_SIZE])
{
	char text[TIME_LENGTH + 1];

	format_time(time_s, text);
	snprintf(to, NAME_SIZE, "%s-%s%s", name->stem, text, name->suffix);
}

/* --- what is there --- */

struct old {
	uint64_t *times_s;
	size_t n;
};

/* Sorted, the oldest first. */
static int find_old(const struct name *name, struct old *old)
{
	int fd = openat(name->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	old->n = 0;
	old->times_s = folder ? malloc(MAX_OLD * sizeof(*old->times_s)) : NULL;
	if (!old->times_s) {
		int error = folder ? ENOMEM : errno;

		if (folder)
			closedir(folder);
		else if (fd >= 0)
			close(fd);
		return error;
	}
	while (old->n < MAX_OLD && (entry = readdir(folder))) {
		uint64_t time_s = time_of(name, entry->d_name);

		if (time_s)
			old->times_s[old->n++] = time_s;
	}
	closedir(folder);
	qsort(old->times_s, old->n, sizeof(*old->times_s), triad_order_u64);
	return 0;
}

static int put_aside(const struct name *name, uint64_t time_s, char aside[NAME_SIZE])
{
	struct old old;
	int error = find_old(name, &old);

	if (error)
		return error;
	/* A wall clock that went back must not change the order of the files. */
	if (old.n && time_s <= old.times_s[old.n - 1])
		time_s = old.times_s[old.n - 1] + 1;
	free(old.times_s);
	make_name(name, time_s, aside);
	return renameat(name->folder, name->base, name->folder, aside) ? errno : 0;
}

int triad_profile_put_aside(const char *path, uint64_t now_us, char *to, size_t size)
{
	char aside[NAME_SIZE];
	struct name name;
	int error = split_path(path, &name);

	if (error)
		return error;
	error = put_aside(&name, now_us / TRIAD_US_PER_S, aside);
	close(name.folder);
	if (!error)
		snprintf(to, size, "%.*s%s", (int)(name.base - path), path, aside);
	return error;
}

static int remove_old(const struct name *name, unsigned keep)
{
	char at[NAME_SIZE];
	struct old old;
	int error = find_old(name, &old);

	if (error)
		return error;
	for (size_t i = 0; i + keep < old.n; i++) {
		make_name(name, old.times_s[i], at);
		/* Go on after an error; report the first one. */
		if (unlinkat(name->folder, at, 0) && errno != ENOENT && !error)
			error = errno;
	}
	free(old.times_s);
	return error;
}

int triad_profile_remove_old(const char *path, unsigned keep)
{
	struct name name;
	int error = split_path(path, &name);

	if (error)
		return error;
	error = remove_old(&name, keep);
	close(name.folder);
	return error;
}
