/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lab/umad_port.h"

int lab_file_open(struct lab_port *port, int flags, struct lab_file **opened)
{
	struct lab_file *file = calloc(1, sizeof(*file));
	int fd, kind = 0;

	if (!file)
		return -1;
	if (flags & O_NONBLOCK)
		kind |= EFD_NONBLOCK;
	if (flags & O_CLOEXEC)
		kind |= EFD_CLOEXEC;
	fd = eventfd(0, kind);
	file->event_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (file->event_fd < 0) {
		if (fd >= 0)
			syscall(SYS_close, fd);
		free(file);
		return -1;
	}
	file->port = port;
	pthread_mutex_init(&file->lock, NULL);
	file->last = &file->first;
	*opened = file;
	return fd;
}

size_t lab_file_header_size(const struct lab_file *file)
{
	return file->has_pkey_header ? sizeof(struct ib_user_mad_hdr)
				     : sizeof(struct ib_user_mad_hdr_old);
}

/* Calls the kernel: this library replaces read() and write(). */
static void signal_event(const struct lab_file *file)
{
	const uint64_t one = 1;

	(void)!syscall(SYS_write, file->event_fd, &one, sizeof(one));
}

static void clear_event(const struct lab_file *file)
{
	uint64_t count;

	(void)!syscall(SYS_read, file->event_fd, &count, sizeof(count));
}

bool lab_file_put(struct lab_file *file, struct lab_message *message)
{
	bool has_room;

	pthread_mutex_lock(&file->lock);
	has_room = file->n < LAB_FILE_QUEUE;
	if (has_room) {
		message->next = NULL;
		*file->last = message;
		file->last = &message->next;
		if (file->n++ == 0)
			signal_event(file);
	}
	pthread_mutex_unlock(&file->lock);
	if (!has_room)
		free(message);
	return has_room;
}

/* Takes the first message out of the queue. */
static void remove_first(struct lab_file *file)
{
	struct lab_message *message = file->first;

	file->first = message->next;
	if (!file->first)
		file->last = &file->first;
	if (--file->n == 0)
		clear_event(file);
	free(message);
}

void lab_file_shut(struct lab_file *file)
{
	pthread_mutex_lock(&file->lock);
	while (file->first)
		remove_first(file);
	syscall(SYS_close, file->event_fd);
	file->event_fd = -1;
	pthread_mutex_unlock(&file->lock);
}

/* --- reading --- */

/* Copies a message into the program's buffer.  Returns its size, or the kernel's error
 * for a buffer that is too small. */
static ssize_t copy_out(const struct lab_file *file, const struct lab_message *message,
	uint8_t *buffer, size_t room)
{
	size_t header_size = lab_file_header_size(file);
	size_t first_size = message->size < LAB_MAD_SIZE ? message->size : LAB_MAD_SIZE;

	if (room < header_size + first_size)
		return -EINVAL;
	memcpy(buffer, &message->header, header_size);
	if (room < header_size + message->size) {
		memcpy(buffer + header_size, message->octets, first_size);
		return -ENOSPC;
	}
	memcpy(buffer + header_size, message->octets, message->size);
	return (ssize_t)(header_size + message->size);
}

static ssize_t take_first(struct lab_file *file, void *buffer, size_t room)
{
	ssize_t result = -EAGAIN;

	pthread_mutex_lock(&file->lock);
	if (file->first)
		result = copy_out(file, file->first, buffer, room);
	if (result >= 0)
		remove_first(file);
	pthread_mutex_unlock(&file->lock);
	return result;
}

/* Waits until there is a message; -1 with errno if the descriptor is non-blocking. */
static int wait_for_message(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
		errno = EAGAIN;
		return -1;
	}
	return poll(&polled, 1, -1);
}

ssize_t lab_file_read(struct lab_file *file, int fd, void *buffer, size_t room)
{
	ssize_t result = -EINVAL;

	if (file->port->is_dead)
		result = -ENODEV;
	else if (room >= lab_file_header_size(file))
		while ((result = take_first(file, buffer, room)) == -EAGAIN)
			if (wait_for_message(fd) < 0)
				return -1;
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}
