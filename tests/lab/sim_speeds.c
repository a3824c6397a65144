/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/sim_speeds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/lab/umad_mad.h"

#define N_BUCKETS 4096
#define N_PORTS 256
#define ATTRIBUTE_PORT_INFO 0x15
#define METHOD_SET 0x02
#define METHOD_GET_RESP 0x81
#define EXTENDED_SPEEDS (1u << 31) /* of the attribute modifier */
#define DIRECTION_BIT 0x80         /* of the status of an SMP by directed route */
#define INVALID_FIELD 0x1c /* the status: an attribute or modifier is not valid */

/* Octets into a MAD, and into NodeInfo and PortInfo there. */
enum {
	AT_STATUS = 4,
	AT_MODIFIER = 20,
	AT_M_KEY = 24,
	AT_PORT_M_KEY = 64,
	AT_PROTECTION = 64 + 34,
	AT_NODE_TYPE = 64 + 2,
	AT_LOCAL_PORT = 64 + 36,
	AT_CAPABILITIES = 64 + 20,
	AT_WIDTH_ENABLED = 64 + 29,
	AT_WIDTH_SUPPORTED = 64 + 30,
	AT_WIDTH_ACTIVE = 64 + 31,
	AT_SPEED_SUPPORTED_STATE = 64 + 32,
	AT_SPEED_ACTIVE_ENABLED = 64 + 35,
	AT_EXT2 = 64 + TRIAD_PORT_INFO_EXT2,
	AT_CAPABILITIES_2 = 64 + 60,
	AT_EXT_ACTIVE_SUPPORTED = 64 + 62,
	AT_EXT_ENABLED = 64 + 63,
};

#define TYPE_SWITCH 2
#define STATE_DOWN 1
/* CapabilityMask and CapabilityMask2. */
#define HAS_EXTENDED_SPEEDS 0x4000u
#define HAS_CAPABILITIES_2 0x8000u
#define HAS_HDR 0x0020u
#define HAS_NDR 0x0400u
#define HAS_EXTENDED_SPEEDS_2 0x0800u
#define HAS_XDR 0x1000u

/* What ibsim forgets of a Set: M_Key, M_KeyLeasePeriod, M_KeyProtectBits, partition and packet filters,
 * SubnetTimeOut, error thresholds. */
static const struct {
	uint8_t at, mask;
} kept[] = {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {4, 0xff}, {5, 0xff}, {6, 0xff},
	{7, 0xff}, {26, 0xff}, {27, 0xff}, {34, 0xc0}, {43, 0x0f}, {51, 0x1f},
	{53, 0xff}};
#define N_KEPT (sizeof(kept) / sizeof(kept[0]))

/* LinkSpeedExtEnabled: no change; none; what is supported. */
enum { EXT_NO_CHANGE = 0, EXT_NONE = 30, EXT_SUPPORTED = 31 };

struct port {
	struct triad_link_rate active, supported; /* zeros: not said */
	uint8_t ext_enabled;                      /* 0: not said */
	bool is_limited; /* somebody has enabled less than is supported */
	bool has_kept;
	uint8_t kept[N_KEPT];
};

struct node {
	struct node *next;
	uint64_t guid;
	bool withholds;
	bool refuses, ignores;      /* Gets with bit 31 */
	enum triad_link_speed best; /* of all ports */
	struct port ports[N_PORTS];
};

struct sim_speeds {
	struct node *buckets[N_BUCKETS];
	bool is_any;
	bool all_withhold;
	bool is_set; /* the last request for a PortInfo */
};

/* --- the store --- */

static struct node *find_node(const struct sim_speeds *speeds, uint64_t guid)
{
	struct node *node = speeds->buckets[(guid ^ guid >> 12) % N_BUCKETS];

	while (node && node->guid != guid)
		node = node->next;
	return node;
}

static struct node *make_node(struct sim_speeds *speeds, uint64_t guid)
{
	struct node **bucket = &speeds->buckets[(guid ^ guid >> 12) % N_BUCKETS];
	struct node *node = find_node(speeds, guid);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->guid = guid;
	node->withholds = speeds->all_withhold;
	node->next = *bucket;
	*bucket = node;
	speeds->is_any = true;
	return node;
}

static void note_rate(
	struct node *node, struct triad_link_rate *rate, struct triad_link_rate value)
{
	*rate = value;
	if (value.speed > node->best)
		node->best = value.speed;
}

/* "4xNDR". */
static bool read_rate(const char *text, struct triad_link_rate *rate)
{
	char width[4] = "";
	size_t length = strcspn(text, "x") + 1;

	if (length >= sizeof(width) || !text[length - 1])
		return false;
	memcpy(width, text, length);
	rate->width = triad_link_width_find(width);
	rate->speed = triad_link_speed_find(text + length);
	return rate->width && rate->speed;
}

static void read_file(struct sim_speeds *speeds, FILE *file)
{
	char line[128], text[16];
	struct triad_link_rate rate;
	struct node *node;
	uint64_t guid;
	unsigned port;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %u %15s", &guid, &port, text) == 3 &&
			port < N_PORTS && read_rate(text, &rate)) {
			node = make_node(speeds, guid);
			if (node)
				note_rate(node, &node->ports[port].active, rate);
		}
}

struct sim_speeds *sim_speeds_new(void)
{
	struct sim_speeds *speeds = calloc(1, sizeof(*speeds));
	const char *path = getenv("TRIAD_LAB_RATES");
	FILE *file = speeds && path ? fopen(path, "re") : NULL;

	if (speeds)
		speeds->all_withhold = getenv("TRIAD_LAB_WITHHOLD");
	if (file) {
		read_file(speeds, file);
		(void)fclose(file);
	}
	return speeds;
}

/* --- commands --- */

bool sim_speeds_parse(const char *line, struct sim_speed_setting *setting)
{
	char command[16], what[16], text[16], more;

	memset(setting, 0, sizeof(*setting));
	if (sscanf(line, " %15s \"%64[^\"]\" %15s %c", command, setting->node, what,
		    &more) == 3 &&
		strcasecmp(command, "Speed") == 0) {
		setting->kind = SIM_SPEED_WITHHOLD;
		if (strcasecmp(what, "answer") == 0)
			setting->kind = SIM_SPEED_ANSWER;
		else if (strcasecmp(what, "refuse") == 0)
			setting->kind = SIM_SPEED_REFUSE;
		else if (strcasecmp(what, "ignore") == 0)
			setting->kind = SIM_SPEED_IGNORE;
		else if (strcasecmp(what, "withhold") != 0)
			return false;
		return true;
	}
	if (sscanf(line, " %15s \"%64[^\"]\"[%i] %15[^= \n] = %15s %c", command,
		    setting->node, &setting->port, what, text, &more) != 5 ||
		strcasecmp(command, "Speed") != 0 || setting->port < 1 ||
		setting->port >= N_PORTS || !read_rate(text, &setting->rate))
		return false;
	setting->kind = SIM_SPEED_ACTIVE;
	if (strcasecmp(what, "supported") == 0)
		setting->kind = SIM_SPEED_SUPPORTED;
	else if (strcasecmp(what, "active") != 0)
		return false;
	return true;
}

void sim_speeds_set(struct sim_speeds *speeds, const struct sim_speed_setting *setting,
	const char *dump, char *answer, size_t size)
{
	struct sim_dumped_node dumped;
	struct node *node = NULL;
	struct port *port;

	if (!sim_dump_read(dump, setting->node, setting->port, &dumped, answer, size))
		return;
	node = make_node(speeds, dumped.guid);
	if (!node) {
		snprintf(answer, size, "# no memory\n");
		return;
	}
	port = &node->ports[setting->port];
	if (setting->kind == SIM_SPEED_ACTIVE)
		note_rate(node, &port->active, setting->rate);
	else if (setting->kind == SIM_SPEED_SUPPORTED)
		note_rate(node, &port->supported, setting->rate);
	else
		node->withholds = setting->kind != SIM_SPEED_ANSWER;
	if (setting->kind != SIM_SPEED_ACTIVE && setting->kind != SIM_SPEED_SUPPORTED) {
		node->refuses = setting->kind == SIM_SPEED_REFUSE;
		node->ignores = setting->kind == SIM_SPEED_IGNORE;
	}
	snprintf(answer, size, "%s has been set\n", dumped.name);
}

/* --- PortInfo --- */

static bool is_port_info(const uint8_t *mad)
{
	return lab_class_is_smi(lab_mad_class(mad)) &&
		lab_mad_attribute(mad) == ATTRIBUTE_PORT_INFO;
}

bool sim_speeds_is_half_request(struct sim_speeds *speeds, const uint8_t *mad)
{
	if (is_port_info(mad))
		speeds->is_set = lab_mad_method(mad) == METHOD_SET;
	return (speeds->is_any || speeds->all_withhold) && is_port_info(mad) &&
		!lab_mad_is_response(mad);
}

/* The port that a PortInfo is about. */
static uint8_t port_number(const uint8_t *node_info, const uint8_t *mad)
{
	uint8_t number = mad[AT_MODIFIER + 3];

	return number || node_info[AT_NODE_TYPE] == TYPE_SWITCH
		? number
		: node_info[AT_LOCAL_PORT];
}

/* The widths up to 'width' that links can fall back to. */
static uint8_t widths_up_to(uint8_t width)
{
	static const uint8_t of[][2] = {{1, 1}, {16, 17}, {2, 3}, {4, 7}, {8, 15}};

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i][0] == width)
			return of[i][1];
	return width;
}

static void speeds_up_to(enum triad_link_speed best, uint8_t *speed, uint8_t *speed_ext)
{
	*speed = *speed_ext = 0;
	for (unsigned i = TRIAD_SPEED_SDR; i <= best; i++) {
		uint8_t code, code_ext;

		triad_link_speed_codes(i, &code, &code_ext);
		*speed |= code;
		*speed_ext |= code_ext;
	}
}

/* Whether a Set enables less than the port supports, as far as that was said. */
static bool is_less(
	const struct port *port, uint8_t width, uint8_t speed, uint8_t ext_enabled)
{
	const struct triad_link_rate *rate =
		port->supported.speed ? &port->supported : &port->active;
	uint8_t widths = widths_up_to(rate->width), speeds, speeds_ext;

	speeds_up_to(rate->speed, &speeds, &speeds_ext);
	speeds_ext &= 0xf;
	return (width && (width & widths) != widths) ||
		(speed && (speed & speeds) != speeds) ||
		(ext_enabled == EXT_NONE && speeds_ext) ||
		(ext_enabled && ext_enabled < EXT_NONE &&
			(ext_enabled & speeds_ext) != speeds_ext);
}

void sim_speeds_take(struct sim_speeds *speeds, const uint8_t *node_info, uint8_t *mad)
{
	uint64_t guid = sim_details_guid(node_info);
	struct node *node = speeds->all_withhold ? make_node(speeds, guid)
						 : find_node(speeds, guid);
	uint8_t enabled = mad[AT_EXT_ENABLED] & 0x1f, width = mad[AT_WIDTH_ENABLED],
		speed = mad[AT_SPEED_ACTIVE_ENABLED] & 0xf;
	struct port *port;

	if (!node || lab_mad_method(mad) != METHOD_SET)
		return;
	port = &node->ports[port_number(node_info, mad)];
	port->has_kept = node->withholds;
	for (unsigned i = 0; i < N_KEPT; i++)
		port->kept[i] = mad[64 + kept[i].at] & kept[i].mask;
	if (width | speed | enabled)
		port->is_limited = is_less(port, width, speed, enabled);
	if (enabled != EXT_NO_CHANGE)
		port->ext_enabled = enabled == EXT_SUPPORTED ? 0 : enabled;
	/* ibsim would have the link run as it knows, and send a trap. */
	if (port->active.speed || port->supported.speed) {
		mad[AT_WIDTH_ENABLED] = 0;
		mad[AT_SPEED_ACTIVE_ENABLED] &= 0xf0;
		mad[AT_EXT_ENABLED] &= 0xe0;
	}
}

static void put_active(uint8_t *mad, struct triad_link_rate rate)
{
	uint8_t speed, speed_ext;

	triad_link_speed_codes(rate.speed, &speed, &speed_ext);
	mad[AT_WIDTH_ACTIVE] = rate.width;
	/* A port with an extended speed tells the best of the others. */
	mad[AT_SPEED_ACTIVE_ENABLED] = (uint8_t)((speed_ext ? 4 : speed) << 4 |
		(mad[AT_SPEED_ACTIVE_ENABLED] & 0xf));
	mad[AT_EXT_ACTIVE_SUPPORTED] = (uint8_t)((speed_ext & 0xf) << 4);
	mad[AT_EXT2] = (uint8_t)((speed_ext >> 5 & 3) << 5);
}

static struct triad_link_rate read_active(const uint8_t *mad)
{
	return (struct triad_link_rate){mad[AT_WIDTH_ACTIVE],
		triad_link_speed(mad[AT_SPEED_ACTIVE_ENABLED] >> 4,
			triad_link_speed_ext_active(
				mad[AT_EXT_ACTIVE_SUPPORTED] >> 4, mad[AT_EXT2]))};
}

static void put_supported(uint8_t *mad, struct triad_link_rate rate)
{
	uint8_t speed, speed_ext;

	speeds_up_to(rate.speed, &speed, &speed_ext);
	mad[AT_WIDTH_SUPPORTED] = widths_up_to(rate.width);
	mad[AT_SPEED_SUPPORTED_STATE] =
		(uint8_t)(speed << 4 | (mad[AT_SPEED_SUPPORTED_STATE] & 0xf));
	mad[AT_EXT_ACTIVE_SUPPORTED] =
		(uint8_t)((mad[AT_EXT_ACTIVE_SUPPORTED] & 0xf0) | (speed_ext & 0xf));
	mad[AT_EXT2] = (uint8_t)((mad[AT_EXT2] & 0x67) | (speed_ext >> 5 & 3) << 3);
}

static void put_enabled(uint8_t *mad, struct triad_link_rate rate, uint8_t ext_enabled)
{
	uint8_t speed, speed_ext;

	speeds_up_to(rate.speed, &speed, &speed_ext);
	mad[AT_WIDTH_ENABLED] = widths_up_to(rate.width);
	mad[AT_SPEED_ACTIVE_ENABLED] =
		(uint8_t)((mad[AT_SPEED_ACTIVE_ENABLED] & 0xf0) | speed);
	mad[AT_EXT_ENABLED] = (uint8_t)((mad[AT_EXT_ENABLED] & 0xe0) |
		(ext_enabled ? ext_enabled : speed_ext & 0xf));
	mad[AT_EXT2] = (uint8_t)((mad[AT_EXT2] & 0xf8) | (speed_ext >> 5 & 3));
}

/* Only an end port, and of a switch port 0, has capabilities. */
static void put_capabilities(uint8_t *mad, enum triad_link_speed best)
{
	uint32_t mask = lab_mad_get32(mad + AT_CAPABILITIES);
	unsigned mask_2 =
		(unsigned)(mad[AT_CAPABILITIES_2] << 8 | mad[AT_CAPABILITIES_2 + 1]);

	lab_mad_set32(
		mad + AT_CAPABILITIES, mask | HAS_EXTENDED_SPEEDS | HAS_CAPABILITIES_2);
	mask_2 |= best >= TRIAD_SPEED_HDR ? HAS_HDR : 0;
	mask_2 |= best >= TRIAD_SPEED_NDR ? HAS_NDR : 0;
	mask_2 |= best >= TRIAD_SPEED_XDR ? HAS_XDR | HAS_EXTENDED_SPEEDS_2 : 0;
	mad[AT_CAPABILITIES_2] = (uint8_t)(mask_2 >> 8);
	mad[AT_CAPABILITIES_2 + 1] = (uint8_t)mask_2;
}

static void withhold(uint8_t *mad)
{
	if (lab_mad_get32(mad + AT_MODIFIER) & EXTENDED_SPEEDS ||
		read_active(mad).speed < TRIAD_SPEED_FDR)
		return;
	mad[AT_SPEED_ACTIVE_ENABLED] =
		(uint8_t)(1 << 4 | (mad[AT_SPEED_ACTIVE_ENABLED] & 0xf));
	mad[AT_EXT_ACTIVE_SUPPORTED] = 0;
	mad[AT_EXT_ENABLED] &= 0xe0;
	mad[AT_EXT2] = 0;
}

static void complete_link(uint8_t *mad, const struct port *port, bool withholds)
{
	struct triad_link_rate active;

	if ((mad[AT_SPEED_SUPPORTED_STATE] & 0xf) == STATE_DOWN)
		return;
	if (port && port->active.speed) {
		put_active(mad, port->active);
		put_enabled(mad, port->active, port->ext_enabled);
	}
	active = read_active(mad);
	if (!active.width || !active.speed)
		return;
	put_supported(mad, port && port->supported.speed ? port->supported : active);
	if (port && port->supported.speed && !port->is_limited)
		put_enabled(mad, port->supported, 0);
	if (withholds)
		withhold(mad);
}

static void put_kept(uint8_t *mad, const uint8_t values[N_KEPT])
{
	for (unsigned i = 0; i < N_KEPT; i++) {
		uint8_t *octet = &mad[64 + kept[i].at];

		*octet = (uint8_t)((*octet & ~kept[i].mask) | values[i]);
	}
}

/* A Get with bit 31. */
static bool asks_for_extended(const struct sim_speeds *speeds, const uint8_t *mad)
{
	return !speeds->is_set && lab_mad_get32(mad + AT_MODIFIER) & EXTENDED_SPEEDS;
}

/* Whether the port answers a Get only with its M_Key, and that has another one: a protection
 * level of 2 or 3 [IBA 14.2.4.1]. */
static bool is_guarded(const struct sim_speeds *speeds, const uint8_t *mad)
{
	return !speeds->is_set && mad[AT_PROTECTION] & 0x80 &&
		memcmp(mad + AT_PORT_M_KEY, "\0\0\0\0\0\0\0", 8) != 0 &&
		memcmp(mad + AT_M_KEY, mad + AT_PORT_M_KEY, 8) != 0;
}

bool sim_speeds_complete(
	const struct sim_speeds *speeds, const uint8_t *node_info, uint8_t *mad)
{
	const struct node *node =
		node_info ? find_node(speeds, sim_details_guid(node_info)) : NULL;
	uint8_t number = node_info ? port_number(node_info, mad) : mad[AT_MODIFIER + 3];
	bool is_switch = node_info && node_info[AT_NODE_TYPE] == TYPE_SWITCH;

	if (!is_port_info(mad) || lab_mad_method(mad) != METHOD_GET_RESP ||
		mad[AT_STATUS] & (uint8_t)~DIRECTION_BIT || mad[AT_STATUS + 1])
		return true;
	if (node && node->ports[number].has_kept)
		put_kept(mad, node->ports[number].kept);
	if (node && node->withholds && is_guarded(speeds, mad))
		return false;
	if (node && node->ignores && asks_for_extended(speeds, mad))
		return false;
	if (node && node->refuses && asks_for_extended(speeds, mad)) {
		mad[AT_STATUS + 1] = INVALID_FIELD;
		memset(mad + 64, 0, 64);
		return true;
	}
	if (node && node->best >= TRIAD_SPEED_FDR && (!is_switch || !number))
		put_capabilities(mad, node->best);
	complete_link(mad, node ? &node->ports[number] : NULL,
		node ? node->withholds : speeds->all_withhold);
	return true;
}
