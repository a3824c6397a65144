/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/sa.h"

#include <errno.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad_requests.h"
#include "ib/partitions.h"
#include "ib/sa_topology.h"
#include "lib/random_number.h"
#include "service/local_port.h"
#include "service/strangers.h"
#include "ib/sa_mad.h"
#include "triad/clock.h"
#include "triad/mad.h"

enum { RMPP_VERSION = 1 };
enum { AT_METHOD = 3 };

/* Time-out of one try; the kernel makes the second one. */
#define TRY_MS 2000
#define RETRIES 1
/* How often 'is_wanted' is called while a call waits. */
#define SLICE_US (TRIAD_US_PER_S / 4)
/* How long the port's attributes are cached: they are files, and a flood of reports
 * must not have them read each time. */
#define PORT_AGE_US (TRIAD_US_PER_S / 20)

struct triad_sa {
	bool (*is_wanted)(void *context);
	void *context;
	char ca_name[UMAD_CA_NAME_LEN];
	int number; /* of the port */
	int fd;
	int agent;
	uint64_t port_read_us;
	uint16_t sm_lid, pkey_index;
	uint8_t sm_sl;
	uint32_t tid;
	struct triad_mad_requests *requests;
	void *buffer; /* umad header and 'room' octets */
	size_t room;
	size_t size; /* of the MAD in it */
	unsigned missed;
	struct triad_sa_unknown_senders unknown_senders;
	uint16_t pkeys[TRIAD_PKEYS_MAX]; /* the port's, when they were read last */
	unsigned n_pkeys;                /* 0: not read yet */
};

/* --- life --- */

/* Reads the port's attributes anew before sending: its LID or SM may have changed. */
static int read_port(struct triad_sa *sa)
{
	umad_port_t port;

	if (umad_get_port(sa->ca_name, sa->number, &port))
		return ENODEV;
	sa->port_read_us = triad_clock_now_us();
	sa->sm_lid = (uint16_t)port.sm_lid;
	sa->sm_sl = (uint8_t)port.sm_sl;
	sa->pkey_index = triad_local_port_pkey_index(&port);
	umad_release_port(&port);
	return sa->sm_lid ? 0 : ENOTCONN;
}

static int open_sa_port(struct triad_sa *sa, uint64_t port_guid)
{
	long methods[16 / sizeof(long)] = {1L << TRIAD_SA_METHOD_REPORT};
	int error;

	if (umad_init() < 0 ||
		!triad_local_port_find(port_guid, sa->ca_name, &sa->number))
		return ENODEV;
	error = read_port(sa);
	if (error)
		return error;
	sa->fd = umad_open_port(sa->ca_name, sa->number);
	if (sa->fd < 0)
		return errno ? errno : EIO;
	sa->agent = umad_register(
		sa->fd, TRIAD_SA_CLASS, TRIAD_SA_CLASS_VERSION, RMPP_VERSION, methods);
	if (sa->agent < 0)
		return errno ? errno : EPERM;
	/* Not earlier: umad_size() is known after the registration. */
	sa->room = TRIAD_MAD_SIZE;
	sa->buffer = umad_alloc(1, umad_size() + sa->room);
	return sa->buffer ? 0 : ENOMEM;
}

int triad_sa_open(uint64_t port_guid, bool (*is_wanted)(void *context), void *context,
	struct triad_sa **opened)
{
	struct triad_sa *sa = calloc(1, sizeof(*sa));
	int error;

	if (!sa)
		return ENOMEM;
	sa->is_wanted = is_wanted;
	sa->context = context;
	sa->fd = sa->agent = -1;
	sa->requests = triad_mad_requests_new(triad_random_number);
	error = sa->requests ? open_sa_port(sa, port_guid) : ENOMEM;
	if (error) {
		triad_sa_close(sa);
		return error;
	}
	*opened = sa;
	return 0;
}

void triad_sa_close(struct triad_sa *sa)
{
	if (!sa)
		return;
	if (sa->agent >= 0)
		umad_unregister(sa->fd, sa->agent);
	if (sa->fd >= 0)
		umad_close_port(sa->fd);
	umad_free(sa->buffer);
	triad_mad_requests_free(sa->requests);
	free(sa);
}

bool triad_sa_has_other_pkeys(struct triad_sa *sa)
{
	uint16_t pkeys[TRIAD_PKEYS_MAX];
	size_t n = triad_local_port_pkeys_at(
		sa->ca_name, sa->number, pkeys, TRIAD_PKEYS_MAX);
	bool is_other = sa->n_pkeys &&
		(n != sa->n_pkeys || memcmp(sa->pkeys, pkeys, n * sizeof(*pkeys)) != 0);

	/* A table that can't be read counts as unchanged. */
	if (!n)
		return false;
	memcpy(sa->pkeys, pkeys, n * sizeof(*pkeys));
	sa->n_pkeys = (unsigned)n;
	return is_other;
}

/* --- one MAD --- */

static uint8_t *mad_of(const struct triad_sa *sa)
{
	return umad_get_mad(sa->buffer);
}

/* Clears the buffer and returns the place for the next request. */
static uint8_t *clear_mad(struct triad_sa *sa)
{
	memset(sa->buffer, 0, umad_size());
	return mad_of(sa);
}

static int send_to_sm(struct triad_sa *sa)
{
	umad_set_addr(sa->buffer, sa->sm_lid, 1, sa->sm_sl, (int)TRIAD_MAD_GSI_QKEY);
	umad_set_pkey(sa->buffer, sa->pkey_index);
	triad_mad_requests_add(sa->requests, mad_of(sa), sa->sm_lid);
	if (umad_send(sa->fd, sa->agent, sa->buffer, TRIAD_MAD_SIZE, TRY_MS, RETRIES) <
		0) {
		int error = errno ? errno : EIO;

		triad_mad_requests_remove(sa->requests, mad_of(sa));
		return error;
	}
	return 0;
}

/* Makes the buffer large enough for a MAD of 'size' octets. */
static int make_room_for_mad(struct triad_sa *sa, size_t size)
{
	void *larger;

	if (size > TRIAD_SA_MAX_OCTETS)
		return EFBIG;
	larger = umad_alloc(1, umad_size() + size);
	if (!larger)
		return ENOMEM;
	umad_free(sa->buffer);
	sa->buffer = larger;
	sa->room = size;
	return 0;
}

/* Receives the next MAD into the buffer.  Returns 0, EAGAIN or another errno. */
static int receive_mad(struct triad_sa *sa, uint64_t wait_us)
{
	int length = (int)sa->room, result;

	result = umad_poll(sa->fd, (int)(wait_us / TRIAD_US_PER_MS) + 1);
	if (result)
		return result == -ETIMEDOUT || errno == EINTR ? EAGAIN : EIO;
	result = umad_recv(sa->fd, sa->buffer, &length, 0);
	/* The RMPP answer does not fit: the kernel keeps it and returns its length. */
	if (result < 0 && errno == ENOSPC && length > (int)sa->room) {
		int error = make_room_for_mad(sa, (size_t)length);

		if (error)
			return error;
		result = umad_recv(sa->fd, sa->buffer, &length, 0);
	}
	if (result < 0)
		return errno == EINTR || errno == EWOULDBLOCK ? EAGAIN
			: errno                               ? errno
							      : EIO;
	sa->size = length < 0 ? 0 : (size_t)length;
	return 0;
}

/* Whether 'lid' is PortInfo:MasterSMLID of the local port at this moment.  Any node can
 * send a report; and after a hand-over the subscription goes on from another SM's
 * LID. */
static bool is_from_sm(struct triad_sa *sa, uint16_t lid)
{
	if (triad_clock_now_us() - sa->port_read_us >= PORT_AGE_US && read_port(sa))
		return false;
	if (lid == sa->sm_lid)
		return true;
	sa->unknown_senders.n++;
	sa->unknown_senders.last_lid = lid;
	sa->unknown_senders.sm_lid = sa->sm_lid;
	return false;
}

static void acknowledge(struct triad_sa *sa, const ib_mad_addr_t *address)
{
	ib_mad_addr_t from = *address;

	mad_of(sa)[AT_METHOD] = TRIAD_SA_METHOD_REPORT_RESPONSE;
	umad_set_addr(sa->buffer, be16toh(from.lid), (int)be32toh(from.qpn), from.sl,
		(int)TRIAD_MAD_GSI_QKEY);
	umad_set_pkey(sa->buffer, sa->pkey_index);
	/* Ignore an error: without the acknowledgement, the SM sends the report
	 * again. */
	(void)umad_send(sa->fd, sa->agent, sa->buffer, TRIAD_MAD_SIZE, 0, 0);
}

/* Whether the received MAD is a report; '*trap' is 0 if its sender is not the SM.
 * Acknowledges only the SM's reports: others should not cost any more work. */
static bool receive_report(struct triad_sa *sa, uint16_t *trap)
{
	const ib_mad_addr_t *from = umad_get_mad_addr(sa->buffer);

	if (!triad_sa_mad_is_report(mad_of(sa), sa->size, trap))
		return false;
	if (is_from_sm(sa, be16toh(from->lid)))
		acknowledge(sa, from);
	else
		*trap = 0;
	return true;
}

/* Whether the received MAD is the reply to a request of ours, or the report that there is
 * none. */
static bool is_reply(struct triad_sa *sa)
{
	return triad_strangers_keep_out(sa->requests, mad_of(sa), sa->size,
		be16toh(umad_get_mad_addr(sa->buffer)->lid), umad_status(sa->buffer));
}

/* Waits for the answer to the last request.  Returns 0, ETIMEDOUT, EACCES, EPROTO,
 * ECANCELED or another errno. */
static int await_answer(struct triad_sa *sa, uint8_t method, uint64_t wait_us)
{
	uint64_t end_us = triad_clock_now_us() + wait_us, now_us;
	uint16_t trap;

	/* In slices, so that the wait ends when the answer is no longer wanted.
	 * Reports that come meanwhile are acknowledged, and counted as missed. */
	while ((now_us = triad_clock_now_us()) < end_us) {
		uint64_t left_us = end_us - now_us;
		int error = receive_mad(sa, left_us < SLICE_US ? left_us : SLICE_US);

		if (!sa->is_wanted(sa->context))
			return ECANCELED;
		if (error == EAGAIN)
			continue;
		if (error)
			return error;
		if (receive_report(sa, &trap)) {
			sa->missed += triad_sa_trap_is_of_ports(trap);
			continue;
		}
		if (!is_reply(sa))
			continue;
		error = triad_sa_mad_judge(
			mad_of(sa), sa->size, method, sa->tid, umad_status(sa->buffer));
		if (error != EAGAIN)
			return error;
	}
	return ETIMEDOUT;
}

/* --- what is asked --- */

/* Sends the request for a table, and takes the answer. */
static int ask_table(
	struct triad_sa *sa, uint64_t wait_us, struct triad_sa_answer *answer)
{
	int error = send_to_sm(sa);

	if (!error)
		error = await_answer(sa, TRIAD_SA_METHOD_GET_TABLE, wait_us);
	if (error)
		return error;
	*answer = (struct triad_sa_answer){
		.size = sa->size - TRIAD_SA_MAD_DATA,
		.stride = triad_sa_mad_stride(mad_of(sa)),
	};
	answer->mad = malloc(sa->size);
	if (!answer->mad)
		return ENOMEM;
	memcpy(answer->mad, mad_of(sa), sa->size);
	answer->records = answer->mad + TRIAD_SA_MAD_DATA;
	return 0;
}

int triad_sa_get_table(struct triad_sa *sa, uint16_t attribute, uint64_t wait_us,
	struct triad_sa_answer *answer)
{
	triad_sa_mad_request(
		clear_mad(sa), TRIAD_SA_METHOD_GET_TABLE, attribute, ++sa->tid);
	return ask_table(sa, wait_us, answer);
}

/* Asks for port number 0: so OpenSM leaves out the tables of switches' external ports,
 * which are not needed.  Records of other nodes have no port number. */
int triad_sa_get_pkeys(struct triad_sa *sa, uint64_t sm_key, uint64_t wait_us,
	struct triad_sa_answer *answer)
{
	uint8_t *mad = clear_mad(sa);

	triad_sa_mad_request(
		mad, TRIAD_SA_METHOD_GET_TABLE, TRIAD_SA_PKEY_TABLE_RECORD, ++sa->tid);
	triad_sa_mad_trust(mad, sm_key, TRIAD_SA_PKEY_MASK_PORT);
	return ask_table(sa, wait_us, answer);
}

int triad_sa_subscribe(struct triad_sa *sa, uint16_t trap, uint64_t wait_us)
{
	int error;

	triad_sa_mad_inform(clear_mad(sa), trap, ++sa->tid);
	error = send_to_sm(sa);
	return error ? error : await_answer(sa, TRIAD_SA_METHOD_SET, wait_us);
}

int triad_sa_wait_report(struct triad_sa *sa, uint64_t wait_us, uint16_t *trap)
{
	int error = receive_mad(sa, wait_us);

	if (error)
		return error;
	if (receive_report(sa, trap))
		return *trap ? 0 : EAGAIN;
	(void)is_reply(sa);
	return EAGAIN;
}

unsigned triad_sa_take_missed(struct triad_sa *sa)
{
	unsigned missed = sa->missed;

	sa->missed = 0;
	return missed;
}

struct triad_sa_unknown_senders triad_sa_take_unknown_senders(struct triad_sa *sa)
{
	struct triad_sa_unknown_senders unknown_senders = sa->unknown_senders;

	sa->unknown_senders.n = 0;
	return unknown_senders;
}
