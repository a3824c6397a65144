/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/syslog_line.h"
#include "triad/clock.h"

#define NAME "triad-agent"

struct triad_agent_log {
	struct triad_log log;
	const char *path; /* NULL: standard error */
	int fd;           /* keeps its number while the log is open */
	bool in_journal;
	_Atomic bool has_syslog;
	struct triad_syslog syslog;
};

static void write_log_line(void *context, enum triad_log_level level, const char *line)
{
	static const char *const names[] = {
		[TRIAD_LOG_ERROR] = "error",
		[TRIAD_LOG_WARNING] = "warning",
		[TRIAD_LOG_INFO] = "info",
		[TRIAD_LOG_VERBOSE] = "verbose",
		[TRIAD_LOG_DEBUG] = "debug",
	};
	struct triad_agent_log *log = context;
	char at[TRIAD_CLOCK_TEXT_SIZE], text[1200];
	int length;

	triad_clock_format(triad_clock_wall_us(), at);
	length = snprintf(text, sizeof(text), "%s %s %s\n", at, names[level], line);
	/* Ignore an error: there is nowhere to report it. */
	if (write(log->fd, text, (size_t)length) < 0)
		errno = 0;
	if (level <= TRIAD_LOG_WARNING && atomic_load(&log->has_syslog))
		(void)triad_syslog_send(&log->syslog, level, NAME ": %s", line);
}

/* Whether 'fd' is the journal's stream, which systemd names in the environment. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long device, inode;
	struct stat status;

	return stream && sscanf(stream, "%lu:%lu", &device, &inode) == 2 &&
		!fstat(fd, &status) && status.st_dev == device &&
		status.st_ino == inode;
}

/* Opens the file to append to, or duplicates standard error.  -1: see errno. */
static int open_log(const char *path)
{
	if (!path)
		return fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
}

int triad_agent_log_open(const char *path, struct triad_agent_log **opened)
{
	struct triad_agent_log *log = calloc(1, sizeof(*log));
	int error;

	if (!log)
		return ENOMEM;
	log->path = path;
	log->log.write = write_log_line;
	log->log.context = log;
	log->syslog = (struct triad_syslog){.path = TRIAD_SYSLOG_PATH, .tag = NAME};
	atomic_init(&log->log.level, TRIAD_LOG_INFO);
	log->fd = open_log(path);
	if (log->fd < 0) {
		error = errno;
		free(log);
		return error;
	}
	log->in_journal = is_journal(log->fd);
	*opened = log;
	return 0;
}

void triad_agent_log_close(struct triad_agent_log *log)
{
	if (!log)
		return;
	close(log->fd);
	free(log);
}

/* Keeps the descriptor's number, so that threads that write need no lock. */
int triad_agent_log_reopen(struct triad_agent_log *log)
{
	int fd, error = 0;

	if (!log->path)
		return 0;
	fd = open_log(log->path);
	if (fd < 0)
		return errno;
	if (dup3(fd, log->fd, O_CLOEXEC) < 0)
		error = errno;
	close(fd);
	return error;
}

void triad_agent_log_set_syslog(struct triad_agent_log *log, bool syslog)
{
	/* The journal has these lines already. */
	atomic_store(&log->has_syslog, syslog && !log->in_journal);
}

struct triad_log *triad_agent_log(struct triad_agent_log *log)
{
	return &log->log;
}
