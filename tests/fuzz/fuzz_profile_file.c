/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Profile files: any octets; valid frames of zstd with any lines; and such frames,
 * altered.  Frames must end where zstd finds their ends.  Files must be read in the
 * order of time and within their bounds.  When a writer continues a file, the first
 * opening must repair it, and the second must find it whole.
 *
 * Input: flags (1: the rest is pieces, which become frames; 2: and they are altered);
 * when altered, a number of positions and for each a position (2 octets) and the value
 * that is XORed there (1); then pieces, each after its length (2 octets: the highest
 * bit makes it a skippable frame, the next one adds a checksum). */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "cli/profile_inputs.h"
#include "perfmgr/export/profile_file.h"
#include "perfmgr/export/zstd_frame.h"
#include "tests/fuzz/fuzz.h"

#define FRAMES 1u
#define ALTERED 2u
#define SKIPPABLE 0x8000u
#define CHECKSUM 0x4000u
#define MAX_SIZE ((size_t)1 << 18)

struct file {
	int fd;
	size_t size;
	uint8_t octets[MAX_SIZE];
};

/* --- making the file --- */

static void put_skippable(struct file *file, const uint8_t *piece, size_t size)
{
	const uint8_t head[] = {
		0x5a, 0x2a, 0x4d, 0x18, (uint8_t)size, (uint8_t)(size >> 8), 0, 0};

	memcpy(file->octets + file->size, head, sizeof(head));
	memcpy(file->octets + file->size + sizeof(head), piece, size);
	file->size += sizeof(head) + size;
}

static void put_frame(
	struct file *file, const uint8_t *piece, size_t size, bool has_checksum)
{
	static ZSTD_CCtx *zstd;
	size_t n;

	if (!zstd)
		zstd = ZSTD_createCCtx();
	require(zstd, "memory");
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, has_checksum);
	n = ZSTD_compress2(zstd, file->octets + file->size,
		sizeof(file->octets) - file->size, piece, size);
	require(!ZSTD_isError(n), "a frame");
	file->size += n;
}

static void put_pieces(struct file *file, struct triad_wire *w)
{
	while (w->at < w->size && !w->failed) {
		unsigned head = triad_wire_get16(w);
		size_t size, most = head & 0x3fff;
		uint8_t *piece = fuzz_take(w, most, &size);

		if (file->size + ZSTD_compressBound(size) + 16 > sizeof(file->octets)) {
			free(piece);
			return;
		}
		if (head & SKIPPABLE)
			put_skippable(file, piece, size);
		else
			put_frame(file, piece, size, head & CHECKSUM);
		free(piece);
	}
}

static void make_file(struct file *file, const uint8_t *data, size_t size)
{
	struct triad_wire w;
	unsigned flags, n;
	const uint8_t *positions;

	file->size = 0;
	triad_wire_init(&w, (uint8_t *)data, size);
	flags = triad_wire_get8(&w);
	n = flags & ALTERED ? triad_wire_get8(&w) % 16 : 0;
	positions = triad_wire_take(&w, (size_t)n * 3);
	if (w.failed)
		return;
	if (flags & FRAMES) {
		put_pieces(file, &w);
	} else if (w.size - w.at <= sizeof(file->octets)) {
		file->size = w.size - w.at;
		memcpy(file->octets, w.start + w.at, file->size);
	}
	for (unsigned i = 0; i < n && file->size; i++, positions += 3)
		file->octets[((size_t)positions[0] << 8 | positions[1]) % file->size] ^=
			positions[2];
}

/* --- ends of frames --- */

static void check_frames(const struct file *file, bool is_whole)
{
	struct triad_zstd_frame frame;
	uint64_t at = 0;
	int error = 0;

	while (at < file->size && !error) {
		size_t known = ZSTD_findFrameCompressedSize(
			file->octets + at, file->size - at);

		error = triad_zstd_frame_measure(file->fd, at, file->size, &frame);
		require(error || (frame.size > 4 && frame.size <= file->size - at),
			"a frame in the file");
		require(error || ZSTD_isError(known) || known == frame.size,
			"it ends where zstd finds its end");
		at += error ? 0 : frame.size;
	}
	require(!is_whole || !error, "all of them");
}

/* --- reading --- */

static void report(void *context, const char *message)
{
	unsigned *n_reported = context;

	require(*message && !strpbrk(message, "\n\r\033"), "a message to be shown");
	++*n_reported;
}

static bool take_line(void *context, enum triad_profile_line kind,
	const struct triad_profile_parser *parser, const char *line, size_t length)
{
	(void)context;
	(void)parser;
	require(kind != TRIAD_PROFILE_WRONG, "a line that can be read");
	require(length < TRIAD_PROFILE_LINE_SIZE, "and is not too long");
	require(!memchr(line, '\n', length), "one line");
	return true;
}

static void check_copy(
	struct triad_profile_inputs *inputs, const struct triad_profile_frame *frame)
{
	uint64_t at = 0;
	char octets[4096];
	size_t n;

	while ((n = triad_profile_inputs_copy(
			inputs, frame, at, octets, sizeof(octets))))
		at += n;
	require(at == frame->size, "all of a frame");
}

/* Reads the same file as two inputs. */
static void check_inputs(const struct file *file)
{
	char path[64];
	const char *paths[2] = {path, path};
	struct triad_profile_inputs *inputs;
	struct triad_profile_frame frame;
	uint64_t last_us = 0, done;
	unsigned n_reported = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	inputs = triad_profile_inputs_new(2, paths, report, &n_reported);
	require(inputs, "memory");
	while (triad_profile_inputs_next(inputs, &frame)) {
		require(frame.size && frame.offset + frame.size <= file->size,
			"a frame in the file");
		require(frame.time_us >= last_us, "the order of time");
		last_us = frame.time_us;
		if (triad_profile_inputs_read(inputs, &frame, take_line, NULL))
			check_copy(inputs, &frame);
	}
	require(triad_profile_inputs_failed(inputs) == n_reported,
		"failures are reported");
	require(triad_profile_inputs_octets(inputs, &done) == done, "to the end");
	triad_profile_inputs_free(inputs);
}

/* --- continuing a file --- */

/* In memory, if /dev/shm exists: a disk is a thousand times slower. */
static const char *scratch_path(void)
{
	static char dir[] = "/dev/shm/fuzz-profile-XXXXXX", path[64];

	if (!*path) {
		if (!mkdtemp(dir)) {
			strcpy(dir, "/tmp/fuzz-profile-XXXXXX");
			require(mkdtemp(dir), "a folder");
		}
		snprintf(path, sizeof(path), "%s/profile", dir);
	}
	return path;
}

static void remove_scratch(void)
{
	char *path = (char *)scratch_path();

	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

static void write_file(const struct file *file, const char *path)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	require(fd >= 0 && write(fd, file->octets, file->size) == (ssize_t)file->size,
		"a file");
	close(fd);
}

static void check_repaired(const struct file *file)
{
	const char *path = scratch_path();
	struct triad_profile_file opened;
	uint64_t size;
	int error;

	write_file(file, path);
	triad_profile_file_init(&opened);
	error = triad_profile_file_open(&opened, path);
	require(!error || error == EMEDIUMTYPE, "opened, or no profile");
	size = opened.size;
	if (!error && !opened.must_be_aside) {
		require(size + opened.cut_octets == file->size, "its end is cut off");
		triad_profile_file_close(&opened);
		require(!triad_profile_file_open(&opened, path), "opened again");
		require(opened.size == size && !opened.cut_octets &&
				!opened.must_be_aside,
			"repaired");
	}
	triad_profile_file_close(&opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct file file = {.fd = -1};

	if (file.fd < 0) {
		file.fd = memfd_create("profile", MFD_CLOEXEC);
		require(file.fd >= 0, "a file in memory");
		atexit(remove_scratch);
	}
	make_file(&file, data, size);
	require(!ftruncate(file.fd, 0) &&
			pwrite(file.fd, file.octets, file.size, 0) ==
				(ssize_t)file.size,
		"its octets");
	check_frames(&file, size && (data[0] & 3) == FRAMES);
	check_inputs(&file);
	check_repaired(&file);
	return 0;
}
