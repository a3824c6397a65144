/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/history/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/format_version.h"
#include "portmgr/history/journal_reader.h"
#include "triad/file.h"

#define MAX_PATH_SIZE 512
/* Triad never writes a larger file. */
#define MAX_FILE_OCTETS ((uint64_t)16 * TRIAD_JOURNAL_MAX_OCTETS)
/* How much the file must grow before a failed rewrite is retried. */
#define AGAIN_OCTETS ((uint64_t)1 << 20)
#define FLAGS (O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

struct triad_journal {
	char path[MAX_PATH_SIZE];
	int fd;
	uint64_t size;      /* octets that are valid; ignore what follows */
	uint64_t trim_size; /* rewrite the file when it is larger */
	bool is_torn;       /* the last line has no end */
	uint64_t n_bad;
	unsigned version;
};

uint64_t triad_journal_n_bad(const struct triad_journal *journal)
{
	return journal->n_bad;
}

void triad_journal_close(struct triad_journal *journal)
{
	if (!journal)
		return;
	if (journal->fd >= 0)
		close(journal->fd);
	free(journal);
}

/* --- reading --- */

static int read_journal(struct triad_journal *journal, struct triad_history *history)
{
	struct triad_journal_reader reader;
	char piece[8192];
	ssize_t n;
	int error = 0;

	triad_journal_reader_init(&reader, history);
	while (!error && (n = read(journal->fd, piece, sizeof(piece)))) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		journal->size += (uint64_t)n;
		error = triad_journal_reader_take(&reader, piece, (size_t)n);
	}
	journal->is_torn = triad_journal_reader_is_torn(&reader);
	if (!error)
		error = triad_journal_reader_end(&reader);
	journal->n_bad = reader.n_bad;
	journal->version = reader.version;
	return error;
}

/* --- opening --- */

static int check_file(struct triad_journal *journal, char *reason, size_t size)
{
	struct stat status;
	int error = 0;

	if (fstat(journal->fd, &status))
		error = errno;
	else if (!S_ISREG(status.st_mode))
		error = EINVAL;
	else if ((uint64_t)status.st_size > MAX_FILE_OCTETS)
		error = EFBIG;
	if (error == EINVAL)
		snprintf(reason, size,
			"journal %s isn't a regular file: move it away, or name "
			"another",
			journal->path);
	else if (error == EFBIG)
		snprintf(reason, size,
			"journal %s has more than %" PRIu64
			" octets, which is no journal of ports: move it away",
			journal->path, MAX_FILE_OCTETS);
	else if (error)
		snprintf(reason, size, "journal %s: %s: look after its disk",
			journal->path, strerror(error));
	return error;
}

/* Advice for a failed open(). */
static const char *advice(int error)
{
	switch (error) {
	case ELOOP:
		return "it is a symbolic link, which is not followed: put the file "
		       "itself there";
	case ENOENT:
	case ENOTDIR:
		return "make its folder";
	case EACCES:
	case EPERM:
	case EROFS:
		return "let this user write there";
	default:
		return "make it a file that can be read and written";
	}
}

/* The journal decides what is done to ports, so nobody else may be able to write it. */
static int check_trusted(const struct triad_journal *journal, char *reason, size_t size)
{
	char why[TRIAD_FILE_REASON_SIZE];
	int error = triad_file_check_folder(journal->path, why);

	if (error != EPERM)
		error = triad_file_check_trusted(journal->path, false, why);
	if (error != EPERM)
		return 0;
	snprintf(reason, size, "journal %s: %s", journal->path, why);
	return error;
}

static void describe_unread(
	const struct triad_journal *journal, int error, char *reason, size_t size)
{
	char refusal[TRIAD_FORMAT_REFUSAL_SIZE];

	triad_format_refusal(refusal, journal->version, TRIAD_JOURNAL_VERSION);
	if (error == EPROTONOSUPPORT)
		snprintf(reason, size, "journal %s can't be read: %s", journal->path,
			refusal);
	else
		snprintf(reason, size, "journal %s can't be read: %s: %s",
			journal->path, strerror(error),
			error == ENOMEM ? "free memory" : "look after its disk");
}

static int open_and_read(struct triad_journal *journal, struct triad_history *history,
	char *reason, size_t size)
{
	int error = check_trusted(journal, reason, size);

	if (error)
		return error;
	/* open() makes the file, so ENOENT means that its folder is missing. */
	journal->fd = open(journal->path, O_RDWR | FLAGS, 0600);
	if (journal->fd < 0 && errno == ENOENT) {
		triad_file_make_folder(journal->path);
		journal->fd = open(journal->path, O_RDWR | FLAGS, 0600);
	}
	if (journal->fd < 0) {
		error = errno;
		snprintf(reason, size, "journal %s: %s: %s", journal->path,
			strerror(error), advice(error));
		return error;
	}
	error = check_file(journal, reason, size);
	if (error)
		return error;
	/* The file may be new: sync its folder, or a crash could lose it with all
	 * confirmed records. */
	error = triad_file_sync_folder(journal->path);
	if (!error)
		error = read_journal(journal, history);
	if (error)
		describe_unread(journal, error, reason, size);
	return error;
}

int triad_journal_open(const char *path, struct triad_history *history,
	struct triad_journal **journal, char *reason, size_t size)
{
	struct triad_journal *opened = calloc(1, sizeof(*opened));
	int error;

	*journal = NULL;
	if (!opened) {
		snprintf(reason, size, "journal %s: no memory: free some", path);
		return ENOMEM;
	}
	opened->fd = -1;
	opened->trim_size = TRIAD_JOURNAL_MAX_OCTETS;
	/* The name of the new file beside it must fit, too. */
	if (strlen(path) + sizeof(".new") > sizeof(opened->path)) {
		snprintf(reason, size,
			"journal %.80s...: the name is too long: use a "
			"shorter one",
			path);
		error = ENAMETOOLONG;
	} else {
		strcpy(opened->path, path);
		error = open_and_read(opened, history, reason, size);
	}
	if (error)
		triad_journal_close(opened);
	else
		*journal = opened;
	return error;
}

/* --- writing --- */

/* Returns 0 or an errno.  Adds the octets that were written to '*written', even on an
 * error. */
static int write_all(int fd, const char *octets, size_t size, uint64_t *written)
{
	while (size) {
		ssize_t n = write(fd, octets, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		octets += n;
		size -= (size_t)n;
		*written += (uint64_t)n;
	}
	return 0;
}

int triad_journal_append(struct triad_journal *journal,
	const struct triad_record *record, bool must_sync)
{
	char line[1 + TRIAD_RECORD_LINE_SIZE];
	size_t size = 0;
	uint64_t written = 0;
	int error;

	/* End a torn line first, so that only that line is bad, not this record. */
	if (journal->is_torn)
		line[size++] = '\n';
	size += triad_record_format(record, line + size);
	line[size++] = '\n'; /* replaces the 0 */
	error = write_all(journal->fd, line, size, &written);
	if (!error && must_sync && fdatasync(journal->fd))
		error = errno;
	if (!error) {
		journal->size += size;
		journal->is_torn = false;
	} else if (ftruncate(journal->fd, (off_t)journal->size)) {
		/* Could not remove what was written of the line: it stays. */
		journal->size += written;
		journal->is_torn = true;
	}
	return error;
}

int triad_journal_probe(struct triad_journal *journal)
{
	return fallocate(journal->fd, FALLOC_FL_KEEP_SIZE, (off_t)journal->size,
		       TRIAD_RECORD_LINE_SIZE) ||
			fdatasync(journal->fd)
		? errno
		: 0;
}

/* --- rewriting --- */

struct copy {
	int fd, error;
	uint64_t size;
	size_t used;
	char octets[16384];
};

static void flush_copy(struct copy *copy)
{
	if (!copy->error)
		copy->error =
			write_all(copy->fd, copy->octets, copy->used, &copy->size);
	copy->used = 0;
}

static void copy_record(struct copy *copy, const struct triad_record *record)
{
	if (copy->used + TRIAD_RECORD_LINE_SIZE > sizeof(copy->octets))
		flush_copy(copy);
	copy->used += triad_record_format(record, copy->octets + copy->used);
	copy->octets[copy->used++] = '\n';
}

/* Writes each port's last record.  First those that are not among the latest records,
 * then the latest records, oldest first, so that the history has the same latest
 * records after a restart. */
static void put_all(struct copy *copy, const struct triad_history *history)
{
	const struct triad_record *record;
	uint32_t n = 0;

	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++)
		for (uint32_t i = 0; (record = triad_history_at(history, bucket, i));
			i++)
			if (!triad_history_is_in_latest(history, record))
				copy_record(copy, record);
	while (triad_history_latest(history, n))
		n++;
	while (n--)
		copy_record(copy, triad_history_latest(history, n));
	flush_copy(copy);
}

static int write_anew(
	struct triad_journal *journal, const struct triad_history *history)
{
	struct copy copy = {.size = 0};

	copy.fd = triad_file_new_open(journal->path, O_APPEND | O_NONBLOCK, 0600);
	if (copy.fd < 0)
		return -copy.fd;
	put_all(&copy, history);
	if (!copy.error)
		copy.error = triad_file_new_commit(copy.fd, journal->path);
	if (copy.error) {
		triad_file_new_discard(copy.fd, journal->path);
		return copy.error;
	}
	/* Ignore an error: if a crash brings the old file back, it has the same
	 * records. */
	(void)triad_file_sync_folder(journal->path);
	close(journal->fd);
	journal->fd = copy.fd;
	journal->size = copy.size;
	journal->is_torn = false;
	return 0;
}

void triad_journal_trim(
	struct triad_journal *journal, const struct triad_history *history)
{
	if (journal->size <= journal->trim_size)
		return;
	/* Rewrite next at the limit.  If the new file exceeds half of it, wait until
	 * the file has doubled, or it would be rewritten too often. */
	if (write_anew(journal, history))
		journal->trim_size = journal->size + AGAIN_OCTETS;
	else if (journal->size * 2 > TRIAD_JOURNAL_MAX_OCTETS)
		journal->trim_size = journal->size * 2;
	else
		journal->trim_size = TRIAD_JOURNAL_MAX_OCTETS;
}
