/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which originals there are to be replaced: read from what a bundle has.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_BUNDLE_NAMES_H
#define TRIAD_CLI_BUNDLE_NAMES_H

#include "cli/anonym.h"
#include "cli/json_rows.h"

enum triad_bundle_form {
	TRIAD_BUNDLE_FORM_OTHER,  /* nothing is read from it */
	TRIAD_BUNDLE_FORM_DB_CSV, /* nodes with their kinds: to be read first */
	TRIAD_BUNDLE_FORM_JSON,   /* an answer of triadctl */
	TRIAD_BUNDLE_FORM_CONF, /* lines that begin with a key, which is everybody's */
	TRIAD_BUNDLE_FORM_NODE_MAP, /* OpenSM's node-name map */
};

struct triad_bundle_names {
	struct triad_anonym *anonym; /* borrowed */
	enum triad_bundle_form form;
	struct triad_json_rows rows;
	GString *line;
	bool is_in_nodes; /* of DB_CSV: in that section */
};

void triad_bundle_names_begin(struct triad_bundle_names *names,
	struct triad_anonym *anonym, enum triad_bundle_form form);
void triad_bundle_names_take(
	struct triad_bundle_names *names, const char *piece, size_t size);
void triad_bundle_names_end(struct triad_bundle_names *names);

/* Of this host and of who is logged in. */
void triad_bundle_names_of_host(struct triad_anonym *anonym);

#endif
