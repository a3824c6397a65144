/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/bundle_gather.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/file.h"
#include "triad/json.h"

#define MANIFEST_MAX (UINT64_C(64) << 20)
#define FORM 1 /* of the manifest */

/* --- the manifest --- */

static bool write_manifest(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)type;
	return triad_bundle_spool_add(context, data, size);
}

static void put_view(
	struct triad_json *json, const char *name, const struct triad_bundle_view *view)
{
	triad_json_object_begin(json, name);
	if (view->is_known) {
		triad_json_uint(json, "sm_sweeps", view->sm_sweeps);
		triad_json_uint(json, "snapshots", view->snapshots);
		triad_json_uint(json, "counter_sweeps", view->sweeps);
	}
	triad_json_object_end(json);
}

static void put_entry(struct triad_json *json, const struct triad_bundle_entry *entry)
{
	triad_json_object_begin(json, NULL);
	triad_json_string(json, "name", entry->name);
	triad_json_uint(json, "octets", entry->size);
	triad_json_string(json, "state", triad_bundle_state_name(entry->state));
	if (entry->status >= 0)
		triad_json_uint(json, "exit_status", (unsigned)entry->status);
	else
		triad_json_string(json, "exit_status", NULL);
	triad_json_string(json, "note", entry->why && *entry->why ? entry->why : NULL);
	triad_json_object_end(json);
}

static void put_manifest(
	const struct triad_bundle *bundle, guint n, struct triad_output *output)
{
	char at[TRIAD_CLOCK_TEXT_SIZE];
	struct triad_json json;

	triad_json_init(&json, output);
	triad_json_object_begin(&json, NULL);
	triad_json_uint(&json, "form", FORM);
	triad_json_string(&json, "triadctl", PACKAGE_VERSION);
	triad_json_string(
		&json, "made", triad_clock_format_s(triad_clock_wall_us(), at));
	triad_json_string(
		&json, "since", triad_clock_format_s(bundle->command->since_us, at));
	triad_json_bool(&json, "anonymous", bundle->command->anonymous);
	put_view(&json, "begun", &bundle->begun);
	put_view(&json, "ended", &bundle->ended);
	triad_json_bool(&json, "one_view",
		bundle->begun.is_known && bundle->ended.is_known &&
			bundle->begun.sm_sweeps == bundle->ended.sm_sweeps &&
			bundle->begun.snapshots == bundle->ended.snapshots);
	triad_json_uint(&json, "attempts", bundle->n_attempts);
	triad_json_array_begin(&json, "files");
	for (guint i = 0; i < n; i++)
		put_entry(&json, g_ptr_array_index(bundle->spool.entries, i));
	triad_json_array_end(&json);
	triad_json_object_end(&json);
	triad_json_end(&json);
}

static void add_manifest(struct triad_bundle *bundle)
{
	guint n = bundle->spool.entries->len;
	struct triad_output output;

	(void)triad_bundle_spool_begin(
		&bundle->spool, g_strdup(TRIAD_BUNDLE_MANIFEST), MANIFEST_MAX);
	triad_output_init(&output, write_manifest, &bundle->spool);
	put_manifest(bundle, n, &output);
	triad_output_flush(&output);
}

/* --- the tar --- */

static int write_entry(const struct triad_bundle *bundle,
	const struct triad_bundle_entry *entry, struct archive *archive)
{
	g_autofree char *name = g_strconcat(TRIAD_BUNDLE_FOLDER, entry->name, NULL);
	struct archive_entry *header = archive_entry_new();
	char piece[1 << 16];
	uint64_t at = 0;
	int status;
	size_t n;

	archive_entry_set_pathname(header, name);
	archive_entry_set_size(header, (int64_t)entry->size);
	archive_entry_set_filetype(header, AE_IFREG);
	archive_entry_set_perm(header, 0600);
	archive_entry_set_mtime(
		header, (time_t)(triad_clock_wall_us() / TRIAD_US_PER_S), 0);
	status = archive_write_header(archive, header);
	archive_entry_free(header);
	while (status == ARCHIVE_OK &&
		(n = triad_bundle_spool_read(
			 &bundle->spool, entry, at, piece, sizeof(piece)))) {
		if (archive_write_data(archive, piece, n) < 0)
			status = ARCHIVE_FATAL;
		at += n;
	}
	/* A short member would make the tar unreadable. */
	return status == ARCHIVE_OK && at == entry->size ? 0 : EIO;
}

/* Whether there is a member of it: one that is empty says so. */
static bool has_member(const struct triad_bundle_entry *entry)
{
	return entry->size || entry->state == TRIAD_BUNDLE_WHOLE;
}

/* Returns 0 or an errno. */
static int write_tar(const struct triad_bundle *bundle, int fd)
{
	struct archive *archive = archive_write_new();
	guint n = bundle->spool.entries->len;
	int error = 0;

	if (!archive || archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
		archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
		archive_write_open_fd(archive, fd) != ARCHIVE_OK)
		error = EIO;
	triad_bundle_show_progress(bundle, "writing");
	/* The manifest, which was made last, stands first. */
	for (guint i = 0; i < n && !error; i++) {
		const struct triad_bundle_entry *entry =
			g_ptr_array_index(bundle->spool.entries, i ? i - 1 : n - 1);

		if (has_member(entry))
			error = write_entry(bundle, entry, archive);
	}
	if (!error && archive_write_close(archive) != ARCHIVE_OK)
		error = EIO;
	if (error && archive && archive_errno(archive) > 0)
		error = archive_errno(archive);
	archive_write_free(archive);
	return error;
}

/* --- the command --- */

static void make_anonymous(struct triad_bundle *bundle)
{
	struct triad_anonym *anonym = triad_anonym_new();
	GPtrArray *entries = bundle->spool.entries;

	triad_bundle_show_progress(bundle, "names");
	triad_bundle_read_names(&bundle->spool, anonym);
	for (guint i = 0; i < entries->len; i++) {
		triad_bundle_show_progress(bundle,
			((struct triad_bundle_entry *)g_ptr_array_index(entries, i))
				->name);
		triad_bundle_spool_rewrite(
			&bundle->spool, g_ptr_array_index(entries, i), anonym);
	}
	/* Reasons name files and hosts, and sizes are new. */
	add_manifest(bundle);
	triad_bundle_spool_rewrite(
		&bundle->spool, g_ptr_array_index(entries, entries->len - 1), anonym);
	triad_anonym_free(anonym);
}

static int complain_of_file(const char *path, int error)
{
	fprintf(stderr, "triadctl: bundle: can't write %s: %s\n", path,
		strerror(error));
	return TRIAD_CONTROL_FAILED;
}

/* What is not there, or not all of it. */
static int tell_result(const struct triad_bundle *bundle)
{
	const char *path = bundle->command->file;
	struct stat status = {0};
	unsigned n = 0, n_failed = 0;

	for (guint i = 0; i < bundle->spool.entries->len; i++) {
		const struct triad_bundle_entry *entry =
			g_ptr_array_index(bundle->spool.entries, i);

		n += has_member(entry);
		n_failed += entry->state == TRIAD_BUNDLE_FAILED;
		if (entry->state == TRIAD_BUNDLE_FAILED ||
			entry->state == TRIAD_BUNDLE_CUT)
			fprintf(stderr, "triadctl: bundle: %s: %s: %s\n", entry->name,
				triad_bundle_state_name(entry->state),
				entry->why ? entry->why : "");
	}
	if (bundle->begun.is_known &&
		bundle->begun.snapshots != bundle->ended.snapshots)
		fprintf(stderr,
			"triadctl: bundle: the fabric changed meanwhile, %u times in a row: "
			"its files may not fit together\n",
			bundle->n_attempts);
	(void)stat(path, &status);
	printf("%s: %u files, %" PRIu64 " octets%s\n", path, n,
		(uint64_t)status.st_size, n_failed ? "; something is missing" : "");
	return n_failed ? TRIAD_CONTROL_FAILED : TRIAD_CONTROL_DONE;
}

static int write_bundle(struct triad_bundle *bundle)
{
	const char *path = bundle->command->file;
	int error = bundle->spool.error, fd;

	triad_bundle_show_progress(bundle, NULL);
	if (error)
		return complain_of_file(path, error);
	fd = triad_file_new_open(path, 0, 0600);
	if (fd < 0)
		return complain_of_file(path, -fd);
	error = triad_file_new_end(fd, path, write_tar(bundle, fd));
	triad_bundle_show_progress(bundle, NULL);
	return error ? complain_of_file(path, error) : tell_result(bundle);
}

int triad_bundle_make(const struct triad_bundle_command *command,
	const struct triad_bundle_asker *asker)
{
	struct triad_bundle bundle = {.command = command,
		.asker = asker,
		.has_progress = isatty(STDERR_FILENO)};
	int status = triad_bundle_spool_open(&bundle.spool, command->file);

	if (status)
		return complain_of_file(command->file, status);
	triad_bundle_gather_answers(&bundle);
	triad_bundle_gather_files(&bundle);
	if (command->anonymous)
		make_anonymous(&bundle);
	else
		add_manifest(&bundle);
	status = write_bundle(&bundle);
	triad_bundle_spool_close(&bundle.spool);
	g_free(bundle.triad_conf);
	g_free(bundle.policy);
	g_free(bundle.expected);
	g_free(bundle.alerts);
	g_free(bundle.images);
	return status;
}
