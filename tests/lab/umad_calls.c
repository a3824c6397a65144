/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_calls.h"

#include <arpa/inet.h>
#include <errno.h>

#include "tests/lab/umad_planes.h"
#include "tests/lab/umad_rmpp.h"

/* A thread must not be cancelled while it holds the lock: the port may be
 * inconsistent. */
static int lock(struct lab_port *port)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&port->lock);
	return state;
}

static void unlock(struct lab_port *port, int state)
{
	pthread_mutex_unlock(&port->lock);
	pthread_setcancelstate(state, NULL);
}

/* --- write --- */

/* The parts of one write(). */
struct posted {
	struct ib_user_mad_hdr header;
	const uint8_t *mad;
	size_t size;
	struct lab_agent *agent;
	bool is_message; /* to be sent by RMPP */
	struct lab_packet packet;
};

static int take_apart(
	struct lab_file *file, const void *buffer, size_t size, struct posted *posted)
{
	size_t header_size = lab_file_header_size(file);
	uint8_t mgmt_class;

	if (size < header_size + LAB_RMPP_HEADER_SIZE)
		return EINVAL;
	memset(&posted->header, 0, sizeof(posted->header));
	memcpy(&posted->header, buffer, header_size);
	posted->mad = (const uint8_t *)buffer + header_size;
	posted->size = size - header_size;
	if (posted->header.id >= LAB_MAX_AGENTS)
		return EINVAL;
	posted->agent = file->agents[posted->header.id];
	if (!posted->agent)
		return EINVAL;
	mgmt_class = lab_mad_class(posted->mad);
	posted->is_message = posted->agent->rmpp_version &&
		lab_class_has_rmpp(mgmt_class) &&
		(lab_rmpp_flags(posted->mad) & LAB_RMPP_ACTIVE);
	if (posted->size < lab_class_data_offset(mgmt_class) ||
		(!posted->is_message && posted->size > LAB_MAD_SIZE))
		return EINVAL;
	return 0;
}

/* Makes the packet to send: the MAD, or the headers of an RMPP message. */
static void make_packet(struct posted *posted)
{
	struct lab_packet *packet = &posted->packet;
	size_t size = posted->size < LAB_MAD_SIZE ? posted->size : LAB_MAD_SIZE;

	*packet = (struct lab_packet){.dlid = posted->header.lid,
		.dqp = posted->header.qpn,
		.sqp = htonl(posted->agent->qpn),
		.length = htobe64(LAB_MAD_SIZE)};
	/* To the permissive LID: from a port without a LID.  Else ibsim knows the
	 * port's LID. */
	packet->slid = packet->dlid == 0xffff ? 0xffff : 0;
	memcpy(packet->mad, posted->mad, size);
	/* The RMPP header is the kernel's: clears what the program wrote there. */
	if (posted->agent->rmpp_version &&
		lab_class_has_rmpp(lab_mad_class(packet->mad)))
		memset(packet->mad + LAB_MAD_HEADER_SIZE, 0,
			LAB_RMPP_HEADER_SIZE - LAB_MAD_HEADER_SIZE);
	if (!lab_mad_is_response(packet->mad))
		lab_mad_set_tid(packet->mad,
			(uint64_t)posted->agent->high_tid << 32 |
				(lab_mad_tid(packet->mad) & 0xffffffff));
}

/* Whether the file already waits for an answer with the same TID. */
static bool is_duplicate(struct lab_file *file, const struct lab_packet *packet)
{
	bool is_response = lab_mad_is_response(packet->mad);
	const struct lab_send *send = lab_sends_find(&file->port->sends,
		lab_mad_tid(packet->mad), lab_mad_class(packet->mad), is_response);

	return send && send->agent->file == file &&
		(!is_response || send->packet.dlid == packet->dlid);
}

/* Posts the MAD.  Registers the send first, so that it is there when an answer arrives.
 * Returns 0 or an errno; 'is_direct': the caller must send the packet, without the
 * lock. */
static int post(struct lab_file *file, struct posted *posted, bool *is_direct)
{
	struct lab_port *port = file->port;
	struct lab_send *send = NULL;

	make_packet(posted);
	if (is_duplicate(file, &posted->packet))
		return EINVAL;
	port->counters.sent++;
	if (posted->is_message || posted->header.timeout_ms) {
		send = lab_send_new(
			port, posted->agent, &posted->header, &posted->packet);
		if (!send)
			return ENOMEM;
	}
	if (posted->is_message) {
		if (lab_rmpp_send_begin(port, send, posted->mad, posted->size) == 0)
			return 0;
		lab_send_end(port, send);
		return ENOMEM;
	}
	if (send)
		lab_send_wait(port, send);
	if (file->plane && !lab_planes_is_up(file->plane))
		return 0;
	*is_direct = !lab_faults_update(&port->faults, lab_now_us());
	if (!*is_direct)
		lab_port_transmit(port, &posted->packet);
	return 0;
}

ssize_t lab_file_write(struct lab_file *file, const void *buffer, size_t size)
{
	struct lab_port *port = file->port;
	bool is_direct = false, must_flush = false;
	struct posted posted;
	int state, error;

	if (port->is_dead) {
		errno = ENODEV;
		return -1;
	}
	state = lock(port);
	error = take_apart(file, buffer, size, &posted);
	if (!error)
		error = post(file, &posted, &is_direct);
	unlock(port, state);
	if (error) {
		errno = error;
		return -1;
	}
	if (is_direct)
		lab_wire_send(port->wire, &posted.packet, &must_flush);
	if (must_flush)
		lab_port_wake(port);
	return (ssize_t)size;
}

/* --- ioctl --- */

static int add_agent(struct lab_file *file, struct lab_agent *requested, uint32_t *id)
{
	int error;

	/* The device of planes has no QP 1, the other no QP 0. */
	if (file->n_planes && (requested->qpn == 0) != (file->plane > 0))
		return EPROTONOSUPPORT;
	for (*id = 0; *id < LAB_MAX_AGENTS && file->agents[*id]; (*id)++)
		continue;
	if (*id == LAB_MAX_AGENTS)
		return ENOMEM;
	requested->file = file;
	requested->id = *id;
	error = lab_agents_add(&file->port->agents, requested, &file->agents[*id]);
	if (!error)
		file->was_used = true;
	return error;
}

static int register_agent(struct lab_file *file, struct ib_user_mad_reg_req *request)
{
	struct lab_agent requested = {.qpn = request->qpn,
		.mgmt_class = request->mgmt_class,
		.class_version = request->mgmt_class_version,
		.rmpp_version = request->rmpp_version};

	memcpy(requested.oui, request->oui, sizeof(requested.oui));
	memcpy(requested.methods, request->method_mask, sizeof(requested.methods));
	return add_agent(file, &requested, &request->id);
}

static int register_agent2(struct lab_file *file, struct ib_user_mad_reg_req2 *request)
{
	struct lab_agent requested = {.qpn = (uint8_t)request->qpn,
		.mgmt_class = request->mgmt_class,
		.class_version = request->mgmt_class_version,
		.rmpp_version = request->rmpp_version,
		.oui = {(uint8_t)(request->oui >> 16), (uint8_t)(request->oui >> 8),
			(uint8_t)request->oui}};

	if (request->flags & ~IB_USER_MAD_REG_FLAGS_CAP) {
		request->flags = IB_USER_MAD_REG_FLAGS_CAP;
		return EINVAL;
	}
	if (request->qpn > 1 || (request->mgmt_class && request->oui >> 24))
		return EINVAL;
	/* A program that uses this call knows the header with the P_Key index. */
	if (!file->was_used)
		file->has_pkey_header = true;
	memcpy(requested.methods, request->method_mask, sizeof(requested.methods));
	return add_agent(file, &requested, &request->id);
}

static int remove_agent(struct lab_file *file, uint32_t id)
{
	struct lab_agent *agent = id < LAB_MAX_AGENTS ? file->agents[id] : NULL;

	if (!agent)
		return EINVAL;
	file->agents[id] = NULL;
	lab_sends_end_agent(file->port, agent);
	lab_rmpp_end_agent(file->port, agent);
	lab_agents_remove(&file->port->agents, agent);
	return 0;
}

static int enable_pkey(struct lab_file *file)
{
	if (file->was_used)
		return EINVAL;
	file->has_pkey_header = true;
	return 0;
}

static int answer_ioctl(struct lab_file *file, unsigned long request, void *argument)
{
	switch (request) {
	case IB_USER_MAD_REGISTER_AGENT:
		return register_agent(file, argument);
	case IB_USER_MAD_REGISTER_AGENT2:
		return register_agent2(file, argument);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return remove_agent(file, *(const uint32_t *)argument);
	case IB_USER_MAD_ENABLE_PKEY:
		return enable_pkey(file);
	default:
		return ENOTTY;
	}
}

int lab_file_ioctl(struct lab_file *file, unsigned long request, void *argument)
{
	int state = lock(file->port);
	int error =
		file->port->is_dead ? ENODEV : answer_ioctl(file, request, argument);

	unlock(file->port, state);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

/* --- close --- */

void lab_file_close(struct lab_file *file)
{
	struct lab_port *port = file->port;
	int state = lock(port);

	for (uint32_t id = 0; id < LAB_MAX_AGENTS; id++)
		(void)remove_agent(file, id);
	lab_file_shut(file);
	unlock(port, state);
}
