/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "congestion/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "congestion/estimate.h"
#include "congestion/roots.h"
#include "lib/grow.h"
#include "lib/search.h"
#include "routes/tree.h"

/* The number of rounds; the more pairs, the fewer. */
#define MAX_ROUNDS 100u
#define MIN_ROUNDS 20u
#define MAX_STEPS (1u << 23)
#define N_SHARPENED 3u
#define SHARPER 1.3
#define KEPT 0.95
/* A link counts as idle below NOTHING of its rate.  An old pair starts with at least
 * LEAST of what a new one would get. */
#define NOTHING 0.003f
#define LEAST 1e-3
/* A host's rate has changed when it differs by this share of the greater one. */
#define CHANGED 0.5f
#define MAX_PATH 16u

void triad_congestion_matrix_clear(struct triad_congestion_matrix *matrix)
{
	free(matrix->pairs);
	free(matrix->paths);
	free(matrix->sent);
	free(matrix->changes);
	*matrix = (struct triad_congestion_matrix){0};
}

/* --- pairs that may send --- */

struct learner {
	const struct triad_congestion_turns *turns;
	const struct triad_congestion_load *loads;
	struct triad_congestion_matrix *made;
	size_t pairs_room, paths_room;
	uint8_t *column;
	double *sums; /* of each port: the sum of its pairs, then the factor to fit it */
};

static bool carries(const struct learner *learner, uint32_t port)
{
	return learner->loads[port].sent > NOTHING;
}

static double bps_of(const struct learner *learner, uint32_t port)
{
	return triad_congestion_sent_bps(
		learner->turns->layout->fabric, learner->loads, port);
}

/* Returns 0, ENOMEM or E2BIG. */
static int add_pair(struct learner *learner, const struct triad_congestion_pair *pair)
{
	struct triad_congestion_matrix *made = learner->made;

	if (made->n_pairs == TRIAD_CONGESTION_MAX_PAIRS)
		return E2BIG;
	if (triad_grow(&made->pairs, &learner->pairs_room, made->n_pairs + 1,
		    sizeof(*made->pairs), 1024))
		return ENOMEM;
	made->pairs[made->n_pairs++] = *pair;
	return 0;
}

/* Finds the links of the path from a host to a goal.  Returns their number; 0 if the
 * path does not arrive or one of its links is idle. */
static uint32_t find_path(const struct learner *learner, uint32_t host,
	const struct triad_routes_goal *goal, uint32_t path[MAX_PATH])
{
	const struct triad_routes_layout *layout = learner->turns->layout;
	uint32_t sw = layout->hosts[host].sw, n = 0;

	path[n++] = layout->hosts[host].port;
	while (n < MAX_PATH) {
		uint8_t out = learner->column[sw];
		const struct triad_routes_link *link =
			triad_routes_link(layout, sw, out);
		uint32_t port = link
			? learner->turns->ports[layout->switches[sw].first_link + out]
			: TRIAD_FABRIC_NONE;

		if (port == TRIAD_FABRIC_NONE || !carries(learner, port))
			return 0;
		path[n++] = port;
		if (triad_routes_arrives(goal, link, sw))
			return n;
		if (link->kind != TRIAD_ROUTES_TO_SWITCH)
			return 0;
		sw = link->to;
	}
	return 0;
}

static int add_path(struct learner *learner, uint32_t host, uint32_t goal)
{
	struct triad_congestion_matrix *made = learner->made;
	struct triad_congestion_pair pair = {
		.host = host, .goal = goal, .first = made->n_path_links};
	uint32_t path[MAX_PATH];

	pair.n = find_path(learner, host, &learner->turns->layout->goals[goal], path);
	if (!pair.n)
		return 0;
	if (triad_grow(&made->paths, &learner->paths_room, made->n_path_links + pair.n,
		    sizeof(*made->paths), 1024))
		return ENOMEM;
	memcpy(made->paths + made->n_path_links, path, pair.n * sizeof(*path));
	made->n_path_links += pair.n;
	return add_pair(learner, &pair);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct triad_congestion_pair *one = a, *other = b;

	if (one->host != other->host)
		return one->host < other->host ? -1 : 1;
	return one->goal < other->goal ? -1 : one->goal > other->goal;
}

static void sort_pairs(struct triad_congestion_matrix *matrix)
{
	if (matrix->n_pairs)
		qsort(matrix->pairs, matrix->n_pairs, sizeof(*matrix->pairs),
			compare_pairs);
}

/* Adds all pairs of hosts whose path has no idle link. */
static int add_paths(struct learner *learner)
{
	const struct triad_routes_layout *layout = learner->turns->layout;
	int error = 0;

	for (uint32_t i = 0; !error && i < layout->n_goals; i++) {
		uint32_t to = layout->goals[i].host;
		uint32_t last = to == TRIAD_FABRIC_NONE
			? TRIAD_FABRIC_NONE
			: layout->fabric->ports[layout->hosts[to].port].remote;

		if (last == TRIAD_FABRIC_NONE || !carries(learner, last))
			continue;
		triad_routes_columns(layout, i, 1, learner->column);
		for (uint32_t host = 0; !error && host < layout->n_hosts; host++)
			if (host != to && carries(learner, layout->hosts[host].port))
				error = add_path(learner, host, i);
	}
	sort_pairs(learner->made);
	return error;
}

/* --- the prior --- */

/* Sets the prior: the known sum for old pairs; for new ones a value from the hosts'
 * sent and received traffic. */
static void set_prior(
	struct learner *learner, const struct triad_congestion_matrix *old)
{
	struct triad_congestion_matrix *made = learner->made;
	const struct triad_routes_layout *layout = learner->turns->layout;
	double all_bps = 1;
	uint32_t k = 0;

	for (uint32_t i = 0; i < layout->n_hosts; i++)
		all_bps += bps_of(learner, layout->hosts[i].port);
	for (uint32_t i = 0; i < made->n_pairs; i++) {
		struct triad_congestion_pair *pair = &made->pairs[i];
		const uint32_t *path = made->paths + pair->first;
		double even = bps_of(learner, path[0]) *
			bps_of(learner, path[pair->n - 1]) / all_bps;

		while (k < old->n_pairs && compare_pairs(&old->pairs[k], pair) < 0)
			k++;
		pair->bps = even;
		if (k == old->n_pairs || compare_pairs(&old->pairs[k], pair))
			continue;
		pair->prior_sum = old->pairs[k].prior_sum;
		pair->bps = fmax(pair->prior_sum, LEAST * even);
	}
}

/* Keeps pairs that sent before but are silent now, if there is room. */
static int keep_silent(
	struct learner *learner, const struct triad_congestion_matrix *old)
{
	struct triad_congestion_matrix *made = learner->made;
	uint32_t k = 0, n = made->n_pairs;
	int error = 0;

	for (uint32_t i = 0; !error && i < old->n_pairs; i++) {
		struct triad_congestion_pair silent = old->pairs[i];

		while (k < n && compare_pairs(&made->pairs[k], &silent) < 0)
			k++;
		if ((k < n && !compare_pairs(&made->pairs[k], &silent)) ||
			silent.prior_sum < 1e6)
			continue;
		silent.first = silent.n = 0;
		silent.bps = 0;
		silent.prior_sum *= KEPT;
		error = add_pair(learner, &silent);
	}
	sort_pairs(made);
	return error == E2BIG ? 0 : error;
}

/* --- fitting --- */

/* Scales each pair by the geometric mean of the factors that its links need. */
static void fit(struct learner *learner)
{
	struct triad_congestion_matrix *made = learner->made;
	uint32_t n_ports = learner->turns->layout->fabric->n_ports;
	double *sums = learner->sums;
	uint32_t n_rounds = made->n_path_links ? MAX_STEPS / made->n_path_links : 0;

	n_rounds = n_rounds > MAX_ROUNDS ? MAX_ROUNDS
		: n_rounds < MIN_ROUNDS  ? MIN_ROUNDS
					 : n_rounds;
	for (uint32_t round = 0; round < n_rounds; round++) {
		memset(sums, 0, n_ports * sizeof(*sums));
		for (uint32_t i = 0; i < made->n_pairs; i++)
			for (uint32_t k = 0; k < made->pairs[i].n; k++)
				sums[made->paths[made->pairs[i].first + k]] +=
					made->pairs[i].bps;
		for (uint32_t i = 0; i < n_ports; i++)
			if (sums[i] > 0)
				sums[i] = log(bps_of(learner, i) / sums[i]);
		for (uint32_t i = 0; i < made->n_pairs; i++) {
			struct triad_congestion_pair *pair = &made->pairs[i];
			double sum = 0;

			for (uint32_t k = 0; k < pair->n; k++)
				sum += sums[made->paths[pair->first + k]];
			pair->bps *= exp(sum / pair->n);
		}
	}
}

static void fit_all(struct learner *learner)
{
	struct triad_congestion_matrix *made = learner->made;

	fit(learner);
	/* Favour large pairs over small ones, then fit again. */
	for (unsigned i = 0; i < N_SHARPENED; i++) {
		for (uint32_t k = 0; k < made->n_pairs; k++)
			made->pairs[k].bps =
				1e9 * pow(made->pairs[k].bps / 1e9, SHARPER);
		fit(learner);
	}
	for (uint32_t i = 0; i < made->n_pairs; i++)
		made->pairs[i].prior_sum =
			KEPT * made->pairs[i].prior_sum + made->pairs[i].bps;
}

/* --- hosts --- */

static int note_changes(
	struct learner *learner, const struct triad_congestion_matrix *old)
{
	const struct triad_routes_layout *layout = learner->turns->layout;
	struct triad_congestion_matrix *made = learner->made;

	made->n_hosts = layout->n_hosts;
	made->sent = calloc(layout->n_hosts + 1u, sizeof(*made->sent));
	made->changes = calloc(layout->n_hosts + 1u, sizeof(*made->changes));
	if (!made->sent || !made->changes)
		return ENOMEM;
	for (uint32_t i = 0; i < layout->n_hosts; i++) {
		float sent = learner->loads[layout->hosts[i].port].sent;
		float before = i < old->n_hosts ? old->sent[i] : 0;

		made->sent[i] = sent > NOTHING ? sent : 0;
		if (i < old->n_hosts)
			made->changes[i] = (float)KEPT * old->changes[i] +
				(float)(fabsf(made->sent[i] - before) >
					CHANGED * fmaxf(made->sent[i], before));
	}
	return 0;
}

int triad_congestion_matrix_learn(struct triad_congestion_matrix *matrix,
	const struct triad_congestion_turns *turns,
	const struct triad_congestion_load *loads)
{
	struct triad_congestion_matrix made = {.n_sweeps = matrix->n_sweeps + 1};
	struct learner learner = {.turns = turns, .loads = loads, .made = &made};
	int error = note_changes(&learner, matrix);

	learner.sums =
		calloc(turns->layout->fabric->n_ports + 1u, sizeof(*learner.sums));
	learner.column = malloc(turns->layout->n_switches + 1u);
	if (!learner.sums || !learner.column)
		error = ENOMEM;
	if (!error)
		error = add_paths(&learner);
	if (!error) {
		set_prior(&learner, matrix);
		fit_all(&learner);
		error = keep_silent(&learner, matrix);
	}
	free(learner.sums);
	free(learner.column);
	triad_congestion_matrix_clear(error ? &made : matrix);
	if (error)
		triad_congestion_matrix_clear(matrix);
	else
		*matrix = made;
	return error;
}

/* --- asking --- */

/* The first pair of 'host', or of the next host that has one. */
static uint32_t first_pair(const struct triad_congestion_matrix *matrix, uint32_t host)
{
	uint32_t at;

	TRIAD_SEARCH(at, 0, matrix->n_pairs, matrix->pairs[at].host < host);
	return at;
}

double triad_congestion_matrix_share(
	const struct triad_congestion_matrix *matrix, uint32_t host, uint32_t port)
{
	double all_bps = 0, over_bps = 0;

	if (matrix->n_sweeps < TRIAD_CONGESTION_MIN_SWEEPS || host >= matrix->n_hosts ||
		matrix->changes[host] < TRIAD_CONGESTION_MIN_CHANGES)
		return NAN;
	for (uint32_t i = first_pair(matrix, host);
		i < matrix->n_pairs && matrix->pairs[i].host == host; i++) {
		const struct triad_congestion_pair *pair = &matrix->pairs[i];

		all_bps += pair->bps;
		for (uint32_t k = 0; k < pair->n; k++)
			if (matrix->paths[pair->first + k] == port)
				over_bps += pair->bps;
	}
	return all_bps > 0 ? over_bps / all_bps : NAN;
}
