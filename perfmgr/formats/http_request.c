/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/http_request.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <glib.h>

#include "lib/text.h"
#include "triad/lists.h"

/* --- arguments --------------------------------------------------------- */

static bool refuse_parameter(char *reason, size_t size, const char *what,
	const char *value, const char *allowed)
{
	snprintf(reason, size, "%s '%.64s': %s", what, value, allowed);
	triad_text_clean(reason);
	return false;
}

static bool add_filter_node(struct triad_metrics_filter *filter, bool is_switch,
	const char *value, char *reason, size_t size)
{
	struct triad_metrics_node *node = &filter->nodes[filter->n_nodes];

	if (filter->n_nodes == TRIAD_METRICS_MAX_NODES)
		return refuse_parameter(reason, size, "too many nodes with", value,
			"at most 8 may be named");
	if (!*value || strlen(value) >= sizeof(node->pattern))
		return refuse_parameter(reason, size, "no node can be", value,
			"a name's pattern has 1 to 64 characters");
	/* As in triad.conf, ';' separates nodes, so it can't be in one. */
	if (strchr(value, ';'))
		return refuse_parameter(reason, size, "more than one node in", value,
			"write the argument once for each");
	if (!triad_nodes_check(value, reason, size)) {
		triad_text_clean(reason);
		return false;
	}
	*node = (struct triad_metrics_node){.is_switch = is_switch};
	if (!triad_text_guid(value, &node->guid))
		strcpy(node->pattern, value);
	filter->n_nodes++;
	return true;
}

static bool add_type(struct triad_metrics_filter *filter, const char *value,
	char *reason, size_t size)
{
	for (unsigned i = TRIAD_NODE_CA; i <= TRIAD_NODE_ROUTER; i++)
		if (!strcmp(value, triad_node_type_name(i))) {
			filter->types |= 1u << i;
			return true;
		}
	return refuse_parameter(
		reason, size, "no type", value, "there are ca, switch and router");
}

static bool add_counter(struct triad_metrics_filter *filter, const char *value,
	char *reason, size_t size)
{
	int counter = triad_counter_find(value);

	if (counter < 0)
		return refuse_parameter(reason, size, "no counter", value,
			"it must be an IBA name such as PortXmitData");
	filter->counters |= 1u << counter;
	return true;
}

bool triad_http_argument(struct triad_metrics_filter *filter, const char *name,
	const char *value, char *reason, size_t size)
{
	value = value ? value : "";
	if (!strcmp(name, "node") || !strcmp(name, "switch"))
		return add_filter_node(filter, *name == 's', value, reason, size);
	if (!strcmp(name, "type"))
		return add_type(filter, value, reason, size);
	if (!strcmp(name, "counter"))
		return add_counter(filter, value, reason, size);
	return refuse_parameter(reason, size, "no argument", name,
		"there are node, switch, type and counter");
}

/* --- lists in headers -------------------------------------------------- */

struct slice {
	const char *at;
	size_t length;
};

static struct slice trim_slice(const char *at, size_t length)
{
	for (; length && triad_text_is_blank(*at); at++)
		length--;
	while (length && triad_text_is_blank(at[length - 1]))
		length--;
	return (struct slice){at, length};
}

/* Cuts the part before the next unquoted 'separator' off 'rest'.  False when nothing is
 * left. */
static bool next_part(struct slice *rest, char separator, struct slice *part)
{
	bool quoted = false;
	size_t n;

	if (!rest->length)
		return false;
	for (n = 0; n < rest->length && (quoted || rest->at[n] != separator); n++) {
		if (quoted && rest->at[n] == '\\' && n + 1 < rest->length)
			n++;
		else if (rest->at[n] == '"')
			quoted = !quoted;
	}
	*part = trim_slice(rest->at, n);
	n += n < rest->length;
	rest->at += n;
	rest->length -= n;
	return true;
}

static bool equals(struct slice slice, const char *word)
{
	return slice.length == strlen(word) &&
		!strncasecmp(slice.at, word, slice.length);
}

/* "name=value", the value perhaps in quotes. */
static void split_parameter(
	struct slice parameter, struct slice *name, struct slice *value)
{
	const char *equal = memchr(parameter.at, '=', parameter.length);
	size_t n = equal ? (size_t)(equal - parameter.at) : parameter.length;

	*name = trim_slice(parameter.at, n);
	n += equal != NULL;
	*value = trim_slice(parameter.at + n, parameter.length - n);
	if (value->length >= 2 && value->at[0] == '"' &&
		value->at[value->length - 1] == '"') {
		value->at++;
		value->length -= 2;
	}
}

/* A weight in thousandths: "0.75" is 750.  Anything malformed is 0. */
static unsigned parse_weight(struct slice text)
{
	unsigned weight = 0, digit = 1000;

	for (size_t i = 0; i < text.length; i++) {
		if (i == 1 ? text.at[i] != '.' : text.at[i] < '0' || text.at[i] > '9')
			return 0;
		if (i != 1) {
			weight += (unsigned)(text.at[i] - '0') * digit;
			digit /= 10;
		}
	}
	return text.length && weight <= 1000 ? weight : 0;
}

struct item {
	struct slice name;
	struct slice version;
	unsigned weight;
};

static bool next_item(struct slice *rest, struct item *item)
{
	struct slice all, part, name, value;

	if (!next_part(rest, ',', &all))
		return false;
	*item = (struct item){.weight = 1000};
	(void)next_part(&all, ';', &item->name);
	while (next_part(&all, ';', &part)) {
		split_parameter(part, &name, &value);
		if (equals(name, "q"))
			item->weight = parse_weight(value);
		else if (equals(name, "version"))
			item->version = value;
	}
	return true;
}

enum triad_exposition_format triad_http_format(const char *accept)
{
	struct slice rest = {accept, accept ? strlen(accept) : 0};
	unsigned open = 0, text = 0;
	struct item item;

	/* Of several items that name a format, the one with the greatest weight
	 * counts. */
	while (next_item(&rest, &item)) {
		if (equals(item.name, "application/openmetrics-text") &&
			(!item.version.length || equals(item.version, "1.0.0")))
			open = MAX(open, item.weight);
		else if (equals(item.name, "text/plain") ||
			equals(item.name, "text/*") || equals(item.name, "*/*"))
			text = MAX(text, item.weight);
	}
	return open && open >= text ? TRIAD_EXPOSITION_OPENMETRICS
				    : TRIAD_EXPOSITION_TEXT;
}

bool triad_http_takes_gzip(const char *accept_encoding)
{
	struct slice rest = {
		accept_encoding, accept_encoding ? strlen(accept_encoding) : 0};
	bool named = false, takes = false;
	struct item item;

	while (next_item(&rest, &item)) {
		/* An item that names gzip overrules "*", in any order [RFC 9110
		 * 12.5.3]. */
		if (equals(item.name, "gzip") || equals(item.name, "x-gzip")) {
			takes = named ? takes || item.weight : item.weight;
			named = true;
		} else if (equals(item.name, "*") && !named) {
			takes = item.weight;
		}
	}
	return takes;
}

/* --- what is asked for, and what the client has --- */

/* The part behind the scheme; NULL: there is no scheme. */
static const char *skip_scheme(const char *target)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (unsigned i = 0; i < 2; i++)
		if (!strncasecmp(target, schemes[i], strlen(schemes[i])))
			return target + strlen(schemes[i]);
	return NULL;
}

const char *triad_http_path_of(const char *target)
{
	const char *host = skip_scheme(target);

	if (!host)
		return target;
	host += strcspn(host, "/?");
	return *host == '/' ? host : "/";
}

const char *triad_http_host_of(
	const char *target, const char *header, char *room, size_t size)
{
	const char *host = skip_scheme(target);

	if (!host)
		return header;
	snprintf(room, size, "%.*s", (int)strcspn(host, "/?"), host);
	return room;
}

/* Copies the host without its port.  False when anything else follows the host. */
static bool cut_port(const char *host, char *name, size_t size)
{
	size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	if (n >= size || n > strlen(host))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	host += n;
	return !*host || (*host == ':' && !host[1 + strspn(host + 1, "0123456789")]);
}

static bool is_numeric(char *name)
{
	struct triad_address address;
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t length = strlen(name);

	if (*name == '[') {
		name[length - 1] = '\0';
		name++;
	}
	return triad_ip_parse(name, &address, reason, sizeof(reason));
}

bool triad_http_is_our_host(const char *host, const char *names)
{
	char name[256], one[256];

	if (!host || !cut_port(host, name, sizeof(name)))
		return false;
	if (!strcasecmp(name, "localhost"))
		return true;
	while (triad_list_next(&names, one, sizeof(one)))
		if (!strcasecmp(one, name))
			return true;
	return is_numeric(name);
}

bool triad_http_has_etag(const char *if_none_match, const char *etag)
{
	struct slice rest = {if_none_match, if_none_match ? strlen(if_none_match) : 0};
	struct slice item;

	while (next_part(&rest, ',', &item)) {
		if (equals(item, "*"))
			return true;
		/* For reading, weak tags are as good. */
		if (item.length > 2 && !memcmp(item.at, "W/", 2)) {
			item.at += 2;
			item.length -= 2;
		}
		if (item.length == strlen(etag) && !memcmp(item.at, etag, item.length))
			return true;
	}
	return false;
}

bool triad_http_is_path(const char *target, const char *path)
{
	size_t length = strlen(path);

	return !strncmp(target, path, length) &&
		(!target[length] || target[length] == '?');
}

/* --- tokens ------------------------------------------------------------ */

bool triad_http_has_token(const char *authorization, const char *token)
{
	size_t n_token = strlen(token), n;
	unsigned char differs;

	if (!authorization || strncasecmp(authorization, "Bearer ", 7) || !n_token)
		return false;
	authorization += 7 + strspn(authorization + 7, " ");
	n = strlen(authorization);
	differs = n != n_token;
	/* The time must not reveal how much of the token was right, so compare all
	 * octets that the client sent. */
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(authorization[i] ^ token[i % n_token]);
	return !differs;
}
