/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "qos/request.h"

#include <string.h>

#include <glib.h>

#include "ib/rates.h"
#include "triad/wire.h"

/* Component mask bits of one attribute; MTU, rate and lifetime need two each. */
struct components {
	uint8_t service_id[2];
	uint8_t raw, tclass, reversible, n_paths, pkey, qos_class, sl;
	uint8_t mtu, rate, life; /* bit of the selector; the next one is the value's */
};

static const struct components of_path = {
	.service_id = {0, 1},
	.raw = 6,
	.tclass = 10,
	.reversible = 11,
	.n_paths = 12,
	.pkey = 13,
	.qos_class = 14,
	.sl = 15,
	.mtu = 16,
	.rate = 18,
	.life = 20,
};

static const struct components of_multipath = {
	.service_id = {16, 21},
	.raw = 0,
	.tclass = 4,
	.reversible = 5,
	.n_paths = 6,
	.pkey = 7,
	.qos_class = 8,
	.sl = 9,
	.mtu = 10,
	.rate = 12,
	.life = 14,
};

#define BIT_SOURCES 19
#define BIT_DESTINATIONS 20

static bool is_set(uint64_t mask, unsigned bit)
{
	return mask >> bit & 1;
}

/* Whether selector and value are both set: one alone is no condition. */
static bool are_set(uint64_t mask, unsigned first)
{
	return is_set(mask, first) && is_set(mask, first + 1);
}

static unsigned read_mask(uint64_t mask, const struct components *at)
{
	return (is_set(mask, at->raw) ? TRIAD_HAS_RAW : 0) |
		(is_set(mask, at->tclass) ? TRIAD_HAS_TCLASS : 0) |
		(is_set(mask, at->reversible) ? TRIAD_HAS_REVERSIBLE : 0) |
		(is_set(mask, at->n_paths) ? TRIAD_HAS_N_PATHS : 0) |
		(is_set(mask, at->pkey) ? TRIAD_HAS_PKEY : 0) |
		(is_set(mask, at->qos_class) ? TRIAD_HAS_QOS_CLASS : 0) |
		(is_set(mask, at->sl) ? TRIAD_HAS_SL : 0) |
		(are_set(mask, at->mtu) ? TRIAD_HAS_MTU : 0) |
		(are_set(mask, at->rate) ? TRIAD_HAS_RATE : 0) |
		(are_set(mask, at->life) ? TRIAD_HAS_LIFE : 0);
}

/* Reads what both attributes have in common, from the flow label to the lifetime. */
static void read_common(struct triad_wire *w, struct triad_path_request *request)
{
	uint32_t hop_flow_raw = triad_wire_get32(w);
	uint8_t octet;
	uint16_t word;

	request->raw = hop_flow_raw >> 31;
	request->tclass = triad_wire_get8(w);
	octet = triad_wire_get8(w);
	request->reversible = octet >> 7;
	request->n_paths = octet & 0x7f;
	request->pkey = triad_wire_get16(w);
	word = triad_wire_get16(w);
	request->qos_class = word >> 4;
	request->sl = word & 0xf;
	octet = triad_wire_get8(w);
	request->mtu_selector = octet >> 6;
	request->mtu = octet & 0x3f;
	octet = triad_wire_get8(w);
	request->rate_selector = octet >> 6;
	request->rate = octet & 0x3f;
	octet = triad_wire_get8(w);
	request->life_selector = octet >> 6;
	request->life = octet & 0x3f;
}

/* Sets TRIAD_HAS_SERVICE_ID; returns an error for half a Service-ID. */
static enum triad_sa_status mark_service_id(
	uint64_t mask, const uint8_t bits[2], struct triad_path_request *request)
{
	bool first = is_set(mask, bits[0]), second = is_set(mask, bits[1]);

	/* The Service-ID has two bits because it lies in two places of a
	 * MultiPathRecord.  One bit alone names half of it. */
	if (first != second)
		return TRIAD_SA_INSUFFICIENT_COMPONENTS;
	if (first)
		request->has |= TRIAD_HAS_SERVICE_ID;
	return TRIAD_SA_OK;
}

/* Does the checks that do not need the fabric. */
static enum triad_sa_status check(const struct triad_path_request *request)
{
	if (request->has & TRIAD_HAS_RATE &&
		(request->rate < TRIAD_RATE_MIN || request->rate > request->max_rate))
		return TRIAD_SA_REQUEST_INVALID;
	if (request->has & TRIAD_HAS_MTU &&
		(request->mtu < TRIAD_MTU_MIN || request->mtu > TRIAD_MTU_MAX))
		return TRIAD_SA_REQUEST_INVALID;
	return TRIAD_SA_OK;
}

static struct triad_gid read_gid(struct triad_wire *w)
{
	struct triad_gid gid = {.prefix = triad_wire_get64(w)};

	gid.guid = triad_wire_get64(w);
	return gid;
}

enum triad_sa_status triad_path_request_read(const uint8_t *record, uint64_t mask,
	bool get, uint8_t max_rate, struct triad_path_request *request)
{
	struct triad_wire w;
	struct triad_gid dgid;
	enum triad_sa_status status;

	triad_wire_init(&w, (void *)record, TRIAD_PATH_RECORD_SIZE);
	*request = (struct triad_path_request){.one = get, .max_rate = max_rate};
	request->has = read_mask(mask, &of_path) |
		(is_set(mask, 2) ? TRIAD_HAS_DGID : 0) |
		(is_set(mask, 3) ? TRIAD_HAS_SGID : 0) |
		(is_set(mask, 4) ? TRIAD_HAS_DLID : 0) |
		(is_set(mask, 5) ? TRIAD_HAS_SLID : 0);
	request->service_id = triad_wire_get64(&w);
	/* The DGID comes first on the wire, but sources come first in 'gids'.  Fill
	 * both even if the request names only one GID: 'has' shows which are valid. */
	dgid = read_gid(&w);
	request->gids[0] = read_gid(&w);
	request->gids[1] = dgid;
	request->n_sources = !!(request->has & TRIAD_HAS_SGID);
	request->n_destinations = !!(request->has & TRIAD_HAS_DGID);
	request->dlid = triad_wire_get16(&w);
	request->slid = triad_wire_get16(&w);
	read_common(&w, request);
	status = check(request);
	return status ? status : mark_service_id(mask, of_path.service_id, request);
}

enum triad_sa_status triad_multipath_request_read(const uint8_t *record, size_t size,
	uint64_t mask, uint8_t max_rate, struct triad_path_request *request)
{
	struct triad_wire w;
	enum triad_sa_status status;
	unsigned n;

	triad_wire_init(&w, (void *)record, size);
	*request = (struct triad_path_request){.multi = true, .max_rate = max_rate};
	request->has = read_mask(mask, &of_multipath);
	read_common(&w, request);
	/* The Service-ID is in two parts: 8 bits before the counts, 56 behind them. */
	request->service_id = (uint64_t)triad_wire_get8(&w) << 56;
	(void)triad_wire_get8(&w); /* independence */
	request->n_sources = triad_wire_get8(&w);
	request->n_destinations = triad_wire_get8(&w);
	request->service_id |= triad_wire_get(&w, 7);
	if (w.failed)
		return TRIAD_SA_REQUEST_INVALID;
	if (!is_set(mask, BIT_SOURCES) || !is_set(mask, BIT_DESTINATIONS))
		return TRIAD_SA_INSUFFICIENT_COMPONENTS;
	status = check(request);
	if (!status)
		status = mark_service_id(mask, of_multipath.service_id, request);
	if (status)
		return status;
	/* Don't trust the client's counts: ignore GIDs beyond the number that OpenSM
	 * takes; GIDs past the end make the request invalid. */
	n = MIN(request->n_sources, TRIAD_MULTIPATH_MAX_GIDS);
	request->n_sources = (uint8_t)n;
	request->n_destinations =
		(uint8_t)MIN(request->n_destinations, TRIAD_MULTIPATH_MAX_GIDS - n);
	for (unsigned i = 0; i < n + request->n_destinations; i++)
		request->gids[i] = read_gid(&w);
	return w.failed ? TRIAD_SA_REQUEST_INVALID : TRIAD_SA_OK;
}

static void write_gid(struct triad_wire *w, const struct triad_gid *gid)
{
	triad_wire_put(w, 8, gid->prefix);
	triad_wire_put(w, 8, gid->guid);
}

void triad_path_record_write(const struct triad_path_record *path, uint8_t *record)
{
	const uint8_t exactly = TRIAD_SELECT_EXACTLY << 6;
	struct triad_wire w;

	memset(record, 0, TRIAD_PATH_RECORD_SIZE);
	triad_wire_init(&w, record, TRIAD_PATH_RECORD_SIZE);
	triad_wire_seek(&w, 8); /* the Service-ID stays 0 */
	write_gid(&w, &path->dgid);
	write_gid(&w, &path->sgid);
	triad_wire_put(&w, 2, path->dlid);
	triad_wire_put(&w, 2, path->slid);
	triad_wire_put(&w, 4, 0); /* raw, flow label, hop limit */
	triad_wire_put(&w, 1, path->tclass);
	triad_wire_put(&w, 1, path->reversible ? 0x80 : 0);
	triad_wire_put(&w, 2, path->pkey);
	triad_wire_put(&w, 2, path->sl); /* the QoS class above it stays 0 */
	triad_wire_put(&w, 1, path->mtu | exactly);
	triad_wire_put(&w, 1, path->rate | exactly);
	triad_wire_put(&w, 1, path->life | exactly);
	triad_wire_put(&w, 1, path->preference);
}

void triad_path_record_read(const uint8_t *record, struct triad_path_record *path)
{
	struct triad_path_request as_request;
	struct triad_wire w;

	triad_wire_init(&w, (void *)record, TRIAD_PATH_RECORD_SIZE);
	triad_wire_seek(&w, 8);
	path->dgid = read_gid(&w);
	path->sgid = read_gid(&w);
	path->dlid = triad_wire_get16(&w);
	path->slid = triad_wire_get16(&w);
	/* An answer has its values at the same places as a request.  Drop its
	 * selectors, which are "exactly". */
	read_common(&w, &as_request);
	path->tclass = as_request.tclass;
	path->reversible = as_request.reversible;
	path->pkey = as_request.pkey;
	path->sl = as_request.sl;
	path->mtu = as_request.mtu;
	path->rate = as_request.rate;
	path->life = as_request.life;
	path->preference = triad_wire_get8(&w);
	path->links = 0;
}
