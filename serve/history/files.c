/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "serve/history/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/grow.h"
#include "lib/search.h"
#include "perfmgr/export/zstd_frame.h"
#include "service/state_path.h"
#include "triad/clock.h"
#include "triad/conf.h"
#include "triad/file.h"

#define SUFFIX ".csv.zst"
#define MAX_SEGMENTS 100000u
/* Limit for an index, above that of the largest segment. */
#define MAX_INDEX_OCTETS (4u << 20)

/* --- names --- */

/* "20260102T030405.678Z" */
static size_t put_time(char *to, size_t size, uint64_t at_us)
{
	time_t at_s = (time_t)(at_us / TRIAD_US_PER_S);
	struct tm tm;
	size_t n;

	gmtime_r(&at_s, &tm);
	n = strftime(to, size, "%Y%m%dT%H%M%S", &tm);
	snprintf(to + n, size - n, ".%03uZ",
		(unsigned)(at_us % TRIAD_US_PER_S / TRIAD_US_PER_MS));
	return strlen(to);
}

static bool get_time(const char *from, const char **end, uint64_t *at_us)
{
	struct tm tm = {0};
	const char *at = strptime(from, "%Y%m%dT%H%M%S", &tm);
	unsigned ms;
	int n = 0;

	if (!at || sscanf(at, ".%3uZ%n", &ms, &n) != 1 || n != 5)
		return false;
	*end = at + n;
	*at_us = (uint64_t)timegm(&tm) * TRIAD_US_PER_S + ms * TRIAD_US_PER_MS;
	return true;
}

/* DIR/TIER-PROGRAM-0xGUID- */
static bool put_prefix(const struct triad_history_owner *owner,
	enum triad_history_tier tier, char path[PATH_MAX])
{
	size_t n;

	if (triad_state_path(owner->dir, triad_history_tiers[tier].name, owner->program,
		    owner->port_guid, path, PATH_MAX))
		return false;
	n = strlen(path);
	if (n + sizeof("-20260102T030405.678Z" SUFFIX ".idx.new") > PATH_MAX)
		return false;
	path[n] = '-';
	path[n + 1] = '\0';
	return true;
}

bool triad_history_segment_path(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t begun_us, char path[PATH_MAX])
{
	size_t n;

	if (!put_prefix(owner, tier, path))
		return false;
	n = strlen(path);
	n += put_time(path + n, PATH_MAX - n, begun_us);
	strcpy(path + n, SUFFIX);
	return true;
}

bool triad_history_index_path(const char *segment, char path[PATH_MAX])
{
	return (size_t)snprintf(path, PATH_MAX, "%s.idx", segment) < PATH_MAX;
}

int triad_history_list(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t **times, uint32_t *n)
{
	char prefix[PATH_MAX];
	const char *name, *end;
	struct dirent *entry;
	size_t n_name, room = 0;
	uint64_t begun_us;
	DIR *dir;

	*times = NULL;
	*n = 0;
	if (!put_prefix(owner, tier, prefix))
		return ENAMETOOLONG;
	name = strrchr(prefix, '/') + 1;
	n_name = strlen(name);
	dir = opendir(owner->dir);
	if (!dir)
		return errno;
	while ((entry = readdir(dir)) && *n < MAX_SEGMENTS) {
		if (strncmp(entry->d_name, name, n_name) != 0 ||
			!get_time(entry->d_name + n_name, &end, &begun_us) ||
			strcmp(end, SUFFIX) != 0)
			continue;
		if (triad_grow(times, &room, *n + 1, sizeof(**times), 64))
			break;
		(*times)[(*n)++] = begun_us;
	}
	closedir(dir);
	if (*n)
		qsort(*times, *n, sizeof(**times), triad_order_u64);
	return 0;
}

/* The GUID in the name of a segment of that program; 0: another file. */
static uint64_t guid_of_name(const char *name, const char *program)
{
	char begin[TRIAD_CONF_PATH_SIZE];
	const char *end;
	uint64_t guid, begun_us;
	size_t n;

	for (unsigned tier = 0; tier < TRIAD_HISTORY_N_TIERS; tier++) {
		n = (size_t)snprintf(begin, sizeof(begin), "%s-%s-0x",
			triad_history_tiers[tier].name, program);
		if (strncasecmp(name, begin, n) != 0 || strlen(name) < n + 18 ||
			sscanf(name + n, "%16" SCNx64 "-", &guid) != 1 ||
			!get_time(name + n + 17, &end, &begun_us) ||
			strcmp(end, SUFFIX) != 0)
			continue;
		return guid;
	}
	return 0;
}

unsigned triad_history_list_others(
	const struct triad_history_owner *owner, uint64_t *port_guids, unsigned room)
{
	DIR *dir = opendir(owner->dir);
	struct dirent *entry;
	unsigned n = 0, i;

	while (dir && (entry = readdir(dir))) {
		uint64_t guid = guid_of_name(entry->d_name, owner->program);

		for (i = 0; i < n && port_guids[i] != guid; i++)
			;
		if (guid && guid != owner->port_guid && i == n && n < room)
			port_guids[n++] = guid;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* --- the index --- */

struct loading {
	struct triad_history_ring *ring;
	enum triad_history_tier tier;
	struct triad_history_segment *segment;
	struct triad_frame_reader *reader;
	bool is_own;
	char path[PATH_MAX], index[PATH_MAX];
	int fd;
	uint64_t size, end; /* of the file; of its last known image */
};

/* Adds an image, unless it has no key before it: such an image can't be read. */
static int add_entry(struct loading *loading, const struct triad_history_entry *entry)
{
	loading->end = entry->offset + entry->size;
	if (!entry->is_key && !loading->segment->n)
		return 0;
	return triad_history_ring_add(
		loading->ring, loading->tier, loading->segment, entry);
}

/* Adds the images of an index, up to a line that does not fit the file; false: there is
 * such a line. */
static bool take_index(struct loading *loading, const char *text, size_t size)
{
	struct triad_history_entry entry;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;

		if (!end || !triad_history_line_parse(text, length, &entry) ||
			entry.offset < loading->end || entry.size > loading->size ||
			entry.offset > loading->size - entry.size ||
			add_entry(loading, &entry))
			return false;
		text += length + 1;
		size -= length + 1;
	}
	return true;
}

static bool read_index(struct loading *loading)
{
	char *text = malloc(MAX_INDEX_OCTETS);
	bool is_whole = false;
	size_t n;

	if (text && !triad_file_read(loading->index, text, MAX_INDEX_OCTETS, &n))
		is_whole = take_index(loading, text, n);
	free(text);
	return is_whole;
}

/* Limits are needed: a frame of one line again and again unpacks to ten thousand times its
 * size.  Those of large fabrics unpack to some twenty times. */
#define MAX_LINES_OCTETS (UINT64_C(1) << 30)
#define LEAST_LINES_OCTETS (UINT64_C(16) << 20)
#define MAX_RATIO 64u
/* Of the processor's time, in the thread that writes images; the largest need a quarter. */
#define MAX_LOOK_US (2 * TRIAD_US_PER_S)
#define LOOKS_AT_CLOCK 4096u /* lines between */

/* What the first lines of a frame contain. */
struct peek {
	struct triad_history_entry entry;
	uint64_t port_guid; /* 0: not given */
	bool is_image;
	uint64_t n_octets, n_lines, most_octets;
	uint64_t until_us; /* of the thread's own time */
	bool is_too_much;
	struct triad_history_events *events;
};

static uint64_t thread_us(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return triad_clock_from_timespec(&now);
}

static uint64_t most_octets_of(uint64_t size)
{
	uint64_t most = LEAST_LINES_OCTETS + MAX_RATIO * size;

	return most < MAX_LINES_OCTETS ? most : MAX_LINES_OCTETS;
}

static bool look_at_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	static const char begin[] = "# triad-image version=1 kind=";
	struct peek *peek = context;
	char copy[TRIAD_PROFILE_LINE_SIZE];

	if (kind == TRIAD_PROFILE_INFO) {
		peek->entry.time_us = parser->info.time_us;
		peek->port_guid = parser->info.sm_guid;
	}
	if (kind != TRIAD_PROFILE_COMMENT || length < sizeof(begin) ||
		memcmp(line, begin, sizeof(begin) - 1) != 0)
		return kind == TRIAD_PROFILE_INFO;
	memcpy(copy, line, length);
	copy[length] = '\0';
	peek->entry.is_key = !strncmp(copy + sizeof(begin) - 1, "key ", 4);
	peek->is_image = sscanf(copy + sizeof(begin) - 1, "%*7s sweep=%" SCNu64,
				 &peek->entry.sweep) == 1;
	return false;
}

/* Adds the images behind the known ones, up to the file's end or an incomplete
 * frame. */
static int read_rest(struct loading *loading)
{
	struct triad_zstd_frame frame;
	int error = 0;

	while (!error && loading->end < loading->size &&
		!triad_zstd_frame_measure(
			loading->fd, loading->end, loading->size, &frame)) {
		uint64_t behind = loading->end + frame.size;
		struct peek peek = {
			.entry = {.offset = loading->end, .size = frame.size}};

		if (!frame.is_skippable)
			(void)triad_frame_reader_read(loading->reader, loading->fd,
				loading->end, frame.size, look_at_line, &peek);
		if (peek.is_image && peek.entry.time_us)
			error = add_entry(loading, &peek.entry);
		loading->end = behind;
	}
	return error;
}

/* Adds the event of a line.  Ignores other lines, and events that have no room. */
static void look_for_event(
	struct triad_history_events *events, const char *line, size_t length)
{
	static const char begin[] = "# triad-event ";
	size_t n = sizeof(begin) - 1;

	if (length > n && !memcmp(line, begin, n) &&
		events->n < TRIAD_HISTORY_MAX_COPIED_EVENTS &&
		!triad_timeline_event_parse(
			line + n, length - n, &events->events[events->n]))
		events->n++;
}

/* Looks at a line.  Returns false, which ends the reading, once the frame has more in it
 * than it may, or takes longer. */
static bool look_at_all(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	struct peek *peek = context;

	peek->n_octets += length + 1;
	peek->is_too_much = peek->n_octets > peek->most_octets ||
		(++peek->n_lines % LOOKS_AT_CLOCK == 0 && thread_us() > peek->until_us);
	if (!peek->is_image)
		(void)look_at_line(context, kind, parser, line, length);
	if (kind == TRIAD_PROFILE_COMMENT)
		look_for_event(peek->events, line, length);
	return !peek->is_too_much;
}

int triad_history_check_image(struct triad_frame_reader *reader, int fd,
	uint64_t port_guid, struct triad_history_entry *entry,
	struct triad_history_events *events)
{
	struct peek peek = {.entry = *entry,
		.events = events,
		.most_octets = most_octets_of(entry->size),
		.until_us = thread_us() + MAX_LOOK_US};
	struct triad_zstd_frame frame;
	int error = triad_zstd_frame_measure(
		fd, entry->offset, entry->offset + entry->size, &frame);

	events->n = 0;
	if (error == ENODATA || error == EILSEQ ||
		(!error && (frame.is_skippable || frame.size != entry->size)))
		return EPROTO;
	if (!error)
		error = triad_frame_reader_read(
			reader, fd, entry->offset, entry->size, look_at_all, &peek);
	if (error)
		return error;
	if (!peek.is_image || !peek.entry.time_us || peek.port_guid != port_guid ||
		peek.is_too_much)
		return EPROTO;
	*entry = peek.entry;
	return 0;
}

static int write_index(const struct loading *loading)
{
	const struct triad_history_segment *segment = loading->segment;
	char *text = malloc((size_t)segment->n * TRIAD_HISTORY_LINE_SIZE + 1);
	size_t n = 0;
	int error;

	if (!text)
		return ENOMEM;
	for (uint32_t i = 0; i < segment->n; i++)
		n += triad_history_line_format(&segment->entries[i], text + n);
	error = triad_file_replace(loading->index, text, n, 0640);
	free(text);
	return error;
}

static int load_opened(struct loading *loading)
{
	struct stat status;
	bool is_whole;
	int error;

	if (fstat(loading->fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return EMEDIUMTYPE;
	loading->size = (uint64_t)status.st_size;
	is_whole = read_index(loading) && loading->end == loading->size;
	error = is_whole ? 0 : read_rest(loading);
	triad_history_ring_set_octets(
		loading->ring, loading->tier, loading->segment, loading->size);
	/* If this fails, the next start reads the segment again. */
	if (!error && !is_whole && loading->is_own)
		(void)write_index(loading);
	return error;
}

int triad_history_load(const struct triad_history_owner *owner,
	enum triad_history_tier tier, uint64_t begun_us,
	struct triad_frame_reader *reader, struct triad_history_ring *ring, bool is_own)
{
	struct loading loading = {
		.ring = ring, .tier = tier, .reader = reader, .is_own = is_own};
	int error;

	if (!triad_history_segment_path(owner, tier, begun_us, loading.path) ||
		!triad_history_index_path(loading.path, loading.index))
		return ENAMETOOLONG;
	loading.segment = triad_history_ring_insert(ring, tier, begun_us);
	if (!loading.segment)
		return ENOMEM;
	loading.fd = open(loading.path,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (loading.fd < 0)
		return errno;
	error = load_opened(&loading);
	close(loading.fd);
	return error;
}
