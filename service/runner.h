/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Callbacks by which the control socket and the console run commands: so these two need
 * not know the commands.
 *
 * Thread-safety: any thread, several at once. */
#ifndef TRIAD_SERVICE_RUNNER_H
#define TRIAD_SERVICE_RUNNER_H

#include "service/peer.h"
#include "triad/output.h"

/* Who typed a command, and how. */
struct triad_asker {
	const char *prefix;   /* what was typed before the words, for help texts */
	enum triad_role role; /* of service/peer.h */
	const char *name;     /* "user 1000", for messages */
	/* Waits until 'until_us' (monotonic) for what the asker sends after its words: at
	 * most TRIAD_UPLOAD_SIZE octets, or none: that was all.  Returns 0, or an errno:
	 * no more comes.  NULL: an asker that sends nothing. */
	int (*receive)(const struct triad_asker *asker, void *octets, size_t *size,
		uint64_t until_us);
	/* Waits for so long; false, and at once: the asker has gone.  NULL: it stays. */
	bool (*wait)(const struct triad_asker *asker, unsigned wait_ms);
	void *context; /* of receive() and wait() */
};

struct triad_runner {
	void *context;
	/* What a user may do, as it is configured now. */
	enum triad_role (*role)(void *context, const struct triad_peer *peer);
	/* Returns an exit status. */
	int (*run)(void *context, const struct triad_asker *asker, int n_words,
		const char *const *words, struct triad_output *output);
};

#endif
