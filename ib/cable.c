/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/cable.h"

#include <math.h>
#include <string.h>

#include "triad/wire.h"

/* Where the blocks are.  The first two are the same in both maps, so that the first can
 * be read before the map is known. */
static const struct triad_cable_address addresses[][TRIAD_CABLE_N_BLOCKS] = {
	[TRIAD_CABLE_MAP_UNKNOWN] =
		{
			[TRIAD_CABLE_IDENTITY] = {0x00, 128, 48},
		},
	[TRIAD_CABLE_MAP_SFF8636] =
		{
			[TRIAD_CABLE_IDENTITY] = {0x00, 128, 48},
			[TRIAD_CABLE_SERIAL] = {0x00, 176, 48},
			[TRIAD_CABLE_LIMITS] = {0x03, 128, 48},
			[TRIAD_CABLE_LANE_LIMITS] = {0x03, 176, 24},
			[TRIAD_CABLE_STATE] = {0x00, 0, 48},
			[TRIAD_CABLE_LEVELS] = {0x00, 48, 10},
		},
	[TRIAD_CABLE_MAP_CMIS] =
		{
			[TRIAD_CABLE_IDENTITY] = {0x00, 128, 48},
			[TRIAD_CABLE_SERIAL] = {0x00, 176, 48},
			[TRIAD_CABLE_ADVERTISED] = {0x01, 128, 48},
			[TRIAD_CABLE_LIMITS] = {0x02, 128, 48},
			[TRIAD_CABLE_LANE_LIMITS] = {0x02, 176, 24},
			[TRIAD_CABLE_STATE] = {0x00, 0, 48},
			[TRIAD_CABLE_LEVELS] = {0x11, 154, 48},
		},
};

/* The state tells whether there are pages, so it is read first. */
static const uint8_t order[] = {TRIAD_CABLE_IDENTITY, TRIAD_CABLE_SERIAL,
	TRIAD_CABLE_STATE, TRIAD_CABLE_ADVERTISED, TRIAD_CABLE_LIMITS,
	TRIAD_CABLE_LANE_LIMITS, TRIAD_CABLE_LEVELS};

#define BIT(block) (1u << TRIAD_CABLE_##block)

/* --- what a module is --- */

static const struct identifier {
	uint8_t code, map;
	const char *name;
} identifiers[] = {
	{0x03, TRIAD_CABLE_MAP_UNKNOWN, "SFP"},
	{0x0c, TRIAD_CABLE_MAP_SFF8636, "QSFP"},
	{0x0d, TRIAD_CABLE_MAP_SFF8636, "QSFP+"},
	{0x11, TRIAD_CABLE_MAP_SFF8636, "QSFP28"},
	{0x18, TRIAD_CABLE_MAP_CMIS, "QSFP-DD"},
	{0x19, TRIAD_CABLE_MAP_CMIS, "OSFP"},
	{0x1e, TRIAD_CABLE_MAP_CMIS, "QSFP with CMIS"},
};

static const struct identifier *find_identifier(const struct triad_cable *cable)
{
	for (size_t i = 0; i < sizeof(identifiers) / sizeof(identifiers[0]); i++)
		if (identifiers[i].code == cable->identifier)
			return &identifiers[i];
	return NULL;
}

static enum triad_cable_map map_of(const struct triad_cable *cable)
{
	const struct identifier *found = find_identifier(cable);

	return found ? (enum triad_cable_map)found->map : TRIAD_CABLE_MAP_UNKNOWN;
}

const char *triad_cable_identifier(const struct triad_cable *cable)
{
	const struct identifier *found = find_identifier(cable);

	return found ? found->name : "unknown";
}

/* The upper half of octet 147 of SFF-8636, and octet 212 of CMIS, begin alike. */
enum { FIRST_COPPER = 0x0a, LAST_COPPER = 0x0f, PASSIVE = 0x0b };

const char *triad_cable_technology(const struct triad_cable *cable)
{
	static const char *const names[] = {"850 nm VCSEL", "1310 nm VCSEL",
		"1550 nm VCSEL", "1310 nm FP", "1310 nm DFB", "1550 nm DFB",
		"1310 nm EML", "1550 nm EML", "other", "1490 nm DFB", "copper",
		"copper, passive equalizer", "copper, active at both ends",
		"copper, active at the far end", "copper, active at the near end",
		"copper, linear active", "C-band laser", "L-band laser"};

	if (!(cable->taken & BIT(SERIAL)) ||
		cable->technology >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[cable->technology];
}

static bool is_optical(const struct triad_cable *cable)
{
	return cable->taken & BIT(SERIAL) &&
		(cable->technology < FIRST_COPPER || cable->technology > LAST_COPPER);
}

static bool is_passive(const struct triad_cable *cable)
{
	return cable->technology == FIRST_COPPER || cable->technology == PASSIVE;
}

/* --- blocks --- */

static bool has_block(const struct triad_cable *cable, enum triad_cable_block block)
{
	if (!addresses[map_of(cable)][block].size)
		return false;
	switch (block) {
	case TRIAD_CABLE_IDENTITY:
	case TRIAD_CABLE_SERIAL:
		return true;
	case TRIAD_CABLE_STATE:
		return !is_passive(cable);
	case TRIAD_CABLE_LEVELS:
		/* SFF-8636 has these in the octets that all pages share. */
		return is_optical(cable) &&
			(map_of(cable) == TRIAD_CABLE_MAP_SFF8636 || !cable->is_flat);
	case TRIAD_CABLE_LANE_LIMITS:
		return is_optical(cable) && !cable->is_flat;
	default:
		return !is_passive(cable) && !cable->is_flat;
	}
}

bool triad_cable_next(const struct triad_cable *cable, enum triad_cable_block *block)
{
	unsigned read = cable->taken | cable->lacking;

	for (size_t i = 0; i < sizeof(order); i++) {
		*block = order[i];
		if (!(read >> *block & 1) && has_block(cable, *block))
			return true;
		/* These two tell what other blocks there are. */
		if (i < 2 && !(cable->taken >> *block & 1))
			return false;
	}
	return false;
}

struct triad_cable_address triad_cable_address(
	const struct triad_cable *cable, enum triad_cable_block block)
{
	return addresses[map_of(cable)][block];
}

void triad_cable_lacks(struct triad_cable *cable, enum triad_cable_block block)
{
	cable->lacking |= (uint8_t)(1u << block);
}

void triad_cable_refresh(struct triad_cable *cable)
{
	cable->taken &= (uint8_t) ~(BIT(STATE) | BIT(LEVELS));
	cable->lacking &= (uint8_t) ~(BIT(STATE) | BIT(LEVELS));
}

/* --- what they say --- */

static uint16_t get16(const uint8_t *octets)
{
	return (uint16_t)(octets[0] << 8 | octets[1]);
}

/* Octets 'at' to 'at' + 'n' of a text. */
static void take_text(char *text, size_t at, const uint8_t *octets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[at + i] = octets[i] == 0                   ? ' '
			: octets[i] >= 0x20 && octets[i] < 0x7f ? (char)octets[i]
								: '?';
	text[at + n] = '\0';
}

/* Takes the blanks at both ends away. */
static void trim_text(char *text)
{
	size_t first = strspn(text, " "), length = strlen(text);

	while (length > first && text[length - 1] == ' ')
		length--;
	memmove(text, text + first, length - first);
	text[length - first] = '\0';
}

static struct triad_cable_limits take_limits(const uint8_t *octets)
{
	return (struct triad_cable_limits){
		.high_alarm = get16(octets),
		.low_alarm = get16(octets + 2),
		.high_warning = get16(octets + 4),
		.low_warning = get16(octets + 6),
	};
}

static void take_lanes(uint16_t *lanes, unsigned n, const uint8_t *octets)
{
	for (unsigned i = 0; i < n; i++)
		lanes[i] = get16(octets + (size_t)2 * i);
}

/* SFF-8636: no separable connector.  A passive cable of copper has none either. */
#define CONNECTOR_NONE 0x23

/* 'from' is the page; the block's octets are at the documents' offsets. */
static void take_sff8636(
	struct triad_cable *cable, enum triad_cable_block block, const uint8_t *from)
{
	switch (block) {
	case TRIAD_CABLE_IDENTITY:
		cable->n_lanes = 4;
		cable->bias_factor = 1;
		cable->technology = from[147] >> 4;
		cable->is_separable =
			from[130] != CONNECTOR_NONE && cable->technology < FIRST_COPPER;
		/* 255: longer than this field can express. */
		cable->length_dm = from[146] == 255 ? 0 : from[146] * 10;
		take_text(cable->vendor, 0, from + 148, 16);
		trim_text(cable->vendor);
		cable->oui = (uint32_t)(from[165] << 16 | from[166] << 8 | from[167]);
		take_text(cable->part, 0, from + 168, 8);
		break;
	case TRIAD_CABLE_SERIAL:
		take_text(cable->part, 8, from + 176, 8);
		take_text(cable->revision, 0, from + 184, 2);
		take_text(cable->serial, 0, from + 196, 16);
		take_text(cable->date, 0, from + 212, 8);
		cable->has_tx_power = from[220] & 0x04;
		cable->has_rx_power = cable->has_bias = true;
		break;
	case TRIAD_CABLE_STATE:
		cable->is_flat = from[2] & 0x04;
		cable->temperature = (int16_t)get16(from + 22);
		cable->voltage = get16(from + 26);
		take_lanes(cable->rx, 4, from + 34);
		take_lanes(cable->bias, 3, from + 42);
		break;
	case TRIAD_CABLE_LEVELS:
		take_lanes(cable->bias + 3, 1, from + 48);
		take_lanes(cable->tx, 4, from + 50);
		break;
	case TRIAD_CABLE_LIMITS:
		cable->temperature_limits = take_limits(from + 128);
		cable->voltage_limits = take_limits(from + 144);
		break;
	case TRIAD_CABLE_LANE_LIMITS:
		cable->rx_limits = take_limits(from + 176);
		cable->bias_limits = take_limits(from + 184);
		cable->tx_limits = take_limits(from + 192);
		break;
	default:
		break;
	}
}

/* The length of a cable: a number and its factor. */
static uint16_t take_cmis_length(uint8_t octet)
{
	static const uint16_t factors[] = {1, 10, 100, 1000}; /* of 0.1 m */

	return (uint16_t)((octet & 0x3f) * factors[octet >> 6]);
}

static void take_cmis(
	struct triad_cable *cable, enum triad_cable_block block, const uint8_t *from)
{
	switch (block) {
	case TRIAD_CABLE_IDENTITY:
		cable->n_lanes = 8;
		cable->bias_factor = 1;
		take_text(cable->vendor, 0, from + 129, 16);
		trim_text(cable->vendor);
		cable->oui = (uint32_t)(from[145] << 16 | from[146] << 8 | from[147]);
		take_text(cable->part, 0, from + 148, 16);
		take_text(cable->revision, 0, from + 164, 2);
		take_text(cable->serial, 0, from + 166, 10);
		break;
	case TRIAD_CABLE_SERIAL:
		take_text(cable->serial, 10, from + 176, 6);
		take_text(cable->date, 0, from + 182, 8);
		cable->length_dm = take_cmis_length(from[202]);
		cable->technology = from[212];
		cable->is_separable = from[203] != CONNECTOR_NONE && is_optical(cable);
		break;
	case TRIAD_CABLE_STATE:
		cable->is_flat = from[2] & 0x80;
		cable->temperature = (int16_t)get16(from + 14);
		cable->voltage = get16(from + 16);
		break;
	case TRIAD_CABLE_ADVERTISED:
		cable->has_bias = from[160] & 0x01;
		cable->has_tx_power = from[160] & 0x02;
		cable->has_rx_power = from[160] & 0x04;
		/* Bits 4-3: 1, 2, 4; the fourth is reserved. */
		cable->bias_factor = (uint8_t)(1u << ((from[160] >> 3 & 3) % 3));
		break;
	case TRIAD_CABLE_LIMITS:
		cable->temperature_limits = take_limits(from + 128);
		cable->voltage_limits = take_limits(from + 136);
		break;
	case TRIAD_CABLE_LANE_LIMITS:
		cable->tx_limits = take_limits(from + 176);
		cable->bias_limits = take_limits(from + 184);
		cable->rx_limits = take_limits(from + 192);
		break;
	case TRIAD_CABLE_LEVELS:
		take_lanes(cable->tx, 8, from + 154);
		take_lanes(cable->bias, 8, from + 170);
		take_lanes(cable->rx, 8, from + 186);
		break;
	default:
		break;
	}
}

void triad_cable_take(
	struct triad_cable *cable, enum triad_cable_block block, const uint8_t *octets)
{
	struct triad_cable_address block_address;
	uint8_t page[256] = {0};

	if (block == TRIAD_CABLE_IDENTITY) {
		memset(cable, 0, sizeof(*cable));
		cable->identifier = octets[0];
	}
	block_address = triad_cable_address(cable, block);
	memcpy(page + block_address.address, octets, block_address.size);
	cable->taken |= (uint8_t)(1u << block);
	cable->lacking &= (uint8_t) ~(1u << block);
	if (map_of(cable) == TRIAD_CABLE_MAP_SFF8636)
		take_sff8636(cable, block, page);
	else if (map_of(cable) == TRIAD_CABLE_MAP_CMIS)
		take_cmis(cable, block, page);
	if (block != TRIAD_CABLE_SERIAL)
		return;
	trim_text(cable->part);
	trim_text(cable->revision);
	trim_text(cable->serial);
	trim_text(cable->date);
	if (cable->is_separable)
		cable->length_dm = 0;
}

/* --- reading --- */

bool triad_cable_has_state(const struct triad_cable *cable)
{
	return cable->taken & BIT(STATE) && cable->voltage;
}

static bool has_some(const uint16_t *lanes)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < TRIAD_CABLE_MAX_LANES; i++)
		sum |= lanes[i];
	return sum;
}

/* Some active cables measure nothing and show zeros. */
bool triad_cable_has_lanes(const struct triad_cable *cable)
{
	return cable->taken & BIT(LEVELS) &&
		(cable->rx_limits.low_alarm || cable->rx_limits.high_alarm ||
			has_some(cable->rx) || has_some(cable->tx) ||
			has_some(cable->bias));
}

double triad_cable_celsius(uint16_t raw)
{
	return (int16_t)raw / 256.0;
}

double triad_cable_volts(uint16_t raw)
{
	return raw / 1e4;
}

double triad_cable_milliwatts(uint16_t raw)
{
	return raw / 1e4;
}

double triad_cable_dbm(uint16_t raw)
{
	return raw ? 10 * log10(triad_cable_milliwatts(raw)) : -40;
}

double triad_cable_milliamperes(const struct triad_cable *cable, uint16_t raw)
{
	return raw * cable->bias_factor * 2e-3;
}

enum triad_cable_fault triad_cable_judge(const struct triad_cable *cable, bool is_up,
	unsigned *lane, double *value, double *limit)
{
	int16_t hot = (int16_t)cable->temperature_limits.high_alarm;
	uint16_t dark = cable->rx_limits.low_alarm;

	*lane = 0;
	if (triad_cable_has_state(cable) && hot > 0 && cable->temperature > hot) {
		*value = cable->temperature / 256.0;
		*limit = hot / 256.0;
		return TRIAD_CABLE_HOT;
	}
	if (!is_up || !dark || !cable->has_rx_power || !triad_cable_has_lanes(cable))
		return TRIAD_CABLE_FINE;
	for (unsigned i = 0; i < cable->n_lanes; i++) {
		if (cable->rx[i] >= dark ||
			(*lane && cable->rx[i] >= cable->rx[*lane - 1]))
			continue;
		*lane = i + 1;
		*value = triad_cable_dbm(cable->rx[i]);
		*limit = triad_cable_dbm(dark);
	}
	return *lane ? TRIAD_CABLE_DARK : TRIAD_CABLE_FINE;
}
