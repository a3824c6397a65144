/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/bundle_gather.h"
#include "lib/text.h"
#include "triad/control.h"

#define MAX_TOLD 20

/* A file that the manifest says is there. */
struct listed {
	char *state, *why;
	uint64_t octets;
	bool is_there;
};

struct checking {
	const struct triad_bundle_command *command;
	struct triad_anonym *anonym; /* NULL: nothing is looked for */
	GHashTable *listed;          /* by name */
	bool is_anonymous, has_manifest;
	/* Of the manifest's row that is being read. */
	char *name;
	struct listed row;
	/* Of the member that is being read. */
	const char *member;
	unsigned n_left, n_wrong;
};

static void __attribute__((format(printf, 2, 3)))
say_wrong(struct checking *checking, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	checking->n_wrong++;
	printf("%s\n", text);
}

/* --- the manifest --- */

static void free_listed(void *listed)
{
	struct listed *row = listed;

	g_free(row->state);
	g_free(row->why);
	g_free(row);
}

/* Ends the row that is being read, if any. */
static void end_listed(struct checking *checking)
{
	struct listed *row;

	if (!checking->name)
		return;
	row = g_new(struct listed, 1);
	*row = checking->row;
	if (!row->state)
		row->state = g_strdup("not said");
	g_hash_table_replace(checking->listed, g_steal_pointer(&checking->name), row);
	checking->row = (struct listed){0};
}

static void set_text(char **text, const char *value)
{
	g_free(*text);
	*text = g_strdup(value);
	if (*text)
		triad_text_clean(*text);
}

/* A row begins with its name. */
static void take_manifest_member(void *context, const char *name, const char *value)
{
	struct checking *checking = context;

	if (!strcmp(name, "anonymous")) {
		checking->is_anonymous = value && !strcmp(value, "true");
	} else if (!strcmp(name, "name")) {
		end_listed(checking);
		set_text(&checking->name, value);
	} else if (!strcmp(name, "octets")) {
		checking->row.octets = value ? g_ascii_strtoull(value, NULL, 10) : 0;
	} else if (!strcmp(name, "state")) {
		set_text(&checking->row.state, value);
	} else if (!strcmp(name, "note")) {
		set_text(&checking->row.why, value);
	}
}

/* --- the members --- */

static void tell_left(void *context, const char *text, size_t size)
{
	struct checking *checking = context;

	if (checking->n_left++ < MAX_TOLD)
		printf("%s: original left: %.*s\n", checking->member, (int)size, text);
}

/* Reads a member to its end, and scans it.  Returns its octets. */
static uint64_t read_member(struct checking *checking, struct archive *archive,
	struct triad_json_rows *rows)
{
	GString *nothing = g_string_new(NULL);
	char piece[1 << 16];
	uint64_t octets = 0;
	ssize_t n;

	if (checking->anonym)
		triad_anonym_begin(checking->anonym);
	while ((n = archive_read_data(archive, piece, sizeof(piece))) > 0) {
		octets += (uint64_t)n;
		if (rows)
			triad_json_rows_take(rows, piece, (size_t)n);
		if (checking->anonym && (!rows || checking->is_anonymous))
			triad_anonym_rewrite(
				checking->anonym, piece, (size_t)n, false, nothing);
	}
	if (checking->anonym)
		triad_anonym_rewrite(checking->anonym, "", 0, true, nothing);
	g_string_free(nothing, TRUE);
	if (n < 0)
		say_wrong(checking, "%s: can't be read: %s", checking->member,
			archive_error_string(archive));
	return octets;
}

static void check_member(
	struct checking *checking, struct archive *archive, const char *path)
{
	struct triad_json_rows rows = {.member = take_manifest_member,
		.context = checking,
		.at_any_depth = true};
	bool is_manifest = !strcmp(path, TRIAD_BUNDLE_FOLDER TRIAD_BUNDLE_MANIFEST);
	struct listed *listed;
	uint64_t octets;

	checking->member = path;
	if (!g_str_has_prefix(path, TRIAD_BUNDLE_FOLDER)) {
		say_wrong(checking, "%s: is no file of a bundle", path);
		return;
	}
	checking->member = path + strlen(TRIAD_BUNDLE_FOLDER);
	octets = read_member(checking, archive, is_manifest ? &rows : NULL);
	if (is_manifest)
		end_listed(checking);
	checking->has_manifest |= is_manifest;
	listed = g_hash_table_lookup(checking->listed, checking->member);
	if (listed) {
		listed->is_there = true;
		if (listed->octets != octets)
			say_wrong(checking, "%s: %" PRIu64 " octets, not %" PRIu64,
				checking->member, octets, listed->octets);
		printf("%12" PRIu64 "  %s%s%s\n", octets, checking->member,
			strcmp(listed->state, "whole") ? ": " : "",
			strcmp(listed->state, "whole") ? listed->state : "");
	} else if (!is_manifest) {
		say_wrong(checking, "%s: the manifest does not have it",
			checking->member);
	}
}

/* The manifest is read before the others: it stands first. */
static void check_members(struct checking *checking, struct archive *archive)
{
	struct archive_entry *entry;
	int status;

	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
		g_autofree char *path = g_strdup(archive_entry_pathname(entry));

		if (path)
			triad_text_clean(path);
		check_member(checking, archive, path ? path : "");
	}
	if (status != ARCHIVE_EOF)
		say_wrong(checking, "%s: is damaged: %s", checking->command->file,
			archive_error_string(archive));
}

static void check_absent(struct checking *checking)
{
	GHashTableIter iter;
	gpointer name, value;

	g_hash_table_iter_init(&iter, checking->listed);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		const struct listed *listed = value;

		if (listed->is_there)
			continue;
		printf("%12s  %s: %s%s%s\n", "-", (const char *)name, listed->state,
			listed->why ? ": " : "", listed->why ? listed->why : "");
		if (!strcmp(listed->state, "whole") || listed->octets)
			say_wrong(checking, "%s: is not there", (const char *)name);
	}
	if (!checking->has_manifest)
		say_wrong(checking, "%s: has no manifest", checking->command->file);
}

/* --- originals --- */

/* Reads a file with a name, a GUID or a serial number on each line.  False, having said why. */
static bool read_originals(const char *path, struct triad_anonym *anonym)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	GError *error = NULL;

	if (!g_file_get_contents(path, &text, NULL, &error)) {
		fprintf(stderr, "triadctl: bundle check: %s\n", error->message);
		g_error_free(error);
		return false;
	}
	lines = g_strsplit(text, "\n", 0);
	for (char **line = lines; *line; line++) {
		g_strstrip(*line);
		if (!strncmp(*line, "0x", 2))
			triad_anonym_add_guid(anonym, strtoull(*line, NULL, 16));
		else if (**line)
			triad_anonym_add_name(anonym, TRIAD_ANONYM_HOST, *line);
	}
	return true;
}

/* Asks the SM for what a bundle of it would have.  False, having said why. */
static bool ask_originals(const struct triad_bundle_asker *asker, const char *path,
	struct triad_anonym *anonym)
{
	const struct triad_bundle_command command = {.file = path, .anonymous = true};
	struct triad_bundle bundle = {.command = &command,
		.asker = asker,
		.has_progress = isatty(STDERR_FILENO)};
	const struct triad_bundle_entry *fabric;
	bool is_known;
	int error = triad_bundle_spool_open(&bundle.spool, path);

	if (error) {
		fprintf(stderr, "triadctl: bundle check: %s: %s\n", path,
			strerror(error));
		return false;
	}
	triad_bundle_gather_names(&bundle);
	/* The node-name map has names that the fabric does not. */
	triad_bundle_gather_files(&bundle);
	triad_bundle_read_names(&bundle.spool, anonym);
	triad_bundle_show_progress(&bundle, NULL);
	fabric = g_ptr_array_index(bundle.spool.entries, 0);
	is_known = fabric->state == TRIAD_BUNDLE_WHOLE && !bundle.n_silent &&
		!bundle.spool.error;
	if (!is_known)
		fprintf(stderr,
			"triadctl: bundle check: which originals there are is not known: "
			"%s\n",
			bundle.spool.error    ? strerror(bundle.spool.error)
				: fabric->why ? fabric->why
					      : "the SM did not answer");
	triad_bundle_spool_close(&bundle.spool);
	return is_known;
}

/* Whether the manifest, which stands first, says that it is anonymous. */
static bool is_anonymous(const char *path)
{
	struct checking checking = {0};
	struct triad_json_rows rows = {.member = take_manifest_member,
		.context = &checking,
		.at_any_depth = true};
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	char piece[512];
	ssize_t n;

	checking.listed =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_listed);
	archive_read_support_filter_all(archive);
	archive_read_support_format_tar(archive);
	if (archive_read_open_filename(archive, path, 1 << 16) == ARCHIVE_OK &&
		archive_read_next_header(archive, &entry) == ARCHIVE_OK &&
		(n = archive_read_data(archive, piece, sizeof(piece))) > 0)
		triad_json_rows_take(&rows, piece, (size_t)n);
	archive_read_free(archive);
	end_listed(&checking);
	g_hash_table_destroy(checking.listed);
	return checking.is_anonymous;
}

/* --- the command --- */

static int tell_verdict(const struct checking *checking, bool are_known)
{
	unsigned n_weak = 0, n = 0;

	if (checking->n_left > MAX_TOLD)
		printf("... and %u more\n", checking->n_left - MAX_TOLD);
	if (checking->anonym)
		n = triad_anonym_n_words(checking->anonym, &n_weak);
	if (checking->n_left || checking->n_wrong)
		printf("%s: %u originals left, %u files wrong\n",
			checking->command->file, checking->n_left, checking->n_wrong);
	else if (checking->is_anonymous && are_known)
		printf("%s: whole; no original is left of %u words (%u more are "
		       "everybody's, and looked for only where names stand)\n",
			checking->command->file, n, n_weak);
	else
		printf("%s: whole%s\n", checking->command->file,
			checking->is_anonymous
				? "; whether originals are left is not known"
				: "; with the site's own names");
	if (checking->n_left || checking->n_wrong)
		return TRIAD_CONTROL_FAILED;
	return checking->is_anonymous && !are_known ? TRIAD_CONTROL_UNKNOWN
						    : TRIAD_CONTROL_DONE;
}

int triad_bundle_check(const struct triad_bundle_command *command,
	const struct triad_bundle_asker *asker)
{
	struct checking checking = {.command = command};
	struct archive *archive = archive_read_new();
	bool are_known = false;
	int status;

	if (is_anonymous(command->file)) {
		checking.anonym = triad_anonym_new();
		are_known = command->names
			? read_originals(command->names, checking.anonym)
			: ask_originals(asker, command->file, checking.anonym);
		triad_anonym_report(checking.anonym, tell_left, &checking);
	}
	checking.listed =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_listed);
	archive_read_support_filter_all(archive);
	archive_read_support_format_tar(archive);
	if (archive_read_open_filename(archive, command->file, 1 << 16) != ARCHIVE_OK) {
		say_wrong(&checking, "%s: %s", command->file,
			archive_error_string(archive));
	} else {
		check_members(&checking, archive);
		check_absent(&checking);
	}
	archive_read_free(archive);
	status = tell_verdict(&checking, are_known);
	end_listed(&checking);
	g_hash_table_destroy(checking.listed);
	triad_anonym_free(checking.anonym);
	return status;
}
