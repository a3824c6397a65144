/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Open files of /dev/infiniband/umad0: what a program has in its hand, and how what
 * arrived gets there.
 *
 * Model: a file is a queue of messages (the kernel's header, and a MAD or, by RMPP,
 * more) in memory and an eventfd, its bell.  The program's descriptor is the bell, so
 * that poll(), select(), epoll and flags work on it by themselves; read() is ours.  As
 * the kernel does, it leaves a message that is larger than the reader's buffer where it
 * is, hands out the beginning and ENOSPC.
 *
 * Invariants: the bell's count is 1 while the queue has a message, else 0.  'bell' is a
 * descriptor of our own for it, so that its number is not somebody else's by the time
 * we ring.  A file's memory is never freed: a reader may be waiting in it.
 *
 * Thread-safety: all functions, but for lab_file_put() and lab_file_shut() at the same
 * time, which the port's lock excludes. */
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

/* So many messages wait for a program that does not read; what is beyond is dropped. */
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
	struct lab_agent *agents[LAB_MAX_AGENTS]; /* under the port's lock */
	bool has_pkey_header, was_used;

	pthread_mutex_t lock;
	int bell;
	struct lab_message *first, **last;
	unsigned n;
};

/* Makes a file, with the descriptor for the program; 'flags' are those of open().
 * Returns the descriptor or -1 with errno. */
int lab_file_open(struct lab_port *port, int flags, struct lab_file **file);

/* Queues a message, which it takes; false when the queue is full. */
bool lab_file_put(struct lab_file *file, struct lab_message *message);

/* Drops what is in the queue; nothing is to be put there any more. */
void lab_file_shut(struct lab_file *file);

/* The size of the header that the program asked for. */
size_t lab_file_header_size(const struct lab_file *file);

/* read() of the program, whose descriptor is 'fd'. */
ssize_t lab_file_read(struct lab_file *file, int fd, void *buffer, size_t size);

#endif
