/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Callbacks that answer a server's requests.
 *
 * Model: a request begins an answer, which belongs to the handler.  The server asks
 * repeatedly whether it is ready; meanwhile the connection is suspended, and no thread
 * waits for it.  Then the server takes the head, and the body piece by piece, as fast
 * as the client reads.  When an answer has nothing at the moment, the server asks again
 * after triad_http_wake(), and twice a second anyhow.
 *
 *     begin -> is_ready ... -> head -> read, is_ready, read ... -> end
 *
 * The server always calls 'end', possibly at any time: a client may go, and the server
 * may stop.
 *
 * Thread-safety: the server's thread calls all callbacks.  They must not block, nor
 * take a lock that the caller of triad_http_configure() holds.  While one configuration
 * follows another, there are two such threads for a moment, each with answers of its
 * own.
 * Memory: the handler's; what a head points to is read until 'end'. */
#ifndef TRIAD_PERFMGR_EXPORT_HTTP_HANDLER_H
#define TRIAD_PERFMGR_EXPORT_HTTP_HANDLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRIAD_HTTP_MAX_FIELDS 16
#define TRIAD_HTTP_NETWORK_SIZE 16

/* Results of read() other than a number of octets; 0 means "nothing yet". */
#define TRIAD_HTTP_END (-1)
#define TRIAD_HTTP_BROKEN (-2) /* the connection is cut, so that the client knows */

/* Borrowed for the call of begin(). */
struct triad_http_request {
	const char *target; /* path and query as they were sent, still escaped */
	bool has_body;
	/* The client's network: IPv4 mapped into IPv6; of IPv6 the upper 64 bits. */
	uint8_t network[TRIAD_HTTP_NETWORK_SIZE];
	/* Values of headers; NULL: not there. */
	const char *host, *accept, *accept_encoding, *if_none_match, *last_event_id,
		*sec_fetch_site;
	/* A token or TLS keeps out a page whose own name leads here (DNS rebinding). */
	bool is_protected;
	const char *names; /* of this host, as triad_host_names_check() takes them */
	/* Calls 'take' with each argument of the query, not escaped any more, until it
	 * returns false. */
	void (*each_argument)(const struct triad_http_request *request,
		bool (*take)(void *context, const char *name, const char *value),
		void *context);
	void *connection; /* for that */
};

struct triad_http_head {
	unsigned code;
	uint64_t size;   /* of the body; UINT64_MAX: not known */
	bool is_endless; /* a stream, which is not cut for its age */
	unsigned n_fields;
	struct {
		const char *name, *value;
	} fields[TRIAD_HTTP_MAX_FIELDS];
};

struct triad_http_handler {
	void *context;
	/* Whether clients without a token may have the target, too. */
	bool (*is_open)(void *context, const char *target);
	/* NULL: memory is short. */
	void *(*begin)(void *context, const struct triad_http_request *request);
	/* Whether the head is ready; later, whether read() has octets or is at its
	 * end. */
	bool (*is_ready)(void *context, void *answer);
	void (*head)(void *context, void *answer, struct triad_http_head *head);
	/* At most 'size' octets. */
	ssize_t (*read)(void *context, void *answer, char *buffer, size_t size);
	void (*end)(void *context, void *answer);
};

#endif
