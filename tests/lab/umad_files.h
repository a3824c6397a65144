/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Open files of /dev/infiniband/umad0: the program's descriptor, and the queue of the
 * messages that arrived.
 *
 * Model: a file is an eventfd and a queue of messages in memory; a message is the
 * kernel's header and a MAD, or more octets by RMPP.  The program's descriptor is the
 * eventfd, so that poll(), select(), epoll and flags work on it without further code;
 * this library replaces read().  As in the kernel, read() leaves a message that is
 * larger than the buffer in the queue, copies its beginning and returns ENOSPC.
 *
 * Invariants: the eventfd's count is 1 while the queue has a message, else 0.
 * 'event_fd' is this library's own descriptor of the eventfd: the number of the
 * program's may already belong to another file when a message arrives.  A file's memory
 * is never freed, because a reader may be waiting in it.
 *
 * Thread-safety: all functions; the port's lock excludes lab_file_put() and
 * lab_file_shut() at the same time. */
#ifndef LAB_UMAD_FILES_H
#define LAB_UMAD_FILES_H

#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/lab/umad_mad.h"

#define LAB_MAX_AGENTS 32u

/* Messages that wait for a program that doesn't read; further ones are dropped. */
#define LAB_FILE_QUEUE 16384u

struct lab_agent;
struct lab_port;

struct lab_message {
	struct lab_message *next;
	struct ib_user_mad_hdr header;
	size_t size; /* without the header */
	uint8_t octets[];
};

struct lab_file {
	struct lab_port *port;
	unsigned n_planes, plane; /* of the port; this file's, 0: not a plane's */
	struct lab_agent *agents[LAB_MAX_AGENTS]; /* guarded by the port's lock */
	bool has_pkey_header, was_used;

	pthread_mutex_t lock;
	int event_fd;
	struct lab_message *first, **last;
	unsigned n;
};

/* Makes a file and the program's descriptor; 'flags' are those of open().  Returns the
 * descriptor or -1 with errno. */
int lab_file_open(struct lab_port *port, int flags, struct lab_file **file);

/* Queues a message and takes ownership of it; false when the queue is full. */
bool lab_file_put(struct lab_file *file, struct lab_message *message);

/* Drops the queued messages; no message may be queued afterwards. */
void lab_file_shut(struct lab_file *file);

/* The size of the kernel's header in the variant that the program requested. */
size_t lab_file_header_size(const struct lab_file *file);

/* The program's read() from its descriptor 'fd'. */
ssize_t lab_file_read(struct lab_file *file, int fd, void *buffer, size_t size);

#endif
