/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/syslog_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1200

/* Without strftime(), whose names of months depend on the locale. */
static size_t format_line(char line[LINE_SIZE], enum triad_log_level level,
	const char *who, const char *text)
{
	static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
		"Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	static const int severities[] = {
		[TRIAD_LOG_ERROR] = LOG_ERR,
		[TRIAD_LOG_WARNING] = LOG_WARNING,
		[TRIAD_LOG_INFO] = LOG_INFO,
		[TRIAD_LOG_VERBOSE] = LOG_INFO,
		[TRIAD_LOG_DEBUG] = LOG_DEBUG,
	};
	time_t now = time(NULL);
	struct tm date;

	localtime_r(&now, &date);
	snprintf(line, LINE_SIZE, "<%d>%s %2d %02d:%02d:%02d %.48s[%d]: %.32s: %s",
		LOG_DAEMON | severities[level], months[date.tm_mon], date.tm_mday,
		date.tm_hour, date.tm_min, date.tm_sec, program_invocation_short_name,
		(int)getpid(), who, text);
	return strlen(line);
}

static int connect_to(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool triad_syslog_send(
	const char *path, enum triad_log_level level, const char *who, const char *text)
{
	char line[LINE_SIZE];
	size_t size = format_line(line, level, who, text);
	int fd = connect_to(path, SOCK_DGRAM);
	ssize_t sent;

	/* Few daemons listen for streams, in which a NUL ends each line. */
	if (fd < 0 && errno == EPROTOTYPE) {
		fd = connect_to(path, SOCK_STREAM);
		size++;
	}
	if (fd < 0)
		return false;
	sent = send(fd, line, size, MSG_NOSIGNAL);
	close(fd);
	return sent == (ssize_t)size;
}
