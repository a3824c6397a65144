/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/umad.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad_requests.h"
#include "ib/smp_mad.h"
#include "lib/random_number.h"
#include "service/local_port.h"
#include "service/strangers.h"
#include "triad/clock.h"

/* How many MADs that answer nothing are read at one time. */
#define MAX_STRANGERS 64u
enum { AT_METHOD = 3, RESPONSE = 0x80 };

struct triad_umad {
	struct triad_mad_transport transport;
	uint64_t port_guid;
	int fd;
	int agent;
	bool reads_at_once;  /* the descriptor does not block */
	bool takes_requests; /* it is registered for some */
	struct triad_mad_requests *requests;
	void *send_buffer;
	void *receive_buffer;
};

static int send_mad(void *context, const struct triad_mad_address *to,
	const uint8_t *mad, unsigned timeout_ms)
{
	struct triad_umad *umad = context;
	uint8_t *sent = umad_get_mad(umad->send_buffer);
	int error;

	memset(umad->send_buffer, 0, umad_size());
	memcpy(sent, mad, TRIAD_MAD_SIZE);
	if (timeout_ms)
		triad_mad_requests_add(umad->requests, sent, to->lid);
	umad_set_addr(umad->send_buffer, to->lid, (int)to->qpn, to->sl, (int)to->qkey);
	umad_set_pkey(umad->send_buffer, to->pkey_index);
	/* No retries by the kernel: the caller knows what else waits for that port. */
	if (umad_send(umad->fd, umad->agent, umad->send_buffer, TRIAD_MAD_SIZE,
		    (int)timeout_ms, 0) >= 0)
		return 0;
	error = errno;
	if (timeout_ms)
		triad_mad_requests_remove(umad->requests, sent);
	return error == EWOULDBLOCK || error == ENOBUFS ? EAGAIN : error;
}

/* Returns 0, EAGAIN or another errno. */
static int read_mad(struct triad_umad *umad, size_t *size)
{
	int room = TRIAD_MAD_SIZE;
	int result;

	errno = 0;
	result = umad_recv(umad->fd, umad->receive_buffer, &room, 0);
	if (result >= 0) {
		*size = room < 0                ? 0
			: room > TRIAD_MAD_SIZE ? TRIAD_MAD_SIZE
						: (size_t)room;
		return 0;
	}
	if (result == -EWOULDBLOCK || result == -EINTR || errno == EWOULDBLOCK ||
		errno == EINTR)
		return EAGAIN;
	return errno ? errno : EIO;
}

/* Returns 0, EAGAIN or another errno. */
static int wait_for_mad(struct triad_umad *umad, uint64_t wait_us)
{
	/* Round up, so that a short wait is not 0. */
	int wait_ms = (int)((wait_us + TRIAD_US_PER_MS - 1) / TRIAD_US_PER_MS);
	int error;

	if (wait_us > 60 * TRIAD_US_PER_S)
		wait_ms = 60000;
	error = umad_poll(umad->fd, wait_ms);
	if (!error)
		return 0;
	if (error == -ETIMEDOUT || errno == EINTR)
		return EAGAIN;
	return errno ? errno : EIO;
}

static uint16_t sender_of(const struct triad_umad *umad)
{
	return be16toh(umad_get_mad_addr(umad->receive_buffer)->lid);
}

/* Whether what was read may be used: the end of a request of ours, or a request to us.
 * 'status' is what the user is told; EREMCHG for an agent that answers from elsewhere. */
static bool is_usable_mad(struct triad_umad *umad, size_t size, int *status)
{
	uint8_t *mad = umad_get_mad(umad->receive_buffer);
	bool has_failed = umad_status(umad->receive_buffer);

	*status = umad_status(umad->receive_buffer);
	if (umad->takes_requests &&
		(has_failed || (size > AT_METHOD && !(mad[AT_METHOD] & RESPONSE))))
		return true;
	if (triad_strangers_keep_out(
		    umad->requests, mad, size, sender_of(umad), has_failed))
		return true;
	*status = EREMCHG;
	return !has_failed &&
		triad_mad_requests_is_from_elsewhere(umad->requests, mad, size);
}

/* Reads the next MAD, waiting for it.  Returns 0, EAGAIN or another errno. */
static int await_mad(struct triad_umad *umad, uint64_t wait_us, size_t *size)
{
	bool may_wait = !umad->reads_at_once || wait_us;
	int error = EAGAIN;

	/* Try to read before poll(): mostly a MAD is there already. */
	if (umad->reads_at_once)
		error = read_mad(umad, size);
	if (error == EAGAIN && may_wait) {
		error = wait_for_mad(umad, wait_us);
		if (!error)
			error = read_mad(umad, size);
	}
	return error;
}

static int receive_mad(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	struct triad_umad *umad = context;
	unsigned n_strangers = 0;
	size_t size = 0;
	int error = await_mad(umad, wait_us, &size);

	while (!error && !is_usable_mad(umad, size, &reply->status))
		error = ++n_strangers < MAX_STRANGERS ? await_mad(umad, 0, &size)
						      : EAGAIN;
	if (error)
		return error;
	reply->lid = sender_of(umad);
	reply->size = size;
	memcpy(reply->mad, umad_get_mad(umad->receive_buffer), size);
	return 0;
}

static size_t read_port_pkeys(void *context, uint16_t *pkeys, size_t most)
{
	const struct triad_umad *umad = context;

	return triad_local_port_pkeys(umad->port_guid, pkeys, most);
}

static bool find_port_for_class(
	uint64_t port_guid, int mgmt_class, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	if (mgmt_class == TRIAD_MAD_CLASS_SUBNET_LID ||
		mgmt_class == TRIAD_SMP_CLASS_DIRECTED)
		return triad_local_port_find_for_smps(port_guid, ca_name, number);
	return triad_local_port_find(port_guid, ca_name, number);
}

/* A vendor's class, and the method of requests to receive; 0: none. */
struct vendor {
	const uint8_t *oui;
	unsigned method;
};

static int register_vendor(int fd, int mgmt_class, const struct vendor *vendor)
{
	long methods[16 / sizeof(long)] = {0};
	unsigned bits = 8 * sizeof(long);
	uint8_t oui[3]; /* umad_register_oui() wants one that is not const */

	memcpy(oui, vendor->oui, sizeof(oui));
	methods[vendor->method / bits] = 1L << vendor->method % bits;
	return umad_register_oui(
		fd, mgmt_class, 0, oui, vendor->method ? methods : NULL);
}

static int open_umad_port(struct triad_umad *umad, uint64_t port_guid, int mgmt_class,
	const struct vendor *vendor)
{
	char ca_name[UMAD_CA_NAME_LEN];
	int number, fd, flags;

	if (umad_init() < 0)
		return ENODEV;
	if (!find_port_for_class(port_guid, mgmt_class, ca_name, &number))
		return ENODEV;
	fd = umad_open_port(ca_name, number);
	if (fd < 0)
		return errno ? errno : EIO;
	umad->fd = fd;
	/* ibsim's descriptor has no flags: then poll() must come before a read. */
	flags = fcntl(fd, F_GETFL);
	umad->reads_at_once = flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
	umad->agent = vendor ? register_vendor(fd, mgmt_class, vendor)
			     : umad_register(fd, mgmt_class, 1, 0, NULL);
	return umad->agent < 0 ? (errno ? errno : EPERM) : 0;
}

static int open_umad(uint64_t port_guid, int mgmt_class, const struct vendor *vendor,
	struct triad_umad **opened)
{
	struct triad_umad *umad = calloc(1, sizeof(*umad));
	int error;

	if (!umad)
		return ENOMEM;
	umad->fd = -1;
	umad->agent = -1;
	umad->transport = (struct triad_mad_transport){.context = umad,
		.send = send_mad,
		.receive = receive_mad,
		.pkeys = read_port_pkeys};
	umad->port_guid = port_guid;
	umad->takes_requests = vendor && vendor->method;
	umad->requests = triad_mad_requests_new(triad_random_number);
	error = umad->requests ? open_umad_port(umad, port_guid, mgmt_class, vendor)
			       : ENOMEM;
	/* Not earlier: umad_size() depends on the header that the kernel wants. */
	if (!error) {
		umad->send_buffer = umad_alloc(1, umad_size() + TRIAD_MAD_SIZE);
		umad->receive_buffer = umad_alloc(1, umad_size() + TRIAD_MAD_SIZE);
		if (!umad->send_buffer || !umad->receive_buffer)
			error = ENOMEM;
	}
	if (error) {
		triad_umad_close(umad, false);
		return error;
	}
	*opened = umad;
	return 0;
}

int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad)
{
	return open_umad(port_guid, mgmt_class, NULL, umad);
}

int triad_umad_open_vendor(uint64_t port_guid, int mgmt_class, const uint8_t oui[3],
	unsigned method, struct triad_umad **umad)
{
	const struct vendor vendor = {.oui = oui, .method = method};

	return open_umad(port_guid, mgmt_class, &vendor, umad);
}

int triad_umad_fd(const struct triad_umad *umad)
{
	return umad_get_fd(umad->fd);
}

uint16_t triad_umad_default_pkey(const struct triad_umad *umad)
{
	char ca_name[UMAD_CA_NAME_LEN];
	uint16_t index = 0;
	umad_port_t port;
	int number;

	if (!triad_local_port_find(umad->port_guid, ca_name, &number) ||
		umad_get_port(ca_name, number, &port))
		return 0;
	index = triad_local_port_pkey_index(&port);
	umad_release_port(&port);
	return index;
}

void triad_umad_close(struct triad_umad *umad, bool in_flight)
{
	if (!umad)
		return;
	if (!in_flight && umad->agent >= 0)
		umad_unregister(umad->fd, umad->agent);
	if (!in_flight && umad->fd >= 0)
		umad_close_port(umad->fd);
	triad_mad_requests_free(umad->requests);
	umad_free(umad->send_buffer);
	umad_free(umad->receive_buffer);
	free(umad);
}

const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad)
{
	return &umad->transport;
}
