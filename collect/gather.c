/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/gather.h"

#include <string.h>

#include "collect/varint.h"

#define ALL_COUNTERS ((1u << TRIAD_N_COUNTERS) - 1)
#define MAX_JOINED 8u

void triad_gather_init(struct triad_gather *gather, uint64_t request, uint32_t counters)
{
	*gather = (struct triad_gather){
		.request = request, .counters = counters & ALL_COUNTERS};
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_histogram_init(&gather->histograms[i], TRIAD_HISTOGRAM_MOST);
}

void triad_gather_clear(struct triad_gather *gather)
{
	for (unsigned i = 0; i < TRIAD_N_COUNTERS; i++)
		triad_histogram_clear(&gather->histograms[i]);
}

bool triad_gather_add(struct triad_gather *gather, unsigned counter,
	const struct triad_histogram *histogram, uint64_t n_zeros)
{
	if (!triad_histogram_merge(&gather->histograms[counter], histogram))
		return false;
	gather->n_zeros[counter] += n_zeros;
	return true;
}

/* --- histograms as octets --- */

void triad_gather_put_piece(struct triad_wire *w, unsigned counter,
	const struct triad_histogram *histogram, uint64_t n_zeros)
{
	triad_wire_put(w, 1, counter);
	triad_varint_put(w, n_zeros);
	triad_wire_put(w, 1, histogram->joined);
	triad_wire_put(w, 1, histogram->first);
	triad_wire_put(w, 1, histogram->n);
	for (unsigned i = 0; i < histogram->n; i++)
		triad_varint_put(w, histogram->counts[i]);
}

bool triad_gather_get_piece(struct triad_wire *w, struct triad_gather_piece *piece)
{
	struct triad_histogram *histogram = &piece->histogram;
	unsigned places;

	piece->counter = triad_wire_get8(w);
	piece->n_zeros = triad_varint_get(w);
	*histogram = (struct triad_histogram){
		.most = TRIAD_HISTOGRAM_MOST, .counts = piece->counts};
	histogram->joined = triad_wire_get8(w);
	histogram->first = triad_wire_get8(w);
	histogram->n = histogram->room = triad_wire_get8(w);
	if (w->failed || piece->counter >= TRIAD_N_COUNTERS ||
		histogram->joined > MAX_JOINED)
		return false;
	places = ((TRIAD_HISTOGRAM_MOST - 1) >> histogram->joined) + 1;
	/* A histogram with joined buckets has fewer places: check the last bucket. */
	if (histogram->n > TRIAD_HISTOGRAM_MOST ||
		histogram->first + histogram->n > places)
		return false;
	for (unsigned i = 0; i < histogram->n; i++)
		piece->counts[i] = triad_varint_get(w);
	return !w->failed;
}

/* --- answers --- */

static void put_counter(
	struct triad_wire *w, const struct triad_gather *gather, unsigned counter)
{
	triad_gather_put_piece(
		w, counter, &gather->histograms[counter], gather->n_zeros[counter]);
}

size_t triad_gather_put(const struct triad_gather *gather,
	const struct triad_collect_head *head, uint8_t *to)
{
	struct triad_wire w;

	triad_wire_init(&w, to, TRIAD_GATHER_MESSAGE_SIZE);
	triad_collect_put_head(&w, head);
	triad_wire_put(&w, 8, gather->request);
	triad_wire_put(&w, 2, gather->n_agents);
	triad_wire_put(&w, 2, gather->n_asked);
	for (uint32_t left = gather->counters; left; left &= left - 1)
		put_counter(&w, gather, (unsigned)__builtin_ctz(left));
	return w.failed ? 0 : w.at;
}

bool triad_gather_take(struct triad_gather *gather, const struct triad_wire *body)
{
	struct triad_wire w = *body;
	uint64_t request = triad_wire_get64(&w);
	unsigned n_agents = triad_wire_get16(&w), n_asked = triad_wire_get16(&w);
	struct triad_wire checked = w;
	struct triad_gather_piece piece;

	if (w.failed || request != gather->request || n_agents > n_asked)
		return false;
	/* Check the whole message first, so that a bad one adds nothing. */
	while (checked.at < checked.size)
		if (!triad_gather_get_piece(&checked, &piece))
			return false;
	while (w.at < w.size) {
		triad_gather_get_piece(&w, &piece);
		if (!triad_gather_add(
			    gather, piece.counter, &piece.histogram, piece.n_zeros))
			return false;
	}
	gather->n_agents += n_agents;
	gather->n_asked += n_asked;
	return true;
}

/* --- requests --- */

size_t triad_gather_put_request(const struct triad_gather_request *request,
	const struct triad_collect_head *head, uint8_t *to)
{
	size_t length = strlen(request->group);
	struct triad_wire w;

	triad_wire_init(&w, to, TRIAD_GATHER_MESSAGE_SIZE);
	triad_collect_put_head(&w, head);
	triad_wire_put(&w, 8, request->request);
	triad_wire_put(&w, 1, request->scope.of);
	triad_wire_put(&w, 1, length);
	triad_wire_put_octets(&w, request->group, length);
	triad_wire_put(&w, 8, request->scope.node_guid);
	triad_wire_put(&w, 1, request->scope.port);
	triad_wire_put(&w, 3, request->counters);
	triad_wire_put(&w, 2, request->wait_ms);
	return w.failed ? 0 : w.at;
}

bool triad_gather_get_request(
	struct triad_wire *body, struct triad_gather_request *request)
{
	size_t length;
	const uint8_t *text;
	unsigned of;

	*request = (struct triad_gather_request){.request = triad_wire_get64(body)};
	of = triad_wire_get8(body);
	length = triad_wire_get8(body);
	text = triad_wire_take(body, length);
	if (!text || length >= sizeof(request->group) || of > TRIAD_HISTOGRAMS_OF_PORT)
		return false;
	memcpy(request->group, text, length);
	request->scope.of = of;
	request->scope.node_guid = triad_wire_get64(body);
	request->scope.port = triad_wire_get8(body);
	request->counters = (uint32_t)triad_wire_get(body, 3) & ALL_COUNTERS;
	request->wait_ms = triad_wire_get16(body);
	return !body->failed;
}
