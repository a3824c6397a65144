/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/mad_requests.h"

#include <stdlib.h>

#include "triad/mad.h"
#include "triad/wire.h"

#define FIRST_SLOTS 16u
/* The table grows when more than 1/PARTS of it is taken: then so many draws find a free
 * slot, and do so quickly. */
#define PARTS 4u
#define DRAWS 32u

/* In any MAD [IBA 13.4.2]. */
enum {
	AT_CLASS = 1,
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_TID = 12, /* its low half */
	AT_ATTRIBUTE = 16,
	AT_MODIFIER = 20,
	HEADER_SIZE = 24,
};
enum { RESPONSE = 0x80, CLASS_DIRECTED = 0x81, CLASS_PORT_INFO = 0x0001 };
#define STATUS_REDIRECT 0x0002

struct request {
	uint32_t tid; /* as it is sent */
	uint32_t caller_tid;
	uint32_t modifier;
	uint32_t number; /* of the table's requests; 0: the slot is free */
	uint16_t lid, attribute;
	uint8_t mgmt_class, method;
};

struct triad_mad_requests {
	uint64_t (*draw)(void);
	struct request *slots;
	uint32_t n_slots; /* a power of 2 */
	uint32_t n_taken;
	uint32_t last_number;
};

struct triad_mad_requests *triad_mad_requests_new(uint64_t (*draw)(void))
{
	struct triad_mad_requests *requests = calloc(1, sizeof(*requests));

	if (!requests)
		return NULL;
	requests->draw = draw;
	requests->n_slots = FIRST_SLOTS;
	requests->slots = calloc(FIRST_SLOTS, sizeof(*requests->slots));
	if (requests->slots)
		return requests;
	free(requests);
	return NULL;
}

void triad_mad_requests_free(struct triad_mad_requests *requests)
{
	if (!requests)
		return;
	free(requests->slots);
	free(requests);
}

static struct request *slot_of(const struct triad_mad_requests *requests, uint32_t tid)
{
	return &requests->slots[tid & (requests->n_slots - 1)];
}

/* Doubles the table, if it may and can: one more bit of an ID decides, so no two requests
 * meet. */
static void grow(struct triad_mad_requests *requests)
{
	uint32_t n_old = requests->n_slots;
	struct request *old = requests->slots, *slots;

	if (n_old == TRIAD_MAD_REQUESTS_MAX)
		return;
	slots = calloc(2 * (size_t)n_old, sizeof(*slots));
	if (!slots)
		return;
	requests->slots = slots;
	requests->n_slots = 2 * n_old;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].number)
			*slot_of(requests, old[i].tid) = old[i];
	free(old);
}

/* Draws an ID whose slot is free, or else the one whose request is the oldest. */
static uint32_t draw_tid(const struct triad_mad_requests *requests, bool *is_free)
{
	uint32_t best = 0, oldest = 0;

	for (unsigned i = 0; i < DRAWS; i++) {
		uint32_t tid = (uint32_t)requests->draw();
		const struct request *slot = slot_of(requests, tid);
		uint32_t age = requests->last_number - slot->number;

		*is_free = !slot->number;
		if (*is_free)
			return tid;
		if (!i || age > oldest) {
			best = tid;
			oldest = age;
		}
	}
	return best;
}

void triad_mad_requests_add(
	struct triad_mad_requests *requests, uint8_t *mad, uint16_t lid)
{
	bool is_free;
	struct triad_wire w;
	uint32_t tid;

	if (requests->n_taken >= requests->n_slots / PARTS)
		grow(requests);
	tid = draw_tid(requests, &is_free);
	requests->n_taken += is_free;
	/* 0 is a free slot. */
	if (!++requests->last_number)
		requests->last_number = 1;
	*slot_of(requests, tid) = (struct request){
		.tid = tid,
		.caller_tid = (uint32_t)triad_wire_number(mad, AT_TID, 4),
		.modifier = (uint32_t)triad_wire_number(mad, AT_MODIFIER, 4),
		.number = requests->last_number,
		.lid = lid,
		.attribute = (uint16_t)triad_wire_number(mad, AT_ATTRIBUTE, 2),
		.mgmt_class = mad[AT_CLASS],
		.method = mad[AT_METHOD],
	};
	triad_wire_init(&w, mad + AT_TID, 4);
	triad_wire_put(&w, 4, tid);
}

static struct request *find(
	const struct triad_mad_requests *requests, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)triad_wire_number(mad, AT_TID, 4);
	struct request *slot = slot_of(requests, tid);

	return slot->number && slot->tid == tid ? slot : NULL;
}

static void release(struct triad_mad_requests *requests, struct request *request)
{
	request->number = 0;
	requests->n_taken--;
}

void triad_mad_requests_remove(struct triad_mad_requests *requests, const uint8_t *mad)
{
	struct request *request = find(requests, mad);

	if (request)
		release(requests, request);
}

/* Some agents report an error of other methods by GetResp. */
static bool is_method_of(const struct request *request, uint8_t method)
{
	if (method == TRIAD_MAD_METHOD_GET_RESPONSE)
		return true;
	return request->method != TRIAD_MAD_METHOD_SET &&
		method == (request->method | RESPONSE);
}

static bool is_attribute_of(const struct request *request, const uint8_t *mad)
{
	uint16_t attribute = (uint16_t)triad_wire_number(mad, AT_ATTRIBUTE, 2);

	if (triad_wire_number(mad, AT_STATUS, 2) & STATUS_REDIRECT &&
		attribute == CLASS_PORT_INFO)
		return true;
	return attribute == request->attribute &&
		triad_wire_number(mad, AT_MODIFIER, 4) == request->modifier;
}

static bool is_reply_to(const struct request *request, const uint8_t *mad, uint16_t lid)
{
	return mad[AT_CLASS] == request->mgmt_class &&
		(request->mgmt_class == CLASS_DIRECTED || lid == request->lid) &&
		is_method_of(request, mad[AT_METHOD]) && is_attribute_of(request, mad);
}

static void give_tid_back(const struct request *request, uint8_t *mad)
{
	struct triad_wire w;

	triad_wire_init(&w, mad + AT_TID, 4);
	triad_wire_put(&w, 4, request->caller_tid);
}

bool triad_mad_requests_take(struct triad_mad_requests *requests, uint8_t *mad,
	size_t size, uint16_t lid, bool has_failed)
{
	struct request *request = size < HEADER_SIZE ? NULL : find(requests, mad);

	if (!request || (!has_failed && !is_reply_to(request, mad, lid)))
		return false;
	release(requests, request);
	give_tid_back(request, mad);
	return true;
}

bool triad_mad_requests_is_from_elsewhere(
	const struct triad_mad_requests *requests, uint8_t *mad, size_t size)
{
	const struct request *request = size < HEADER_SIZE ? NULL : find(requests, mad);

	if (!request || request->mgmt_class != TRIAD_MAD_CLASS_PERFORMANCE ||
		!is_reply_to(request, mad, request->lid))
		return false;
	give_tid_back(request, mad);
	return true;
}
