/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket's protocol, version 1.
 *
 * A UNIX stream socket; one request a connection.  The client sends one frame of
 * type TRIAD_FRAME_REQUEST; at triadd's socket some requests are followed by OUTPUT
 * frames of at most TRIAD_UPLOAD_SIZE octets, and an empty one.  The plugin answers with any number of OUTPUT, TABLE,
 * MESSAGE and PROGRESS frames, then one EXIT frame, and closes.  A connection that ends
 * without an EXIT frame was cut.
 *
 * A frame is an 8-octet header, then 'size' octets:
 *     octet 0     type
 *     octet 1     protocol version (1)
 *     octets 2-3  0
 *     octets 4-7  size of what follows, big-endian
 *
 *     REQUEST   the words of the command, each followed by a 0 octet: "perf" 0
 *               "show" 0 "--json" 0.  At most TRIAD_CONTROL_REQUEST_SIZE octets
 *               and TRIAD_CONTROL_MAX_WORDS words.
 *     OUTPUT    text for standard output, at most TRIAD_CONTROL_REPLY_SIZE octets
 *     TABLE     records of a table for standard output, at most as much: triad/table.h;
 *               only to a request with '--table'
 *     MESSAGE   text for standard error, at most as much
 *     PROGRESS  one line, without newline, that replaces the one before it
 *     EXIT      one octet: 0 done, 1 failed, 2 usage, 3 done and something to do */
#ifndef TRIAD_CONTROL_H
#define TRIAD_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#define TRIAD_CONTROL_VERSION 1
#define TRIAD_CONTROL_REQUEST_SIZE 4096
#define TRIAD_CONTROL_REPLY_SIZE 65536 /* of one frame, at most */
#define TRIAD_CONTROL_MAX_WORDS 32
#define TRIAD_UPLOAD_SIZE 8192

/* The result in an EXIT frame, which is also triadctl's exit status. */
enum {
	TRIAD_CONTROL_DONE = 0,
	TRIAD_CONTROL_FAILED = 1,
	TRIAD_CONTROL_USAGE = 2,
	TRIAD_CONTROL_TO_DO = 3,   /* a plan that would change something */
	TRIAD_CONTROL_UNKNOWN = 3, /* a verdict that can't be given */
	/* At triadd's socket alone: FAILED, as no node or port has the name asked for. */
	TRIAD_CONTROL_NO_OBJECT = 4,
};

enum triad_frame_type {
	TRIAD_FRAME_REQUEST = 'R',
	TRIAD_FRAME_OUTPUT = 'O',
	TRIAD_FRAME_TABLE = 'T',
	TRIAD_FRAME_MESSAGE = 'E',
	TRIAD_FRAME_PROGRESS = 'P',
	TRIAD_FRAME_EXIT = 'X',
};

#define TRIAD_FRAME_HEADER_SIZE 8

struct triad_frame {
	uint8_t type;
	uint32_t size;
};

/* Writes a header.  'header' has TRIAD_FRAME_HEADER_SIZE octets. */
void triad_frame_encode(uint8_t *header, enum triad_frame_type type, uint32_t size);

/* Reads a header.  Returns 0, EPROTO (reserved octets set, unknown type),
 * EPROTONOSUPPORT (another version) or EMSGSIZE (size over the type's limit, an
 * EXIT frame's other than 1); on error '*frame' is untouched. */
int triad_frame_decode(const uint8_t *header, struct triad_frame *frame);

/* Packs words into a request's payload.  Returns its size, or 0 when they do not
 * fit (too many, too long). */
size_t triad_request_encode(
	char *payload, size_t size, int n_words, const char *const *words);

/* Splits a request's payload in place.  'words' has room for
 * TRIAD_CONTROL_MAX_WORDS + 1 and is NULL-terminated; the words point into
 * 'payload'.  Returns 0 and '*n_words' >= 0, EINVAL (last word not terminated) or
 * E2BIG. */
int triad_request_decode(char *payload, size_t size, char **words, int *n_words);

#endif
