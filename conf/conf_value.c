/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "conf/conf_value.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/quantity.h"
#include "lib/text.h"

/* A member of 'struct triad_conf', of the type that its row names. */
union member {
	char *octets;
	bool *boolean;
	unsigned *number;
	struct triad_threshold *threshold;
};

static union member member_of(
	const struct triad_conf *conf, struct triad_conf_key_ref ref)
{
	return (union member){.octets = (char *)conf + ref.key->offset +
			triad_conf_element_offset(ref.key->per, ref.element)};
}

static bool refuse_value(char *reason, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool refuse_value(char *reason, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(reason, size, format, args);
	va_end(args);
	return false;
}

static bool is_one_of(const char *value, const char *const *words)
{
	while (*words && g_ascii_strcasecmp(value, *words))
		words++;
	return *words;
}

static bool set_bool(bool *member, const char *value, char *reason, size_t size)
{
	static const char *const yes[] = {"true", "yes", "on", "1", NULL};
	static const char *const no[] = {"false", "no", "off", "0", NULL};

	if (!is_one_of(value, yes) && !is_one_of(value, no))
		return refuse_value(reason, size, "'%.80s' isn't true or false", value);
	*member = is_one_of(value, yes);
	return true;
}

static bool set_uint(unsigned *member, const struct triad_conf_key *key,
	const char *value, char *reason, size_t size)
{
	unsigned number = 0;
	enum triad_quantity refusal = triad_quantity_parse(value, key->unit, &number);

	if (!refusal && (number < key->min || number > key->max))
		refusal = TRIAD_QUANTITY_TOO_LARGE;
	if (!refusal) {
		*member = number;
		return true;
	}
	triad_quantity_explain(refusal, value, key->unit, reason, size);
	triad_text_append(reason, size, "; allowed are %u to %u%s%s", key->min,
		key->max, key->unit[0] ? " " : "", key->unit);
	return false;
}

static bool set_choice(unsigned *member, const struct triad_conf_key *key,
	const char *value, char *reason, size_t size)
{
	unsigned i;

	for (i = 0; key->choices[i]; i++) {
		if (!g_ascii_strcasecmp(value, key->choices[i])) {
			*member = i;
			return true;
		}
	}
	refuse_value(reason, size, "'%.80s' isn't one of", value);
	for (i = 0; key->choices[i]; i++)
		triad_text_append(reason, size, "%s %s", i ? "," : "", key->choices[i]);
	return false;
}

/* Replaces %g and %%.  Returns the length of the result, even if it has no room, or -1
 * for any other character after a '%'. */
static int path_expand(char *path, size_t size, const char *value, uint64_t port_guid)
{
	size_t length = 0;

	path[0] = '\0';
	for (; *value; value++) {
		char piece[32] = {*value};

		if (*value == '%' && *++value == 'g')
			snprintf(piece, sizeof(piece), "0x%016" PRIx64, port_guid);
		else if (piece[0] == '%' && *value != '%')
			return -1;
		triad_text_append(path, size, "%s", piece);
		length += strlen(piece);
	}
	return (int)length;
}

/* False for control characters, which would break a line or drive a terminal. */
static bool check_octets(const char *value, char *reason, size_t size)
{
	if (triad_text_check(value, strlen(value)) == strlen(value))
		return true;
	return refuse_value(
		reason, size, "'%.80s' has a control character or isn't UTF-8", value);
}

static bool set_path(char *member, const struct triad_conf_key *key, const char *value,
	uint64_t port_guid, char *reason, size_t size)
{
	char path[TRIAD_CONF_PATH_SIZE] = ""; /* zeros behind the end */
	int length;

	if (!check_octets(value, reason, size))
		return false;
	if (!*value && key->may_be_empty) {
		memcpy(member, path, sizeof(path));
		return true;
	}
	if (*value != '/')
		return refuse_value(reason, size,
			"'%.80s' isn't an absolute path; it must begin with '/'",
			value);
	if (value[strlen(value) - 1] == '/')
		return refuse_value(
			reason, size, "'%.80s' names a folder, not a file", value);
	/* Check the length after %g has been replaced. */
	length = path_expand(path, sizeof(path), value, port_guid);
	if (length < 0)
		return refuse_value(reason, size,
			"'%.80s' has a '%%' that isn't %%g (the port's GUID) or %%%%",
			value);
	if ((size_t)length >= sizeof(path))
		return refuse_value(reason, size,
			"'%.40s...' has %d octets once %%g is replaced; a path here "
			"has at most %zu",
			value, length, sizeof(path) - 1);
	memcpy(member, path, sizeof(path));
	return true;
}

static bool set_text(char *member, const struct triad_conf_key *key, const char *value,
	char *reason, size_t size)
{
	char text[TRIAD_CONF_TEXT_SIZE] = ""; /* zeros behind the end */

	if (!check_octets(value, reason, size) || !key->check(value, reason, size))
		return false;
	if (strlen(value) >= sizeof(text))
		return refuse_value(reason, size,
			"the value has %zu octets; allowed are %zu", strlen(value),
			sizeof(text) - 1);
	strcpy(text, value);
	memcpy(member, text, sizeof(text));
	return true;
}

static bool set_threshold(struct triad_threshold *member, struct triad_conf_key_ref ref,
	const char *value, char *reason, size_t size)
{
	struct triad_threshold threshold;
	size_t counters_at = offsetof(struct triad_conf_thresholds, counter);
	/* There is a threshold for each counter: the row's offset gives the counter. */
	unsigned counter =
		(unsigned)((ref.key->offset - counters_at) / sizeof(threshold));

	if (!triad_threshold_parse(value, counter, &threshold, reason, size))
		return false;
	if (!ref.element && threshold.unit == TRIAD_THRESHOLD_INHERIT)
		return refuse_value(reason, size,
			"'%.80s' is for [alerts NAME]; [alerts] itself has nothing to "
			"inherit from",
			value);
	/* Member by member, so that padding stays 0 for memcmp(). */
	member->value = threshold.value;
	member->unit = threshold.unit;
	return true;
}

bool triad_conf_value_set(struct triad_conf *conf, struct triad_conf_key_ref ref,
	const char *value, uint64_t port_guid, char *reason, size_t size)
{
	const struct triad_conf_key *key = ref.key;
	union member member = member_of(conf, ref);

	switch (key->type) {
	case TRIAD_CONF_BOOL:
		return set_bool(member.boolean, value, reason, size);
	case TRIAD_CONF_UINT:
		return set_uint(member.number, key, value, reason, size);
	case TRIAD_CONF_CHOICE:
		return set_choice(member.number, key, value, reason, size);
	case TRIAD_CONF_PATH:
		return set_path(member.octets, key, value, port_guid, reason, size);
	case TRIAD_CONF_TEXT:
		return set_text(member.octets, key, value, reason, size);
	case TRIAD_CONF_THRESHOLD:
		return set_threshold(member.threshold, ref, value, reason, size);
	}
	return refuse_value(reason, size, "the key has no type");
}

static size_t member_size(enum triad_conf_type type)
{
	switch (type) {
	case TRIAD_CONF_BOOL:
		return sizeof(bool);
	case TRIAD_CONF_PATH:
		return TRIAD_CONF_PATH_SIZE;
	case TRIAD_CONF_TEXT:
		return TRIAD_CONF_TEXT_SIZE;
	case TRIAD_CONF_THRESHOLD:
		return sizeof(struct triad_threshold);
	default:
		return sizeof(unsigned);
	}
}

bool triad_conf_value_is_same(const struct triad_conf *a, const struct triad_conf *b,
	struct triad_conf_key_ref ref)
{
	return !memcmp(member_of(a, ref).octets, member_of(b, ref).octets,
		member_size(ref.key->type));
}

void triad_conf_value_copy(struct triad_conf *to, const struct triad_conf *from,
	struct triad_conf_key_ref ref)
{
	memcpy(member_of(to, ref).octets, member_of(from, ref).octets,
		member_size(ref.key->type));
	triad_conf_value_set_origin(to, ref, triad_conf_value_origin(from, ref));
}

void triad_conf_value_set_origin(struct triad_conf *conf, struct triad_conf_key_ref ref,
	enum triad_conf_origin origin)
{
	size_t index = triad_conf_key_index(ref.key);
	uint32_t bit = UINT32_C(1) << ref.element;

	conf->in_file[index] &= ~bit;
	conf->by_set[index] &= ~bit;
	if (origin == TRIAD_CONF_FROM_FILE)
		conf->in_file[index] |= bit;
	if (origin == TRIAD_CONF_FROM_SET)
		conf->by_set[index] |= bit;
}

enum triad_conf_origin triad_conf_value_origin(
	const struct triad_conf *conf, struct triad_conf_key_ref ref)
{
	size_t index = triad_conf_key_index(ref.key);

	if (conf->by_set[index] >> ref.element & 1)
		return TRIAD_CONF_FROM_SET;
	return conf->in_file[index] >> ref.element & 1 ? TRIAD_CONF_FROM_FILE
						       : TRIAD_CONF_FROM_DEFAULT;
}

void triad_conf_value_format(const struct triad_conf *conf,
	struct triad_conf_key_ref ref, char *text, size_t size)
{
	union member member = member_of(conf, ref);

	switch (ref.key->type) {
	case TRIAD_CONF_BOOL:
		snprintf(text, size, "%s", *member.boolean ? "true" : "false");
		break;
	case TRIAD_CONF_UINT:
		snprintf(text, size, "%u", *member.number);
		break;
	case TRIAD_CONF_CHOICE:
		snprintf(text, size, "%s", ref.key->choices[*member.number]);
		break;
	case TRIAD_CONF_PATH:
		/* As in a file, where each '%' is written twice. */
		text[0] = '\0';
		for (const char *p = member.octets; *p; p++)
			triad_text_append(text, size, "%s%c", *p == '%' ? "%" : "", *p);
		break;
	case TRIAD_CONF_TEXT:
		snprintf(text, size, "%s", member.octets);
		break;
	case TRIAD_CONF_THRESHOLD:
		triad_threshold_format(member.threshold, text, size);
		break;
	}
}
