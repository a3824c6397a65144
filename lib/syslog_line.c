/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/syslog_line.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_SIZE 1024
#define WAIT_MS 10

/* What precedes the text.  Without strftime(), whose names of months depend on the
 * locale. */
static size_t format_head(
	char line[LINE_SIZE], enum triad_log_level level, const char *tag)
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
	snprintf(line, LINE_SIZE,
		"<%d>%s %2d %02d:%02d:%02d %.32s[%d]: ", LOG_DAEMON | severities[level],
		months[date.tm_mon], date.tm_mday, date.tm_hour, date.tm_min,
		date.tm_sec, tag, (int)getpid());
	return strlen(line);
}

/* Returns -1 with errno if nobody listens there, or with another type. */
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

static bool send_line(const char *path, const char *line, int wait_ms)
{
	struct pollfd polled = {.events = POLLOUT};
	size_t size = strlen(line);
	ssize_t sent;

	polled.fd = connect_to(path, SOCK_DGRAM);
	/* Few daemons listen for streams, in which a NUL ends each line. */
	if (polled.fd < 0 && errno == EPROTOTYPE) {
		polled.fd = connect_to(path, SOCK_STREAM);
		size++;
	}
	if (polled.fd < 0)
		return false;
	sent = send(polled.fd, line, size, MSG_NOSIGNAL);
	if (sent < 0 && errno == EAGAIN && poll(&polled, 1, wait_ms) > 0)
		sent = send(polled.fd, line, size, MSG_NOSIGNAL);
	close(polled.fd);
	return sent == (ssize_t)size;
}

bool triad_syslog_send(struct triad_syslog *syslog, enum triad_log_level level,
	const char *format, ...)
{
	char line[LINE_SIZE];
	size_t head = format_head(line, level, syslog->tag);
	unsigned n_lost = atomic_exchange(&syslog->n_lost, 0);
	bool is_sent;
	va_list arguments;

	if (n_lost)
		head += (size_t)snprintf(line + head, sizeof(line) - head,
			"(%u earlier lines are lost: syslog did not take them) ",
			n_lost);
	va_start(arguments, format);
	vsnprintf(line + head, sizeof(line) - head, format, arguments);
	va_end(arguments);
	is_sent = send_line(syslog->path, line, n_lost ? 0 : WAIT_MS);
	if (!is_sent)
		atomic_fetch_add(&syslog->n_lost, n_lost + 1);
	return is_sent;
}
