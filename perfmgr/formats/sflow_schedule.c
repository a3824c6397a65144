/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/sflow_schedule.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/grow.h"
#include "lib/search.h"
#include "perfmgr/formats/sflow.h"

#define US_PER_S UINT64_C(1000000)
/* By how many absent ports may outnumber present ones. */
#define MORE_ABSENT 8192

/* The state of an interface. */
struct source {
	uint64_t data;     /* sum of data and waits in the last sample */
	uint32_t errors;   /* sum of errors then, modulo 2^32 */
	uint32_t identity; /* hash of what must not change for counters to go on */
	uint32_t if_index;
	uint32_t sequence; /* of the last sample; 0: none, or counters begin anew */
};

_Static_assert(sizeof(struct source) == 24, "octets a port");

struct absent {
	uint64_t guid;
	struct source source;
	uint32_t since_s;
	uint8_t port;
};

/* Indices are given out in ascending order; after the last one, free ones. */
struct indices {
	uint32_t next;
	uint32_t greatest;
	bool wrapped;
};

struct triad_sflow_schedule {
	uint32_t last_index;
	struct indices indices;
	struct triad_fabric *fabric; /* or NULL */
	struct source *sources;      /* for each of its ports */
	struct absent *absent;       /* sorted by GUID and port */
	uint32_t n_absent;

	/* The pace.  Times are signed, because a round may have begun before the
	 * clock. */
	int64_t interval_us;
	int64_t round_us; /* when the first port of this round is due */
	uint32_t at;      /* the next port; n_ports: the round is through */
	uint64_t begun_us;
	bool measured; /* this round */
	struct triad_sflow_schedule_status status;
};

struct triad_sflow_schedule *triad_sflow_schedule_new(
	uint32_t last_index, uint64_t interval_us)
{
	struct triad_sflow_schedule *schedule = calloc(1, sizeof(*schedule));

	if (!schedule)
		return NULL;
	schedule->last_index = last_index;
	schedule->indices.next = 1;
	schedule->interval_us = (int64_t)interval_us;
	return schedule;
}

void triad_sflow_schedule_free(struct triad_sflow_schedule *schedule)
{
	if (!schedule)
		return;
	triad_fabric_unref(schedule->fabric);
	free(schedule->sources);
	free(schedule->absent);
	free(schedule);
}

/* --- pace --- */

static uint32_t n_ports(const struct triad_sflow_schedule *schedule)
{
	return schedule->fabric ? schedule->fabric->n_ports : 0;
}

/* How long after the round's beginning a port is due. */
static int64_t offset_of(const struct triad_sflow_schedule *schedule, uint32_t port)
{
	/* Less than 2^22 ports, at most 2^40 us. */
	return n_ports(schedule) ? schedule->interval_us * port / n_ports(schedule) : 0;
}

static int64_t due_us(const struct triad_sflow_schedule *schedule)
{
	return schedule->round_us + offset_of(schedule, schedule->at);
}

uint64_t triad_sflow_schedule_next_us(const struct triad_sflow_schedule *schedule)
{
	if (!n_ports(schedule))
		return UINT64_MAX;
	return due_us(schedule) > 0 ? (uint64_t)due_us(schedule) : 0;
}

void triad_sflow_schedule_pause(struct triad_sflow_schedule *schedule)
{
	schedule->measured = false;
}

void triad_sflow_schedule_set_interval(
	struct triad_sflow_schedule *schedule, uint64_t interval_us, uint64_t now_us)
{
	int64_t due = due_us(schedule);

	if (schedule->interval_us == (int64_t)interval_us)
		return;
	/* The next port must not wait longer than the new interval. */
	if (due > (int64_t)now_us + (int64_t)interval_us)
		due = (int64_t)now_us;
	schedule->interval_us = (int64_t)interval_us;
	schedule->round_us = due - offset_of(schedule, schedule->at);
	schedule->measured = false;
}

static void end_round(struct triad_sflow_schedule *schedule, uint64_t now_us)
{
	struct triad_sflow_schedule_status *status = &schedule->status;
	int64_t off;

	status->n_rounds++;
	if (schedule->measured) {
		status->round_us = now_us - schedule->begun_us;
		off = llabs((int64_t)status->round_us - schedule->interval_us);
		if ((uint64_t)off > status->worst_jitter_us)
			status->worst_jitter_us = (uint64_t)off;
	}
	schedule->round_us += schedule->interval_us;
	schedule->at = 0;
	schedule->begun_us = now_us;
	schedule->measured = true;
}

bool triad_sflow_schedule_next(
	struct triad_sflow_schedule *schedule, uint64_t now_us, uint32_t *port)
{
	int64_t now = (int64_t)now_us, late;

	if (!n_ports(schedule) || now < due_us(schedule))
		return false;
	/* A delay too long to catch up moves the whole round. */
	late = now - due_us(schedule) - (int64_t)TRIAD_SFLOW_CATCH_UP_US;
	if (late > 0) {
		schedule->round_us += late;
		schedule->status.slipped_us += (uint64_t)late;
	}
	if (schedule->at == n_ports(schedule))
		end_round(schedule, now_us);
	*port = schedule->at++;
	return true;
}

/* --- a new fabric --- */

/* The sources that are known, in the order of GUID and port: those of the fabric and
 * the absent ones, as one sequence. */
struct known {
	const struct triad_sflow_schedule *schedule;
	uint32_t port, absent; /* how far each of the two is read */
	struct absent at; /* the next; its 'since_s' is 0 when it is in the fabric */
	bool none;
};

/* The sources that result from a new fabric. */
struct merge {
	struct triad_sflow_schedule *schedule;
	struct known known;
	struct indices indices;
	struct source *sources;
	struct absent *absent;
	uint32_t n_absent;
	size_t room;
	uint32_t *used; /* indices, sorted; made when they are needed */
	size_t n_used;
	bool restarted; /* at index 1 */
	uint32_t now_s;
};

static uint64_t guid_of(const struct triad_fabric *fabric, uint32_t port)
{
	return fabric->nodes[fabric->ports[port].node].guid;
}

/* Reads the next source into 'known->at'. */
static void advance(struct known *known)
{
	const struct triad_sflow_schedule *schedule = known->schedule;
	bool has_port = known->port < n_ports(schedule);
	bool has_absent = known->absent < schedule->n_absent;
	const struct absent *absent =
		has_absent ? &schedule->absent[known->absent] : NULL;
	struct absent here = {0};

	known->none = !has_port && !has_absent;
	if (has_port) {
		here.guid = guid_of(schedule->fabric, known->port);
		here.port = schedule->fabric->ports[known->port].number;
		here.source = schedule->sources[known->port];
	}
	if (has_absent &&
		(!has_port ||
			triad_port_order(absent->guid, absent->port, here.guid,
				here.port) < 0)) {
		known->at = *absent;
		known->absent++;
	} else if (has_port) {
		known->at = here;
		known->port++;
	}
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t number_a = *(const uint32_t *)a, number_b = *(const uint32_t *)b;

	return (number_a > number_b) - (number_a < number_b);
}

/* Notes which indices were in use before this merge. */
static int find_used(struct merge *merge)
{
	const struct triad_sflow_schedule *schedule = merge->schedule;
	size_t n = (size_t)n_ports(schedule) + schedule->n_absent;

	merge->used = malloc((n + 1) * sizeof(*merge->used));
	if (!merge->used)
		return ENOMEM;
	for (uint32_t i = 0; i < n_ports(schedule); i++)
		merge->used[merge->n_used++] = schedule->sources[i].if_index;
	for (uint32_t i = 0; i < schedule->n_absent; i++)
		merge->used[merge->n_used++] = schedule->absent[i].source.if_index;
	qsort(merge->used, merge->n_used, sizeof(*merge->used), compare_numbers);
	return 0;
}

static bool is_used(const struct merge *merge, uint32_t index)
{
	return bsearch(
		&index, merge->used, merge->n_used, sizeof(index), compare_numbers);
}

/* Gives the next free index: searches all of them once, from where the last merge
 * ended. */
static int next_free_index(struct merge *merge, uint32_t *index)
{
	uint32_t first = merge->schedule->indices.next;
	struct indices *indices = &merge->indices;

	if (indices->wrapped && !merge->used && find_used(merge))
		return ENOMEM;
	for (;; indices->next++) {
		if (indices->next > merge->schedule->last_index) {
			if (merge->restarted || (!merge->used && find_used(merge)))
				return merge->restarted ? EOVERFLOW : ENOMEM;
			merge->restarted = indices->wrapped = true;
			indices->next = 1;
		}
		/* Once round: all indices are in use. */
		if (merge->restarted && indices->next >= first)
			return EOVERFLOW;
		if (!indices->wrapped || !is_used(merge, indices->next))
			break;
	}
	*index = indices->next++;
	if (*index > indices->greatest)
		indices->greatest = *index;
	return 0;
}

/* The next known source is not in the new fabric. */
static int keep_absent(struct merge *merge)
{
	struct absent *at = &merge->known.at;

	if (!at->since_s)
		at->since_s = merge->now_s;
	if (merge->now_s - at->since_s > TRIAD_ENGINE_KEEP_S)
		return 0;
	if (triad_grow(
		    &merge->absent, &merge->room, merge->n_absent + 1, sizeof(*at), 64))
		return ENOMEM;
	merge->absent[merge->n_absent++] = *at;
	return 0;
}

/* Merges the known sources and the fabric's ports in one walk, as both are sorted. */
static int merge_fabric(struct merge *merge, const struct triad_fabric *fabric)
{
	struct known *known = &merge->known;
	int error = 0;

	advance(known);
	for (uint32_t i = 0; i < fabric->n_ports && !error; i++) {
		uint64_t guid = guid_of(fabric, i);
		uint8_t port = fabric->ports[i].number;

		for (; !error && !known->none &&
			triad_port_order(known->at.guid, known->at.port, guid, port) <
				0;
			advance(known))
			error = keep_absent(merge);
		if (!known->none && known->at.guid == guid && known->at.port == port) {
			merge->sources[i] = known->at.source;
			advance(known);
		} else if (!error) {
			error = next_free_index(merge, &merge->sources[i].if_index);
		}
	}
	for (; !error && !known->none; advance(known))
		error = keep_absent(merge);
	return error;
}

/* Index of the first port of 'fabric' that is not before the one due next. */
static uint32_t find_next_port(
	const struct triad_sflow_schedule *schedule, const struct triad_fabric *fabric)
{
	const struct triad_fabric *old = schedule->fabric;
	uint32_t at;

	if (!old || !schedule->at)
		return 0;
	if (schedule->at >= old->n_ports)
		return fabric->n_ports;
	TRIAD_SEARCH(at, 0, fabric->n_ports,
		triad_port_order(guid_of(fabric, at), fabric->ports[at].number,
			guid_of(old, schedule->at),
			old->ports[schedule->at].number) < 0);
	return at;
}

static void adopt_sources(
	struct merge *merge, struct triad_fabric *fabric, uint64_t now_us)
{
	struct triad_sflow_schedule *schedule = merge->schedule;
	bool goes_on = n_ports(schedule);
	int64_t due = goes_on ? due_us(schedule) : (int64_t)now_us;
	uint32_t at = find_next_port(schedule, fabric);

	/* Too many are absent: forget their indices. */
	if (merge->n_absent > fabric->n_ports + MORE_ABSENT)
		merge->n_absent = 0;
	free(schedule->sources);
	free(schedule->absent);
	triad_fabric_unref(schedule->fabric);
	schedule->sources = merge->sources;
	schedule->absent = merge->absent;
	schedule->n_absent = merge->n_absent;
	schedule->indices = merge->indices;
	schedule->fabric = triad_fabric_ref(fabric);
	schedule->at = at;
	/* The next port stays due at the same time, wherever it stands now. */
	schedule->round_us = due - offset_of(schedule, at);
	if (!goes_on) {
		schedule->begun_us = now_us;
		schedule->measured = true;
	}
}

int triad_sflow_schedule_adopt(struct triad_sflow_schedule *schedule,
	struct triad_fabric *fabric, uint64_t now_us)
{
	struct merge merge = {.schedule = schedule,
		.known = {.schedule = schedule},
		.indices = schedule->indices,
		.now_s = (uint32_t)(now_us / US_PER_S) + 1};
	int error = ENOMEM;

	if (fabric == schedule->fabric)
		return 0;
	merge.sources = calloc((size_t)fabric->n_ports + 1, sizeof(*merge.sources));
	if (merge.sources)
		error = merge_fabric(&merge, fabric);
	free(merge.used);
	if (error) {
		free(merge.sources);
		free(merge.absent);
		return error;
	}
	adopt_sources(&merge, fabric, now_us);
	return 0;
}

/* --- samples --- */

static uint32_t identity_of(const struct triad_engine_row *row)
{
	/* Mixed, not stored: a change is missed once in 2^32 times.  PortXmitWait that is
	 * not known for a while goes on afterwards. */
	uint64_t all = (row->zeroed_us / US_PER_S) << TRIAD_N_COUNTERS | row->has |
		row->forgotten;

	return (uint32_t)(all * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

uint32_t triad_sflow_schedule_count(struct triad_sflow_schedule *schedule,
	uint32_t port, const struct triad_engine_row *row, uint32_t *if_index)
{
	struct source *source = &schedule->sources[port];
	uint32_t identity = identity_of(row), errors = 0;
	uint64_t data = 0;

	for (unsigned i = 0; i < TRIAD_PORT_XMIT_WAIT; i++)
		errors += (uint32_t)row->total[i];
	for (unsigned i = TRIAD_PORT_XMIT_WAIT; i < TRIAD_N_COUNTERS; i++)
		data += row->total[i];
	/* A restarted sequence shows the collector that the counters restarted. */
	if (identity != source->identity || (int32_t)(errors - source->errors) < 0 ||
		(int64_t)(data - source->data) < 0)
		source->sequence = 0;
	source->identity = identity;
	source->errors = errors;
	source->data = data;
	*if_index = source->if_index;
	return ++source->sequence;
}

bool triad_sflow_schedule_is_expanded(const struct triad_sflow_schedule *schedule)
{
	return schedule->indices.greatest > TRIAD_SFLOW_MAX_COMPACT_INDEX;
}

struct triad_sflow_schedule_status triad_sflow_schedule_status(
	const struct triad_sflow_schedule *schedule)
{
	struct triad_sflow_schedule_status status = schedule->status;

	status.n_ports = n_ports(schedule);
	status.n_absent = schedule->n_absent;
	status.octets = sizeof(*schedule) +
		(size_t)status.n_ports * sizeof(*schedule->sources) +
		(size_t)status.n_absent * sizeof(*schedule->absent);
	return status;
}

uint32_t triad_sflow_schedule_if_index(
	const struct triad_sflow_schedule *schedule, uint32_t port)
{
	return schedule->sources[port].if_index;
}
