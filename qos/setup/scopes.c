/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/setup/setup.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"
#include "qos/setup/setup_parts.h"

/* --- life --- */

struct triad_scopes *triad_scopes_new(struct triad_setup *setup)
{
	struct triad_scopes *scopes = calloc(1, sizeof(*scopes));
	bool has_changed;

	if (!scopes)
		return NULL;
	scopes->setup = triad_setup_ref(setup);
	if (!triad_scopes_make_classes(scopes) &&
		!triad_scopes_use_partitions(scopes, NULL, 0, &has_changed))
		return scopes;
	triad_scopes_free(scopes);
	return NULL;
}

void triad_scopes_free(struct triad_scopes *scopes)
{
	if (!scopes)
		return;
	triad_scopes_clear_classes(scopes);
	triad_segments_clear(&scopes->pkeys);
	free(scopes->partitions);
	triad_setup_unref(scopes->setup);
	free(scopes);
}

const struct triad_setup *triad_scopes_setup(const struct triad_scopes *scopes)
{
	return scopes->setup;
}

int triad_scopes_set_partitions(struct triad_scopes *scopes,
	const struct triad_fabric_partition *partitions, uint32_t n)
{
	bool had_error = scopes->error != 0, has_changed;
	int error = triad_scopes_use_partitions(scopes, partitions, n, &has_changed);

	if (error)
		return error;
	/* Classes that failed for lack of memory may succeed now. */
	if (has_changed || had_error)
		triad_scopes_forget_classes(scopes);
	scopes->error = 0;
	return 0;
}

int triad_scopes_error(const struct triad_scopes *scopes)
{
	return scopes->error;
}

/* --- which scopes fit --- */

/* The scopes of one kind that the ends of a link fit: sets of bits. */
struct view {
	const uint64_t *own, *linked, *linked_from, *to, *from;
};

static struct view look_up_end(const struct triad_scopes *scopes,
	const struct triad_setup_kind *kind, const struct triad_scopes_end *end)
{
	const uint64_t *remote = triad_scopes_record(scopes, end->remote);

	return (struct view){
		.own = triad_scopes_record(scopes, end->own) + kind->own,
		.linked = remote + kind->linked,
		.linked_from = remote + kind->linked_from,
		.to = kind->to + (size_t)end->number * kind->n_words,
		.from = kind->from + (size_t)end->number * kind->n_words,
	};
}

/* Word 'i' of the scopes that take the port as out-port. */
static inline uint64_t fit_out(
	const struct triad_setup_kind *kind, const struct view *port, uint32_t i)
{
	return (port->own[i] | port->linked[i] | kind->any_out[i]) & port->to[i];
}

/* Word 'i' of the scopes that take the port as in-port. */
static inline uint64_t fit_in(
	const struct triad_setup_kind *kind, const struct view *port, uint32_t i)
{
	return (port->linked_from[i] | kind->any_in[i]) & port->from[i];
}

/* The highest scope in word 'i'. */
static inline uint16_t last_of(uint64_t word, uint32_t i)
{
	return (uint16_t)(i * 64 + 63 - (unsigned)__builtin_clzll(word));
}

uint16_t triad_scopes_vlarb(
	struct triad_scopes *scopes, const struct triad_scopes_end *out)
{
	const struct triad_setup_kind *kind = &scopes->setup->vlarb;
	struct view view = look_up_end(scopes, kind, out);

	/* From the highest scope down: the last one of the file that fits applies. */
	for (uint32_t i = kind->n_words; i--;) {
		uint64_t fit = fit_out(kind, &view, i);

		if (fit)
			return last_of(fit, i);
	}
	return TRIAD_SCOPE_NONE;
}

uint16_t triad_scopes_endport_sl2vl(
	struct triad_scopes *scopes, const struct triad_scopes_end *port)
{
	const struct triad_setup_kind *kind = &scopes->setup->sl2vl;
	struct view view = look_up_end(scopes, kind, port);

	for (uint32_t i = kind->n_words; i--;) {
		/* There is no in-port: ignore 'from'; 'across-from' can't hold. */
		uint64_t fit = fit_out(kind, &view, i) & kind->any_in[i];

		if (fit)
			return last_of(fit, i);
	}
	return TRIAD_SCOPE_NONE;
}

/* --- switches --- */

/* Whether two in-ports are of one kind: the same scopes take them. */
static bool are_alike(
	const struct triad_setup_kind *kind, const struct view *a, const struct view *b)
{
	for (uint32_t i = 0; i < kind->n_words; i++)
		if (fit_in(kind, a, i) != fit_in(kind, b, i))
			return false;
	return true;
}

static uint64_t hash_in(const struct triad_setup_kind *kind, const struct view *port)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < kind->n_words; i++)
		hash = triad_hash_word(hash, fit_in(kind, port, i));
	return hash;
}

void triad_scopes_sort_ports(struct triad_scopes *scopes,
	const struct triad_scopes_end *ports, unsigned n,
	struct triad_scopes_switch *to)
{
	const struct triad_setup_kind *kind = &scopes->setup->sl2vl;
	struct view views[TRIAD_SCOPES_MAX_PORTS]; /* of the first of each kind */
	uint64_t hashes[TRIAD_SCOPES_MAX_PORTS];

	to->n_kinds = 0;
	for (unsigned place = 0; place < n && place < TRIAD_SCOPES_MAX_PORTS; place++) {
		struct view view = look_up_end(scopes, kind, &ports[place]);
		uint64_t hash = hash_in(kind, &view);
		unsigned i = 0;

		/* A list suffices, as kinds are few; hashes save most comparisons. */
		while (i < to->n_kinds &&
			(hashes[i] != hash || !are_alike(kind, &views[i], &view)))
			i++;
		if (i == to->n_kinds) {
			hashes[i] = hash;
			views[i] = view;
			to->first[to->n_kinds++] = (uint8_t)place;
		}
		to->kind[place] = (uint8_t)i;
	}
}

void triad_scopes_sl2vl_row(struct triad_scopes *scopes,
	const struct triad_scopes_end *ports, const struct triad_scopes_switch *kinds,
	const struct triad_scopes_end *out, uint16_t *row)
{
	const struct triad_setup_kind *kind = &scopes->setup->sl2vl;
	struct view view = look_up_end(scopes, kind, out);
	uint64_t fits[TRIAD_SETUP_MAX_WORDS];
	uint32_t n = kind->n_words;

	/* Compute the out-port's part once for all in-ports.  Skip words at the end in
	 * which no scope fits it. */
	for (uint32_t i = 0; i < n; i++)
		fits[i] = fit_out(kind, &view, i);
	while (n && !fits[n - 1])
		n--;
	for (unsigned k = 0; k < kinds->n_kinds; k++) {
		struct view in = look_up_end(scopes, kind, &ports[kinds->first[k]]);

		row[k] = TRIAD_SCOPE_NONE;
		for (uint32_t i = n; i-- && row[k] == TRIAD_SCOPE_NONE;) {
			uint64_t fit = fits[i] & fit_in(kind, &in, i);

			if (fit)
				row[k] = last_of(fit, i);
		}
	}
}
