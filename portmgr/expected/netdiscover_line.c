/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/expected/netdiscover_line.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "portmgr/expected/expected_parts.h"

#define FDR10 "FDR10" /* PortInfo shows QDR for it; a vendor attribute has the rest */

/* A cursor in the line, which ends with a 0. */
struct scan {
	const char *start, *at;
	const char *wrong; /* the first mistake; NULL: none yet */
};

static bool fail_line(struct scan *scan, const char *what)
{
	if (!scan->wrong)
		scan->wrong = what;
	return false;
}

static void skip_blanks(struct scan *scan)
{
	scan->at += strspn(scan->at, " \t");
}

static bool skip_word(struct scan *scan, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(scan->at, word, n) != 0)
		return false;
	scan->at += n;
	return true;
}

static bool parse_number(struct scan *scan, unsigned max, unsigned *number)
{
	unsigned value = 0;

	if (!g_ascii_isdigit(*scan->at))
		return false;
	for (; g_ascii_isdigit(*scan->at); scan->at++) {
		/* 'max' is small, so this check comes before the number can wrap. */
		value = value * 10 + (unsigned)g_ascii_digit_value(*scan->at);
		if (value > max)
			return false;
	}
	*number = value;
	return true;
}

static bool parse_hex(struct scan *scan, uint64_t *number)
{
	uint64_t value = 0;
	unsigned n = 0;

	for (; n < 16 && g_ascii_isxdigit(*scan->at); n++)
		value = value << 4 | (uint64_t)g_ascii_xdigit_value(*scan->at++);
	*number = value;
	return n && !g_ascii_isxdigit(*scan->at);
}

/* --- "[3][ext 7](1/2/1)(2c9000000001)", in any order behind the first ---- */

static bool parse_ext(struct scan *scan)
{
	if (!skip_word(scan, "[ext "))
		return false;
	scan->at += strcspn(scan->at, "]\"");
	return skip_word(scan, "]") || fail_line(scan, "']' is missing");
}

/* What is written at the port on the switch: "(1/2/1)". */
static bool parse_label(struct scan *scan)
{
	if (*scan->at != '(' || scan->at[strcspn(scan->at, ")/\"")] != '/')
		return false;
	scan->at += strcspn(scan->at, ")\"");
	return skip_word(scan, ")") || fail_line(scan, "')' is missing");
}

static bool parse_guid(struct scan *scan, uint64_t *guid)
{
	if (!skip_word(scan, "("))
		return false;
	if (!parse_hex(scan, guid) || !skip_word(scan, ")"))
		return fail_line(scan, "a GUID and ')' are missing");
	return true;
}

static bool parse_port(struct scan *scan, unsigned *number, uint64_t *guid)
{
	if (!skip_word(scan, "[") || !parse_number(scan, 254, number) || !*number ||
		!skip_word(scan, "]"))
		return fail_line(scan, "a port, [1] to [254], is missing");
	while (!scan->wrong &&
		(parse_ext(scan) || parse_label(scan) || parse_guid(scan, guid)))
		;
	skip_blanks(scan);
	return !scan->wrong;
}

/* "S-0002c90000000001" in quotes; a switch, a channel adapter or a router. */
static bool parse_node(struct scan *scan, uint64_t *guid)
{
	const char *start = scan->at;

	if (skip_word(scan, "\"") && *scan->at && strchr("SHR", *scan->at)) {
		scan->at++;
		if (skip_word(scan, "-") && parse_hex(scan, guid) && *guid &&
			skip_word(scan, "\""))
			return true;
	}
	scan->at = start;
	*guid = 0;
	return fail_line(scan, "a node, as \"S-0002c90000000001\", is missing");
}

/* --- behind '#' -------------------------------------------------------- */

static uint16_t lid_in(const char *text)
{
	struct scan scan = {.at = strstr(text, "lid ")};
	unsigned lid = 0;

	if (scan.at && skip_word(&scan, "lid ") &&
		parse_number(&scan, UINT16_MAX, &lid))
		return (uint16_t)lid;
	return 0;
}

static uint8_t lmc_in(const char *text)
{
	struct scan scan = {.at = strstr(text, "lmc ")};
	unsigned lmc = 0;

	if (scan.at && skip_word(&scan, "lmc ") && parse_number(&scan, 7, &lmc))
		return (uint8_t)lmc;
	return 0;
}

/* "4xEDR" must be a whole word; otherwise the rate stays unknown. */
static void read_rate(struct scan *scan, struct triad_netdiscover_line *line)
{
	size_t n = strcspn(scan->at, " \t");
	const char *x = memchr(scan->at, 'x', n);
	char width[8], speed[8];

	if (!x)
		return;
	x++;
	snprintf(width, sizeof(width), "%.*s", (int)(x - scan->at), scan->at);
	snprintf(speed, sizeof(speed), "%.*s", (int)(scan->at + n - x), x);
	if (!triad_link_width_find(width))
		return;
	line->width = triad_link_width_find(width);
	triad_link_speed_codes(
		triad_link_speed_find(strcmp(speed, FDR10) ? speed : "QDR"),
		&line->speed, &line->speed_ext);
}

/* A name may contain quotes, so it ends at the last quote of the line. */
static void read_link_comment(struct scan *scan, struct triad_netdiscover_line *line)
{
	const char *quote = strchr(scan->at, '"'), *last = strrchr(scan->at, '"');
	char before[64];

	snprintf(before, sizeof(before), "%.*s",
		(int)((quote ? quote : scan->at) - scan->at), scan->at);
	line->lid = lid_in(before);
	line->lmc = lmc_in(before);
	scan->at = last ? last + 1 : scan->at;
	while (*scan->at) {
		skip_blanks(scan);
		read_rate(scan, line);
		scan->at += strcspn(scan->at, " \t");
	}
}

static void read_node_comment(struct scan *scan, struct triad_netdiscover_line *line)
{
	const char *quote = strchr(scan->at, '"'), *last = strrchr(scan->at, '"');
	char name[TRIAD_NODE_NAME_SIZE];

	if (!quote || last == quote)
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(last - quote - 1), quote + 1);
	triad_fabric_clean_name(line->name, name);
	line->lid = lid_in(last);
	line->lmc = lmc_in(last);
	line->enhanced_port0 = strstr(last, "enhanced port 0");
}

/* --- lines ------------------------------------------------------------- */

static bool read_link(struct scan *scan, struct triad_netdiscover_line *line)
{
	uint64_t ignored = 0;

	line->kind = TRIAD_NETDISCOVER_LINK;
	if (!parse_port(scan, &line->port, &line->port_guid) ||
		!parse_node(scan, &line->guid) ||
		!parse_port(scan, &line->far_port, &ignored))
		return false;
	if (!skip_word(scan, "#"))
		return !*scan->at || fail_line(scan, "'#' is missing");
	read_link_comment(scan, line);
	return true;
}

static bool read_node_line(struct scan *scan, struct triad_netdiscover_line *line)
{
	line->kind = TRIAD_NETDISCOVER_NODE;
	skip_blanks(scan);
	if (!parse_number(scan, 254, &line->port) || !line->port)
		return fail_line(scan, "the number of ports, 1 to 254, is missing");
	skip_blanks(scan);
	if (!parse_node(scan, &line->guid))
		return false;
	skip_blanks(scan);
	if (!skip_word(scan, "#"))
		return !*scan->at || fail_line(scan, "'#' is missing");
	read_node_comment(scan, line);
	return true;
}

static bool read_value(struct scan *scan, struct triad_netdiscover_line *line,
	enum triad_netdiscover_kind kind)
{
	line->kind = kind;
	if (!skip_word(scan, "0x") || !parse_hex(scan, &line->number))
		return fail_line(scan, "0x and 1 to 16 hexadecimal digits are missing");
	parse_guid(scan, &line->port_guid);
	return !scan->wrong;
}

static bool read_by_first_word(struct scan *scan, struct triad_netdiscover_line *line)
{
	static const struct {
		const char *word;
		enum triad_netdiscover_kind kind;
		uint8_t type;
	} words[] = {
		{"vendid=", TRIAD_NETDISCOVER_VENDOR, 0},
		{"devid=", TRIAD_NETDISCOVER_DEVICE, 0},
		{"switchguid=", TRIAD_NETDISCOVER_GUIDS, 0},
		{"Switch", TRIAD_NETDISCOVER_NODE, TRIAD_NODE_SWITCH},
		{"Ca", TRIAD_NETDISCOVER_NODE, TRIAD_NODE_CA},
		{"Hca", TRIAD_NETDISCOVER_NODE, TRIAD_NODE_CA},
		{"Rt", TRIAD_NETDISCOVER_NODE, TRIAD_NODE_ROUTER},
		{"sysimgguid=", TRIAD_NETDISCOVER_NOTHING, 0},
		{"caguid=", TRIAD_NETDISCOVER_NOTHING, 0},
		{"rtguid=", TRIAD_NETDISCOVER_NOTHING, 0},
		{"Chassis", TRIAD_NETDISCOVER_NOTHING, 0},
		{"Non-Chassis Nodes", TRIAD_NETDISCOVER_NOTHING, 0},
		{"#", TRIAD_NETDISCOVER_NOTHING, 0},
	};

	if (*scan->at == '[')
		return read_link(scan, line);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!skip_word(scan, words[i].word))
			continue;
		line->type = words[i].type;
		if (words[i].kind == TRIAD_NETDISCOVER_NODE)
			return read_node_line(scan, line);
		return words[i].kind == TRIAD_NETDISCOVER_NOTHING ||
			read_value(scan, line, words[i].kind);
	}
	return !*scan->at || fail_line(scan, "ibnetdiscover prints no such line");
}

const char *triad_netdiscover_line_read(const char *octets, size_t size,
	struct triad_netdiscover_line *line, size_t *at)
{
	char text[512];
	struct scan scan = {.start = text, .at = text};

	*line = (struct triad_netdiscover_line){0};
	*at = 0;
	if (size >= sizeof(text))
		return "the line is longer than 511 octets";
	if (memchr(octets, '\0', size))
		return "an octet that is 0: this isn't text";
	memcpy(text, octets, size);
	text[size] = '\0';
	skip_blanks(&scan);
	read_by_first_word(&scan, line);
	*at = (size_t)(scan.at - scan.start);
	return scan.wrong;
}
