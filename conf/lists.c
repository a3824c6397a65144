/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/lists.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include <glib.h>

#include "lib/text.h"
#include "ib/ber_target.h"
#include "ib/counter.h"
#include "ib/detail.h"
#include "triad/fabric.h"
#include "triad/threshold.h"

#define ITEM_SIZE 256

/* Cuts the blanks at the end. */
static void chop(char *text)
{
	size_t n = strlen(text);

	while (n && triad_text_is_blank(text[n - 1]))
		text[--n] = '\0';
}

bool triad_list_next(const char **at, char *item, size_t size)
{
	const char *text = *at + strspn(*at, "; \t");
	size_t n = strcspn(text, ";");

	*at = text + n;
	snprintf(item, size, "%.*s", (int)n, text);
	chop(item);
	return n > 0;
}

/* --- nodes, ports, counters -------------------------------------------- */

bool triad_nodes_check(const char *text, char *reason, size_t size)
{
	char item[ITEM_SIZE];
	uint64_t guid;

	while (triad_list_next(&text, item, sizeof(item))) {
		if (g_ascii_strncasecmp(item, "0x", 2) || triad_text_guid(item, &guid))
			continue;
		snprintf(reason, size,
			"'%.80s' isn't a GUID, which is 0x and 1 to 16 hexadecimal "
			"digits, not all 0; a name's pattern doesn't begin with 0x, and "
			"';' stands between two",
			item);
		return false;
	}
	return true;
}

bool triad_guids_parse(const char *text, uint64_t *guids, size_t max, size_t *n,
	char *reason, size_t size)
{
	char item[ITEM_SIZE];

	for (*n = 0; triad_list_next(&text, item, sizeof(item)); (*n)++) {
		if (*n == max) {
			snprintf(reason, size, "more than %zu GUIDs", max);
			return false;
		}
		if (triad_text_guid(item, &guids[*n]))
			continue;
		snprintf(reason, size,
			"'%.80s' isn't a GUID, which is 0x and 1 to 16 hexadecimal "
			"digits, not all 0; ';' stands between two",
			item);
		return false;
	}
	return true;
}

static bool parse_port_number(char *text, unsigned *number)
{
	chop(text);
	return triad_text_number(text + strspn(text, " \t"), number) &&
		*number <= TRIAD_FABRIC_MAX_PORT_NUMBER;
}

/* Parses a number, or two with a '-' between; cuts 'item' at the '-'. */
static bool parse_port_range(char *item, unsigned *low, unsigned *high)
{
	char *dash = strchr(item, '-');

	if (!dash) {
		*high = 0;
		return parse_port_number(item, low) && (*high = *low, true);
	}
	*dash = '\0';
	return parse_port_number(item, low) && parse_port_number(dash + 1, high) &&
		*low <= *high;
}

static void add_ports(uint8_t *set, unsigned low, unsigned high)
{
	for (unsigned i = low; i <= high; i++)
		set[i / 8] |= (uint8_t)(1u << i % 8);
}

bool triad_ports_parse(const char *text, uint8_t set[32], char *reason, size_t size)
{
	char item[ITEM_SIZE], range[ITEM_SIZE];
	unsigned low, high;
	bool some = false;

	memset(set, 0, 32);
	while (triad_list_next(&text, item, sizeof(item))) {
		memcpy(range, item, sizeof(range));
		if (!parse_port_range(range, &low, &high)) {
			snprintf(reason, size,
				"'%.80s' isn't a port number, 0 to %d, nor a range of "
				"them such as 1-4",
				item, TRIAD_FABRIC_MAX_PORT_NUMBER);
			return false;
		}
		add_ports(set, low, high);
		some = true;
	}
	/* An empty list means all ports. */
	if (!some)
		add_ports(set, 0, TRIAD_FABRIC_MAX_PORT_NUMBER);
	return true;
}

static bool refuse_counter(const char *name, char *reason, size_t size)
{
	struct triad_text_guess guess = {.word = name};
	const char *best = NULL;

	for (int i = 0; i < TRIAD_N_COUNTERS; i++)
		if (triad_text_guess_try(&guess, triad_counters[i].name))
			best = triad_counters[i].name;
	snprintf(reason, size, "no counter '%.80s'", name);
	if (best)
		triad_text_append(reason, size, "; did you mean '%s'?", best);
	else
		triad_text_append(
			reason, size, "; 'triadctl help perf top' lists them");
	return false;
}

bool triad_counters_parse(const char *text, uint32_t *mask, char *reason, size_t size)
{
	char item[ITEM_SIZE];

	for (*mask = 0; triad_list_next(&text, item, sizeof(item));) {
		int counter = triad_counter_find(item);

		if (counter < 0)
			return refuse_counter(item, reason, size);
		*mask |= 1u << counter;
	}
	return true;
}

/* --- bit error rates --------------------------------------------------- */

#define LEAST_BER 1e-18
#define GREATEST_BER 1e-3

static bool parse_ber(const char *text, double *ber)
{
	char *end;

	if (!strcasecmp(text, "off")) {
		*ber = 0;
		return true;
	}
	*ber = strtod(text, &end);
	return end != text && !*end && *ber >= LEAST_BER && *ber <= GREATEST_BER;
}

static bool refuse_ber(const char *item, char *reason, size_t size)
{
	snprintf(reason, size,
		"'%.80s' isn't a speed (SDR to XDR), a kind (raw, effective, symbol) "
		"and a bit error rate from 1e-18 to 1e-3, or off: NDR raw 1e-6",
		item);
	return false;
}

bool triad_ber_targets_parse(
	const char *text, struct triad_ber_targets *targets, char *reason, size_t size)
{
	char item[ITEM_SIZE], speed_name[8], kind_name[16], ber_text[32], rest;

	for (unsigned speed = 0; speed < TRIAD_N_SPEEDS; speed++)
		for (unsigned kind = 0; kind < TRIAD_BER_N_KINDS; kind++)
			targets->of[speed][kind] = triad_ber_target(speed, kind);
	while (triad_list_next(&text, item, sizeof(item))) {
		enum triad_link_speed speed = TRIAD_SPEED_ANY;
		enum triad_ber_kind kind = TRIAD_BER_N_KINDS;
		double ber;

		if (sscanf(item, "%7s %15s %31s %c", speed_name, kind_name, ber_text,
			    &rest) == 3) {
			speed = triad_link_speed_find(speed_name);
			kind = triad_ber_kind_find(kind_name);
		}
		if (speed == TRIAD_SPEED_ANY || kind == TRIAD_BER_N_KINDS ||
			!parse_ber(ber_text, &ber))
			return refuse_ber(item, reason, size);
		targets->of[speed][kind] = ber;
	}
	return true;
}

bool triad_ber_parse(const char *text, double *ber, char *reason, size_t size)
{
	char *end;

	*ber = strtod(text, &end);
	if (end != text && !*end && *ber >= 1e-11 && *ber <= 1e-4)
		return true;
	snprintf(reason, size,
		"'%.40s' isn't a bit error rate from 1e-11 to 1e-4, such as 1e-8",
		text);
	return false;
}

/* --- LIDs --- */

bool triad_lids_parse(const char *text, uint16_t *lids, size_t max, size_t *n,
	char *reason, size_t size)
{
	char item[ITEM_SIZE], *end;

	for (*n = 0; triad_list_next(&text, item, sizeof(item)); ++*n) {
		bool is_hex = !strncasecmp(item, "0x", 2);
		unsigned long lid = strtoul(item, &end, is_hex ? 16 : 10);

		if (!isdigit((unsigned char)*item) || *end || !lid || lid > 0xbfff) {
			snprintf(reason, size,
				"'%.40s' isn't a unicast LID, from 1 to 49151 (0xbfff)",
				item);
			return false;
		}
		if (*n == max) {
			snprintf(reason, size, "there are more than %zu LIDs", max);
			return false;
		}
		lids[*n] = (uint16_t)lid;
	}
	return true;
}

/* --- details ------------------------------------------------------------ */

static bool refuse_detail(const char *name, char *reason, size_t size)
{
	struct triad_text_guess guess = {.word = name};
	const char *best = NULL;

	for (int i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		if (triad_text_guess_try(&guess, triad_detail_fields[i].name))
			best = triad_detail_fields[i].name;
	snprintf(reason, size, "no detail '%.80s'", name);
	if (best)
		triad_text_append(reason, size, "; did you mean '%s'?", best);
	else
		triad_text_append(reason, size,
			"; 'triadctl perf details --all' shows them, without the "
			"number at the end");
	return false;
}

bool triad_detail_thresholds_parse(const char *text,
	struct triad_detail_thresholds *thresholds, char *reason, size_t size)
{
	char item[ITEM_SIZE], name[64], rate[64], rest;

	memset(thresholds, 0, sizeof(*thresholds));
	while (triad_list_next(&text, item, sizeof(item))) {
		int field;
		struct triad_threshold threshold = {0};

		if (sscanf(item, "%63s %63s %c", name, rate, &rest) != 2) {
			snprintf(reason, size,
				"'%.80s' isn't the name of a detail and a rate: "
				"PortVLXmitWait 10000/s",
				item);
			return false;
		}
		field = triad_detail_field_find(name);
		if (field < 0)
			return refuse_detail(name, reason, size);
		if (!triad_threshold_parse(
			    rate, TRIAD_SYMBOL_ERROR_COUNTER, &threshold, reason, size))
			return false;
		/* Sweeps do not read details each time, so only these units make
		 * sense. */
		if (threshold.unit != TRIAD_THRESHOLD_PER_S &&
			threshold.unit != TRIAD_THRESHOLD_OFF) {
			snprintf(reason, size,
				"'%.40s' isn't a rate of details: write such as 0.5/s, "
				"or off",
				rate);
			return false;
		}
		thresholds->per_s[field] = threshold.value;
		if (threshold.value > 0)
			thresholds->attributes |= triad_detail_fields[field].attributes;
	}
	return true;
}

/* --- addresses --------------------------------------------------------- */

static bool parse_numeric(const char *text, int family, struct triad_address *address)
{
	*address = (struct triad_address){.family = family};
	return inet_pton(family, text, address->octets) == 1;
}

bool triad_ip_parse(
	const char *text, struct triad_address *address, char *reason, size_t size)
{
	if (parse_numeric(text, AF_INET, address) ||
		parse_numeric(text, AF_INET6, address))
		return true;
	snprintf(reason, size,
		"'%.80s' isn't a numeric address such as 10.0.0.1 or 2001:db8::1",
		text);
	return false;
}

static bool refuse_address(
	const char *text, unsigned default_port, char *reason, size_t size)
{
	const char *brackets = default_port ? "[:PORT]" : ":PORT";

	snprintf(reason, size,
		"'%.80s' isn't ADDRESS%s, with a numeric address (an IPv6 one in "
		"brackets) and a port from 1 to 65535: 127.0.0.1:9315, [::1]:9315",
		text, brackets);
	return false;
}

/* Cuts "HOST:PORT" or "[HOST]:PORT" in pieces; '*port' is NULL without a port. */
static bool split_address(char *text, int *family, char **host, char **port)
{
	bool has_brackets = *text == '[';
	char *end = has_brackets ? strchr(text, ']') : text + strcspn(text, ":");

	if (!end)
		return false;
	*family = has_brackets ? AF_INET6 : AF_INET;
	*host = text + has_brackets;
	if (has_brackets)
		*end++ = '\0';
	if (*end && *end != ':')
		return false;
	*port = *end ? end + 1 : NULL;
	*end = '\0';
	return true;
}

bool triad_address_parse(const char *text, unsigned default_port,
	struct triad_address *address, char *reason, size_t size)
{
	char copy[ITEM_SIZE], *host, *port;
	unsigned number = default_port;
	int family;

	snprintf(copy, sizeof(copy), "%s", text);
	if (!split_address(copy, &family, &host, &port) ||
		!parse_numeric(host, family, address) ||
		(port && !triad_text_number(port, &number)) || number < 1 ||
		number > 65535)
		return refuse_address(text, default_port, reason, size);
	address->port = (uint16_t)number;
	return true;
}

bool triad_addresses_parse(const char *text, unsigned default_port,
	struct triad_address *addresses, size_t max, size_t *n, char *reason,
	size_t size)
{
	char item[ITEM_SIZE];

	for (*n = 0; triad_list_next(&text, item, sizeof(item)); ++*n) {
		if (*n == max) {
			snprintf(
				reason, size, "there are more than %zu addresses", max);
			return false;
		}
		if (!triad_address_parse(
			    item, default_port, &addresses[*n], reason, size))
			return false;
	}
	return true;
}

/* --- brokers --- */

/* The '@' behind user and password at the beginning of 'text', an item of a list;
 * 'text' if there are none. */
static const char *skip_user(const char *text)
{
	size_t n = strcspn(text, ";");
	const char *at = memrchr(text, '@', n);

	return at ? at : text;
}

/* "HOST" or "HOST:PORT"; the host may be an address in brackets. */
static bool is_host(const char *text)
{
	char copy[ITEM_SIZE], *host, *port;
	unsigned number = 1;
	int family;

	snprintf(copy, sizeof(copy), "%s", text);
	return !strpbrk(text, " \t\"/?#") &&
		split_address(copy, &family, &host, &port) && *host &&
		(!port || triad_text_number(port, &number)) && number >= 1 &&
		number <= 65535;
}

/* "TOKEN" or "USER:PASSWORD", of 'n' octets; the password may have any. */
static bool is_user(const char *text, size_t n)
{
	const char *colon = memchr(text, ':', n);

	return n && !strpbrk(text, " \t\"") && colon != text &&
		(!colon || colon + 1 < text + n);
}

static bool is_server(const char *item)
{
	static const char *const schemes[] = {"nats://", "tls://"};

	for (unsigned i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		const char *user = item + strlen(schemes[i]), *at;

		if (!g_str_has_prefix(item, schemes[i]))
			continue;
		at = skip_user(user);
		return at == user && *at != '@'
			? is_host(user)
			: is_user(user, (size_t)(at - user)) && is_host(at + 1);
	}
	return false;
}

void triad_servers_mask(const char *text, char *shown, size_t size)
{
	const char *url, *host;

	shown[0] = '\0';
	for (; (url = strstr(text, "://")); text = host) {
		url += strlen("://");
		host = skip_user(url);
		triad_text_append(shown, size, "%.*s%s", (int)(url - text), text,
			host == url ? "" : "***");
	}
	triad_text_append(shown, size, "%s", text);
}

bool triad_servers_check(const char *text, char *reason, size_t size)
{
	char item[ITEM_SIZE];
	unsigned n = 0;

	for (const char *at = text; triad_list_next(&at, item, sizeof(item)); n++) {
		if (is_server(item))
			continue;
		snprintf(reason, size,
			"'%.80s' is no broker: nats://HOST:PORT or tls://HOST:PORT is "
			"wanted",
			skip_user(item));
		return false;
	}
	if (n && n <= TRIAD_MAX_SERVERS)
		return true;
	snprintf(reason, size, "there are %u brokers; 1 to %d are wanted", n,
		TRIAD_MAX_SERVERS);
	return false;
}

bool triad_subject_check(const char *text, char *reason, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t length = strlen(text);

	if (length && length <= 32 && strspn(text, letters) == length)
		return true;
	snprintf(reason, size, "1 to 32 of A-Z a-z 0-9 _ - are wanted");
	return false;
}

bool triad_host_names_check(const char *text, char *reason, size_t size)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789-.";
	char name[256];

	while (triad_list_next(&text, name, sizeof(name))) {
		if (name[strspn(name, letters)] || strlen(name) == sizeof(name) - 1) {
			snprintf(reason, size,
				"'%.80s' is no name of a host: letters, digits, '-' and "
				"'.' are wanted, no port",
				name);
			return false;
		}
	}
	return true;
}

bool triad_sm_key_parse(const char *value, uint64_t *key, char *reason, size_t size)
{
	bool is_hexadecimal = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	const char *digits = is_hexadecimal ? value + 2 : value;
	size_t length = strlen(digits);

	/* With so few digits strtoull() can't overflow. */
	*key = 0;
	if (!length || length > (is_hexadecimal ? 16 : 19) ||
		digits[strspn(digits,
			is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789")]) {
		snprintf(reason, size,
			"'%.80s' isn't a key: that is a number, or 0x and up to 16 "
			"hexadecimal digits; 0: none",
			value);
		return false;
	}
	*key = strtoull(digits, NULL, is_hexadecimal ? 16 : 10);
	return true;
}
