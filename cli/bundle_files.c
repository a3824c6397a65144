/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Configurations, logs and images of a bundle. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/bundle_gather.h"
#include "cli/secrets.h"
#include "triad/clock.h"

#define MIB (UINT64_C(1) << 20)
#define CONF_MAX (16 * MIB)
#define LOG_MAX (32 * MIB) /* the end of it */
#define IMAGES_MAX (512 * MIB)
#define TRIAD_CONF TRIAD_SYSCONFDIR "/triad.conf"
#define OPENSM_CONF "/etc/opensm/opensm.conf"

/* A file to be read. */
struct source {
	const char *path;
	bool is_log;
	uint64_t since_us; /* of a log: no lines before that; 0: all */
};

/* --- a file --- */

/* A regular file to be read; or NULL, having said why in the entry. */
static FILE *open_source(
	const char *path, struct triad_bundle_entry *entry, struct stat *status)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;
	FILE *file = NULL;

	if (!error && (fstat(fd, status) || !S_ISREG(status->st_mode)))
		error = EINVAL;
	if (!error)
		file = fdopen(fd, "r");
	if (file)
		return file;
	if (fd >= 0)
		close(fd);
	triad_bundle_entry_say(entry,
		error == ENOENT ? TRIAD_BUNDLE_ABSENT : TRIAD_BUNDLE_FAILED,
		g_strdup_printf("%s: %s", path,
			error == EINVAL ? "no regular file" : strerror(error)));
	return NULL;
}

/* When a line of OpenSM's log ("Nov 29 22:15:27 123456 [...") or one with a time as Triad writes
 * it was written; 0: it does not say. */
static uint64_t time_of_line(const char *line)
{
	char text[21];
	struct tm tm = {.tm_isdst = -1};
	time_t now = time(NULL), then;
	struct tm present;
	uint64_t at_us = 0;

	snprintf(text, sizeof(text), "%s", line);
	if (triad_clock_parse(text, &at_us))
		return at_us;
	localtime_r(&now, &present);
	tm.tm_year = present.tm_year;
	if (!strptime(line, "%b %d %H:%M:%S", &tm))
		return 0;
	then = mktime(&tm);
	/* It has no year. */
	if (then > now + 86400) {
		tm.tm_year--;
		tm.tm_isdst = -1;
		then = mktime(&tm);
	}
	return then > 0 ? (uint64_t)then * TRIAD_US_PER_S : 0;
}

static void copy_lines(
	struct triad_bundle *bundle, FILE *file, const struct source *source)
{
	g_autofree char *line = NULL;
	GString *clean = g_string_new(NULL);
	uint64_t rest = source->is_log ? LOG_MAX : CONF_MAX;
	bool is_wanted = true;
	size_t room = 0;
	ssize_t n;

	while (rest && (n = getline(&line, &room, file)) > 0) {
		uint64_t at_us = source->since_us ? time_of_line(line) : 0;

		rest -= (uint64_t)n < rest ? (uint64_t)n : rest;
		if (at_us)
			is_wanted = at_us >= source->since_us;
		if (!is_wanted)
			continue;
		g_string_truncate(clean, 0);
		triad_secrets_remove(line, (size_t)n, !source->is_log, clean);
		if (!triad_bundle_spool_add(&bundle->spool, clean->str, clean->len))
			break;
	}
	g_string_free(clean, TRUE);
}

static struct triad_bundle_entry *add_file(
	struct triad_bundle *bundle, const char *name, const struct source *source)
{
	struct triad_bundle_entry *entry = triad_bundle_spool_begin(
		&bundle->spool, g_strdup(name), source->is_log ? LOG_MAX : CONF_MAX);
	struct stat status;
	FILE *file = open_source(source->path, entry, &status);

	triad_bundle_show_progress(bundle, name);
	if (!file)
		return entry;
	entry->why = g_strdup(source->path);
	if (source->is_log && (uint64_t)status.st_size > LOG_MAX) {
		(void)fseeko(file, status.st_size - (off_t)LOG_MAX, SEEK_SET);
		for (int c = 0; c != '\n' && c != EOF;)
			c = fgetc(file);
		triad_bundle_entry_say(entry, TRIAD_BUNDLE_CUT,
			g_strdup_printf("%s: only its last %" G_GUINT64_FORMAT
					" octets",
				source->path, LOG_MAX));
	}
	copy_lines(bundle, file, source);
	fclose(file);
	return entry;
}

/* --- what opensm.conf names --- */

/* Files of opensm.conf, by their keys. */
static const struct conf_key {
	const char *key, *name, *path; /* NULL: no default */
	enum triad_bundle_form form;
	bool is_log;
} conf_keys[] = {
	{.key = "partition_config_file",
		.name = "conf/partitions.conf",
		.path = "/etc/opensm/partitions.conf"},
	{.key = "qos_policy_file",
		.name = "conf/qos-policy.conf",
		.path = "/etc/opensm/qos-policy.conf"},
	{.key = "node_name_map_name",
		.name = "conf/node-name-map",
		.form = TRIAD_BUNDLE_FORM_NODE_MAP},
	{.key = "root_guid_file", .name = "conf/root-guids"},
	{.key = "cn_guid_file", .name = "conf/cn-guids"},
	{.key = "io_guid_file", .name = "conf/io-guids"},
	{.key = "ids_guid_file", .name = "conf/ids-guids"},
	{.key = "guid_routing_order_file", .name = "conf/guid-routing-order"},
	{.key = "hop_weights_file", .name = "conf/hop-weights"},
	{.key = "port_search_ordering_file", .name = "conf/port-search-ordering"},
	{.key = "torus_config", .name = "conf/torus-2QoS.conf"},
	{.key = "prefix_routes_file", .name = "conf/prefix-routes.conf"},
	{.key = "log_file",
		.name = "logs/opensm.log",
		.path = "/var/log/opensm.log",
		.is_log = true},
};

/* The value of a line "KEY VALUE"; NULL: it has another key. */
static char *value_of(char *line, const char *key)
{
	size_t n = strlen(key);

	if (strncmp(line, key, n) != 0 || !isblank((unsigned char)line[n]))
		return NULL;
	g_strstrip(line + n);
	return line + n;
}

/* The value of each key, the last one where there are several; to be freed. */
static void read_conf(const char *path, char *values[G_N_ELEMENTS(conf_keys)])
{
	FILE *file = fopen(path, "re");
	g_autofree char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) > 0)
		for (size_t i = 0; i < G_N_ELEMENTS(conf_keys); i++) {
			char *value = value_of(line, conf_keys[i].key);

			if (!value)
				continue;
			g_free(values[i]);
			values[i] = g_strdup(value);
			break;
		}
	if (file)
		fclose(file);
}

/* The word behind one of two options on the command line of the process that answers; NULL: it
 * has none. */
static char *read_option(int pid, const char *letter, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", pid);
	g_autofree char *words = NULL;
	gsize size = 0;

	if (pid <= 0 || !g_file_get_contents(path, &words, &size, NULL))
		return NULL;
	for (char *word = words, *next; word < words + size; word = next) {
		size_t n = strlen(name);

		next = word + strlen(word) + 1;
		if (!strncmp(word, name, n) && word[n] == '=')
			return g_strdup(word + n + 1);
		if ((!strcmp(word, letter) || !strcmp(word, name)) &&
			next < words + size)
			return g_strdup(next);
	}
	return NULL;
}

static void add_of_opensm(struct triad_bundle *bundle)
{
	char *path = read_option(bundle->pid, "-F", "--config");
	char *log = read_option(bundle->pid, "-f", "--log_file");
	char *values[G_N_ELEMENTS(conf_keys)] = {0};

	if (!path)
		path = g_strdup(OPENSM_CONF);
	add_file(bundle, "conf/opensm.conf", &(struct source){.path = path})->form =
		TRIAD_BUNDLE_FORM_CONF;
	read_conf(path, values);
	for (size_t i = 0; i < G_N_ELEMENTS(conf_keys); i++) {
		const struct conf_key *key = &conf_keys[i];
		const char *named = key->is_log && log ? log : values[i];
		struct source source = {
			.path = named && *named == '/' ? named : key->path,
			.is_log = key->is_log,
			.since_us = bundle->command->since && key->is_log
				? bundle->command->since_us
				: 0};

		if (source.path)
			add_file(bundle, key->name, &source)->form = key->form;
		g_free(values[i]);
	}
	g_free(path);
	g_free(log);
}

/* --- images --- */

struct image {
	char *name;
	uint64_t at_us;
};

static void free_image(void *image)
{
	g_free(((struct image *)image)->name);
	g_free(image);
}

static gint compare_images(gconstpointer a, gconstpointer b)
{
	const struct image *const *one = a, *const *other = b;

	return ((*one)->at_us < (*other)->at_us) - ((*one)->at_us > (*other)->at_us);
}

/* Images that were written since the time, the newest first. */
static GPtrArray *list_images(DIR *folder, uint64_t since_us)
{
	GPtrArray *images = g_ptr_array_new_with_free_func(free_image);
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		struct stat status;
		struct image *image;

		if (fstatat(dirfd(folder), entry->d_name, &status,
			    AT_SYMLINK_NOFOLLOW) ||
			!S_ISREG(status.st_mode) ||
			(uint64_t)status.st_mtime * TRIAD_US_PER_S < since_us)
			continue;
		image = g_new0(struct image, 1);
		image->name = g_strdup(entry->d_name);
		image->at_us = (uint64_t)status.st_mtime * TRIAD_US_PER_S;
		g_ptr_array_add(images, image);
	}
	g_ptr_array_sort(images, compare_images);
	return images;
}

static void add_image(struct triad_bundle *bundle, const char *name, uint64_t limit)
{
	g_autofree char *path = g_build_filename(bundle->images, name, NULL);
	struct triad_bundle_entry *entry = triad_bundle_spool_begin(
		&bundle->spool, g_strdup_printf("images/%s", name), limit);
	struct stat status;
	FILE *file = open_source(path, entry, &status);
	char piece[8192];
	size_t n;

	triad_bundle_show_progress(bundle, entry->name);
	while (file && (n = fread(piece, 1, sizeof(piece), file)))
		if (!triad_bundle_spool_add(&bundle->spool, piece, n))
			break;
	if (file)
		fclose(file);
}

static void add_images(struct triad_bundle *bundle)
{
	uint64_t begun = bundle->spool.size;
	struct triad_bundle_entry *entry;
	GPtrArray *images;
	DIR *folder;

	if (!bundle->images)
		return;
	folder = bundle->command->anonymous ? NULL : opendir(bundle->images);
	if (!folder) {
		entry = triad_bundle_spool_begin(
			&bundle->spool, g_strdup("images"), IMAGES_MAX);
		triad_bundle_entry_say(entry,
			bundle->command->anonymous || errno == ENOENT
				? TRIAD_BUNDLE_ABSENT
				: TRIAD_BUNDLE_FAILED,
			bundle->command->anonymous
				? g_strdup(
					  "left out: originals in them can't be replaced")
				: g_strdup_printf(
					  "%s: %s", bundle->images, strerror(errno)));
		return;
	}
	images = list_images(folder, bundle->command->since_us);
	for (guint i = 0; i < images->len; i++) {
		const struct image *image = g_ptr_array_index(images, i);
		uint64_t used = bundle->spool.size - begun;

		if (used >= IMAGES_MAX || bundle->spool.error) {
			entry = triad_bundle_spool_begin(
				&bundle->spool, g_strdup("images"), 0);
			triad_bundle_entry_say(entry, TRIAD_BUNDLE_CUT,
				g_strdup_printf("%u older files are left out",
					images->len - i));
			break;
		}
		add_image(bundle, image->name, IMAGES_MAX - used);
	}
	g_ptr_array_free(images, TRUE);
	closedir(folder);
}

/* --- all --- */

void triad_bundle_gather_files(struct triad_bundle *bundle)
{
	const char *triad_conf = bundle->triad_conf ? bundle->triad_conf
		: bundle->asker->is_agent           ? NULL
						    : TRIAD_CONF;
	const struct {
		const char *name, *path;
		bool is_log;
	} files[] = {
		{"conf/triad.conf", triad_conf, false},
		{"conf/triad-qos-policy", bundle->policy, false},
		{"conf/expected.csv", bundle->expected, false},
		{"logs/alerts", bundle->alerts, true},
	};

	if (!bundle->asker->is_agent)
		add_of_opensm(bundle);
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		const struct source source = {.path = files[i].path,
			.is_log = files[i].is_log,
			.since_us = bundle->command->since && files[i].is_log
				? bundle->command->since_us
				: 0};

		if (source.path && *source.path)
			add_file(bundle, files[i].name, &source)->form =
				i ? TRIAD_BUNDLE_FORM_OTHER : TRIAD_BUNDLE_FORM_CONF;
	}
	add_images(bundle);
}
