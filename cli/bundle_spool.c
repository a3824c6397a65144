/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/bundle_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE (1u << 16)

const char *triad_bundle_state_name(enum triad_bundle_state state)
{
	static const char *const names[] = {"whole", "cut", "absent", "failed"};

	return names[state];
}

static void free_entry(void *entry)
{
	struct triad_bundle_entry *old = entry;

	g_free(old->name);
	g_free(old->why);
	g_free(old);
}

int triad_bundle_spool_open(struct triad_bundle_spool *spool, const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *other = g_strdup_printf("%s.spool-XXXXXX", path);

	*spool = (struct triad_bundle_spool){0};
	spool->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* Not all file systems have files without a name. */
	if (spool->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		spool->fd = mkostemp(other, O_CLOEXEC);
		if (spool->fd >= 0)
			unlink(other);
	}
	if (spool->fd < 0)
		return errno;
	spool->entries = g_ptr_array_new_with_free_func(free_entry);
	return 0;
}

void triad_bundle_spool_close(struct triad_bundle_spool *spool)
{
	close(spool->fd);
	g_ptr_array_free(spool->entries, TRUE);
}

void triad_bundle_spool_rewind(struct triad_bundle_spool *spool, guint n_entries)
{
	const struct triad_bundle_entry *first;

	if (spool->entries->len <= n_entries)
		return;
	first = g_ptr_array_index(spool->entries, n_entries);
	spool->size = first->at;
	g_ptr_array_set_size(spool->entries, (gint)n_entries);
}

struct triad_bundle_entry *triad_bundle_spool_begin(
	struct triad_bundle_spool *spool, char *name, uint64_t limit)
{
	struct triad_bundle_entry *entry = g_new0(struct triad_bundle_entry, 1);

	entry->name = name;
	entry->status = -1;
	entry->at = spool->size;
	entry->limit = limit;
	g_ptr_array_add(spool->entries, entry);
	return entry;
}

static bool write_at_end(
	struct triad_bundle_spool *spool, const char *piece, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = pwrite(spool->fd, piece + done, size - done,
			(off_t)(spool->size + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			spool->error = n ? errno : ENOSPC;
			return false;
		}
		done += (size_t)n;
	}
	spool->size += size;
	return true;
}

bool triad_bundle_spool_add(
	struct triad_bundle_spool *spool, const char *piece, size_t size)
{
	struct triad_bundle_entry *entry =
		g_ptr_array_index(spool->entries, spool->entries->len - 1);
	uint64_t room = entry->limit - entry->size;

	if (spool->size + room > TRIAD_BUNDLE_MAX_OCTETS)
		room = TRIAD_BUNDLE_MAX_OCTETS > spool->size
			? TRIAD_BUNDLE_MAX_OCTETS - spool->size
			: 0;
	if (spool->error || !write_at_end(spool, piece, size < room ? size : room))
		return false;
	entry->size = spool->size - entry->at;
	if (size <= room)
		return true;
	if (entry->state == TRIAD_BUNDLE_WHOLE)
		triad_bundle_entry_say(entry, TRIAD_BUNDLE_CUT,
			g_strdup_printf("only its first %" G_GUINT64_FORMAT " octets",
				entry->size));
	return false;
}

void triad_bundle_entry_say(
	struct triad_bundle_entry *entry, enum triad_bundle_state state, char *why)
{
	entry->state = state;
	g_free(entry->why);
	entry->why = why;
}

size_t triad_bundle_spool_read(const struct triad_bundle_spool *spool,
	const struct triad_bundle_entry *entry, uint64_t at, char *piece, size_t size)
{
	uint64_t rest = entry->size - at;
	ssize_t n;

	do
		n = pread(spool->fd, piece, rest < size ? rest : size,
			(off_t)(entry->at + at));
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

void triad_bundle_spool_rewrite(struct triad_bundle_spool *spool,
	struct triad_bundle_entry *entry, struct triad_anonym *anonym)
{
	g_autofree char *piece = g_malloc(PIECE);
	GString *to = g_string_new(NULL);
	uint64_t begun = spool->size, at = 0;
	size_t n;

	triad_anonym_begin(anonym);
	do {
		n = triad_bundle_spool_read(spool, entry, at, piece, PIECE);
		at += n;
		g_string_truncate(to, 0);
		triad_anonym_rewrite(anonym, piece, n, !n, to);
	} while (write_at_end(spool, to->str, to->len) && n);
	g_string_free(to, TRUE);
	entry->at = begun;
	entry->size = spool->size - begun;
}
