/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/change_filter.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "perfmgr/engine.h"

#define FIRST_ROWS 1024u

/* All zeros: nothing was reported.  There is no node with GUID 0. */
struct reported {
	uint64_t node_guid;
	uint64_t xmit_words, rcv_words, wait_ticks;
	uint32_t watched;
	float pace_words, pace_ticks;
	uint32_t number; /* of the report */
	uint8_t port;
};

_Static_assert(sizeof(struct reported) <= 56, "no more than is needed");

struct triad_change_filter {
	struct reported *reported;
	size_t n;
	uint32_t number;
};

struct triad_change_filter *triad_change_filter_new(void)
{
	return calloc(1, sizeof(struct triad_change_filter));
}

void triad_change_filter_free(struct triad_change_filter *filter)
{
	if (!filter)
		return;
	free(filter->reported);
	free(filter);
}

/* Doubles the room, so that a fabric found port by port is copied seldom. */
static int make_room_for_row(struct triad_change_filter *filter, uint32_t row)
{
	size_t n = filter->n;

	if (row < n)
		return 0;
	if (row >= TRIAD_ENGINE_MAX_ROWS)
		return EOVERFLOW;
	if (triad_grow(&filter->reported, &filter->n, row + 1,
		    sizeof(*filter->reported), FIRST_ROWS))
		return ENOMEM;
	memset(filter->reported + n, 0, (filter->n - n) * sizeof(*filter->reported));
	return 0;
}

static bool is_change_due(const struct reported *reported,
	const struct triad_change_filter_port *port, uint64_t min_change_words)
{
	uint64_t xmit, rcv;

	/* The row is another port's, something watched changed, or totals went back:
	 * due, whatever the amount. */
	if (reported->node_guid != port->node_guid || reported->port != port->port ||
		reported->watched != port->watched ||
		port->xmit_words < reported->xmit_words ||
		port->rcv_words < reported->rcv_words ||
		port->wait_ticks < reported->wait_ticks)
		return true;
	xmit = port->xmit_words - reported->xmit_words;
	rcv = port->rcv_words - reported->rcv_words;
	if (port->wait_ticks - reported->wait_ticks > min_change_words ||
		fabsf(port->pace_words - reported->pace_words) >
			(float)min_change_words ||
		fabsf(port->pace_ticks - reported->pace_ticks) >
			(float)min_change_words)
		return true;
	/* Not xmit + rcv, which may be over 64 bits. */
	return xmit > min_change_words || rcv > min_change_words - xmit;
}

int triad_change_filter_check(struct triad_change_filter *filter, uint32_t row,
	const struct triad_change_filter_port *port, uint64_t min_change_words,
	bool *due)
{
	int error = make_room_for_row(filter, row);
	struct reported *reported;

	*due = true;
	if (error)
		return error;
	reported = &filter->reported[row];
	*due = is_change_due(reported, port, min_change_words);
	if (*due)
		*reported = (struct reported){
			.node_guid = port->node_guid,
			.xmit_words = port->xmit_words,
			.rcv_words = port->rcv_words,
			.wait_ticks = port->wait_ticks,
			.watched = port->watched,
			.pace_words = port->pace_words,
			.pace_ticks = port->pace_ticks,
			.number = filter->number,
			.port = port->port,
		};
	return 0;
}

void triad_change_filter_begin(struct triad_change_filter *filter, uint32_t number)
{
	filter->number = number;
}

void triad_change_filter_forget_row(struct triad_change_filter *filter, uint32_t row)
{
	if (row < filter->n)
		filter->reported[row] = (struct reported){0};
}

void triad_change_filter_forget_from(
	struct triad_change_filter *filter, uint32_t number)
{
	for (uint32_t i = 0; i < filter->n; i++)
		if (filter->reported[i].number >= number)
			filter->reported[i] = (struct reported){0};
}

void triad_change_filter_forget(struct triad_change_filter *filter)
{
	if (filter->n)
		memset(filter->reported, 0, filter->n * sizeof(*filter->reported));
}
