/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Devices with any answers.  Each request must be a Get to a LID that exists, a silent
 * device must get no further request, and stored values must be printable and within
 * their limits.
 *
 * Input: answers, each a kind (1 octet: 0 none, 1 not sent, 2 a short one, others an
 * answer), the MAD's status (2), the offset of its octets (1, after the header), their
 * number (1), and the octets. */
#include "perfmgr/devices/devices.h"
#include "tests/fuzz/fuzz.h"
#include "tests/sim/fabrics.h"

#define MELLANOX 0x0002c9
#define MAX_ANSWERS 2000

/* Of each node: whether it has answered, and its unanswered requests in a row. */
static bool has_answered[16];
static unsigned n_unanswered[16];

static struct triad_fabric *make_fabric(void)
{
	struct triad_fabric *fabric = fabric_row(2, 2);

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		fabric->nodes[i].vendor_id = MELLANOX;
	for (uint32_t i = 0; i < fabric->n_ports; i++)
		fabric->ports[i].state = TRIAD_PORT_ACTIVE;
	return fabric;
}

static uint32_t check_question(const struct triad_fabric *fabric,
	const struct triad_devices_question *question)
{
	uint32_t port = 0;

	require(question->mad[3] == TRIAD_MAD_METHOD_GET, "a Get");
	require(question->mad[1] ==
			(question->is_smp ? TRIAD_MAD_CLASS_SUBNET_LID
					  : TRIAD_DEVICE_CLASS),
		"of its class");
	if (question->is_smp)
		require(question->mad[71] &&
				question->mad[71] <= TRIAD_CABLE_INFO_MOST &&
				question->mad[67] + question->mad[71] <= 256,
			"octets that a page has");
	while (port < fabric->n_ports && fabric->ports[port].lid != question->to.lid)
		port++;
	require(port < fabric->n_ports, "a LID that is there");
	require(n_unanswered[fabric->ports[port].node] <
			(has_answered[fabric->ports[port].node] ? TRIAD_DEVICES_MISSED
								: 1),
		"no request to a silent device");
	return fabric->ports[port].node;
}

static void answer(struct triad_wire *w, struct triad_devices *devices,
	const struct triad_devices_question *question, uint32_t node, uint64_t now_us)
{
	struct triad_mad_reply reply = {.size = TRIAD_MAD_SIZE};
	uint8_t kind = triad_wire_get8(w), first, *octets;
	uint16_t status = triad_wire_get16(w);
	size_t size;

	memcpy(reply.mad, question->mad, TRIAD_MAD_SIZE);
	reply.mad[3] = TRIAD_MAD_METHOD_GET_RESPONSE;
	reply.mad[4] = (uint8_t)(status >> 8);
	reply.mad[5] = (uint8_t)status;
	first = triad_wire_get8(w);
	if (first < 24)
		first = 24;
	octets = fuzz_take(w, triad_wire_get8(w), &size);
	if (size > (size_t)TRIAD_MAD_SIZE - first)
		size = (size_t)TRIAD_MAD_SIZE - first;
	memcpy(reply.mad + first, octets, size);
	free(octets);
	if (kind == 0) {
		reply.status = ETIMEDOUT;
		n_unanswered[node]++;
	} else {
		has_answered[node] = true;
		n_unanswered[node] = 0;
	}
	reply.size -= kind == 2;
	triad_devices_answer(devices, kind == 1 ? NULL : &reply, now_us);
}

static void check_text(const char *text, size_t room)
{
	size_t length = strnlen(text, room);

	require(length < room, "a text ends");
	for (size_t i = 0; i < length; i++)
		require(text[i] >= 0x20 && text[i] < 0x7f, "a text is printable");
}

static void check_device(const struct triad_device_info *info)
{
	check_text(info->psid, sizeof(info->psid));
	check_text(info->serial, sizeof(info->serial));
	check_text(info->part, sizeof(info->part));
	check_text(info->revision, sizeof(info->revision));
	check_text(info->product, sizeof(info->product));
	require(info->n_sensors <= TRIAD_DEVICE_MAX_SENSORS &&
			info->n_fans <= TRIAD_DEVICE_MAX_FANS &&
			info->n_supplies <= TRIAD_DEVICE_MAX_SUPPLIES,
		"no more than there is room for");
	for (unsigned i = 0; i < info->n_sensors; i++)
		check_text(info->sensors[i].name, sizeof(info->sensors[i].name));
	for (unsigned i = 0; i < info->n_supplies; i++) {
		check_text(info->supplies[i].serial, sizeof(info->supplies[i].serial));
		check_text(info->supplies[i].part, sizeof(info->supplies[i].part));
	}
}

static void check_cable(const struct triad_cable *cable)
{
	check_text(cable->vendor, sizeof(cable->vendor));
	check_text(cable->part, sizeof(cable->part));
	check_text(cable->revision, sizeof(cable->revision));
	check_text(cable->serial, sizeof(cable->serial));
	check_text(cable->date, sizeof(cable->date));
	require(cable->n_lanes <= TRIAD_CABLE_MAX_LANES, "lanes");
	require(strlen(triad_cable_identifier(cable)) &&
			strlen(triad_cable_technology(cable)),
		"names");
}

static void check_known(
	const struct triad_devices *devices, const struct triad_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->n_ports; i++) {
		uint64_t guid = fabric->nodes[fabric->ports[i].node].guid;
		struct triad_hardware_finding finding;
		struct triad_device_known device;
		struct triad_cable_known cable;
		char text[128];

		if (triad_devices_read(devices, guid, &device))
			check_device(&device.info);
		if (triad_devices_read_port(
			    devices, guid, fabric->ports[i].number, &cable))
			check_cable(&cable.cable);
		if (!triad_devices_judge(
			    devices, guid, fabric->ports[i].number, &finding))
			continue;
		require(finding.fault > TRIAD_HARDWARE_FINE &&
				finding.fault < TRIAD_HARDWARE_N_FAULTS,
			"a fault");
		triad_hardware_finding_format(&finding, text, sizeof(text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_fabric *fabric = make_fabric();
	struct triad_view *view = triad_view_new(NULL, fabric, NULL);
	struct triad_devices *devices = triad_devices_new();
	uint64_t now_us = 1000000, due_us;
	struct triad_devices_question question;
	struct triad_wire w;

	memset(has_answered, 0, sizeof(has_answered));
	memset(n_unanswered, 0, sizeof(n_unanswered));
	triad_wire_init(&w, (void *)data, size);
	triad_devices_set_period(devices, 1000000);
	require(!triad_devices_adopt(devices, view), "memory");
	for (unsigned i = 0; i < MAX_ANSWERS && !w.failed && w.at < w.size; i++) {
		if (!triad_devices_next(devices, now_us, &question, &due_us)) {
			if (due_us == UINT64_MAX || due_us <= now_us)
				break;
			now_us = due_us;
			/* All devices are silent: no request follows. */
			if (!triad_devices_next(devices, now_us, &question, &due_us))
				break;
		}
		answer(&w, devices, &question, check_question(fabric, &question),
			now_us);
	}
	check_known(devices, fabric);
	triad_devices_free(devices);
	triad_view_unref(view);
	triad_fabric_unref(fabric);
	return 0;
}
