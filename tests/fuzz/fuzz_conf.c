/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* triad.conf with any octets.  The first 8 are the GUID of the port; the rest is the
 * file.  If the first line of the file is "section.key value", it is also set at run
 * time. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf_value.h"
#include "tests/fuzz/fuzz.h"

static void check_diags(const struct triad_diags *diags, bool failed)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32];

	require(failed == (diags->n_total > 0), "an error has a diagnostic");
	require(diags->n <= TRIAD_DIAG_MAX && diags->n <= diags->n_total,
		"list bounded");
	for (size_t i = 0; i < diags->n; i++) {
		triad_diags_format(diags, i, text, sizeof(text));
		require(!strpbrk(text, "\n\r\033"), "no control character shown");
	}
}

/* The defaults depend on the GUID, which an input seldom changes. */
static const struct triad_conf *standards_of(uint64_t guid)
{
	static const struct triad_conf *standards;
	static uint64_t whose;

	if (guid != whose) {
		triad_conf_unref(standards);
		standards = triad_conf_new(guid);
		require(standards, "memory");
	}
	whose = guid;
	return standards;
}

struct text {
	size_t size;
	char octets[1024 * (TRIAD_CONF_VALUE_SIZE + TRIAD_CONF_NAME_SIZE + 8)];
};

static void write_element(struct text *text, const struct triad_conf *conf,
	const struct triad_conf *standards, struct triad_conf_key_ref ref)
{
	char name[TRIAD_CONF_NAME_SIZE], value[TRIAD_CONF_VALUE_SIZE];

	if (triad_conf_value_is_same(conf, standards, ref))
		return;
	triad_conf_key_ref_name(conf, ref, name, sizeof(name));
	triad_conf_value_format(conf, ref, value, sizeof(value));
	text->size +=
		(size_t)sprintf(text->octets + text->size, "%s = %s\n", name, value);
}

/* Writes the values that differ from their defaults; unit tests check the defaults. */
static void write_values(
	struct text *text, const struct triad_conf *conf, uint64_t guid)
{
	static struct triad_conf standards;
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	standards = *standards_of(guid);
	text->size = 0;
	for (unsigned i = 0; i < conf->n_groups; i++) {
		triad_conf_group_add(&standards, conf->groups[i].name);
		text->size += (size_t)sprintf(text->octets + text->size, "[group %s]\n",
			conf->groups[i].name);
	}
	text->size += (size_t)sprintf(
		text->octets + text->size, "[port 0x%" PRIx64 "]\n", guid);
	for (size_t i = 0; i < n; i++)
		for (unsigned j = 0; j < triad_conf_n_elements(conf, keys[i].per); j++)
			write_element(text, conf, &standards,
				(struct triad_conf_key_ref){&keys[i], j});
}

/* Checks that a file can contain each value, even if other values were wrong. */
static void check_values(const struct triad_conf *conf, uint64_t guid)
{
	static struct text text;
	static struct triad_conf again, before;
	struct triad_diags diags;

	if (!memcmp(conf, standards_of(guid), sizeof(*conf)))
		return;
	write_values(&text, conf, guid);
	triad_diags_init(&diags, "formatted");
	again = *standards_of(guid);
	require(!triad_conf_parse(text.octets, text.size, guid, &again, &diags),
		"values are in range");
	/* The values' origin differs, as values at their defaults were not written. */
	before = *conf;
	memset(before.in_file, 0, sizeof(before.in_file));
	memset(before.by_set, 0, sizeof(before.by_set));
	/* Nor are the keys of former releases. */
	memset(before.gone, 0, sizeof(before.gone));
	memset(again.in_file, 0, sizeof(again.in_file));
	require(!memcmp(&again, &before, sizeof(again)), "values stay the same");
}

/* Sets a value in the configuration that the file made; the value may be of a group. */
static void set_one(
	const struct triad_conf *conf, const char *text, size_t size, uint64_t guid)
{
	char line[512], *value;
	struct triad_conf *changed;
	struct triad_diags diags;

	snprintf(line, sizeof(line), "%.*s", (int)(size < 500 ? size : 500), text);
	line[strcspn(line, "\n")] = '\0';
	value = strchr(line, ' ');
	if (!value)
		return;
	*value++ = '\0';
	triad_diags_init(&diags, "set");
	if (triad_conf_set(conf, line, value, guid, "OpenSM", &diags, &changed)) {
		check_diags(&diags, true);
	} else {
		check_diags(&diags, false);
		check_values(changed, guid);
		triad_conf_unref(changed);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + sizeof(uint64_t);
	struct triad_diags diags;
	static struct triad_conf conf; /* its references aren't counted */
	uint64_t guid;
	int error;

	if (size < sizeof(guid))
		return 0;
	memcpy(&guid, data, sizeof(guid));
	guid |= !guid;
	size -= sizeof(guid);
	triad_diags_init(&diags, "triad.conf");
	conf = *standards_of(guid);
	error = triad_conf_parse(text, size, guid, &conf, &diags);
	check_diags(&diags, error);
	check_values(&conf, guid);
	set_one(&conf, text, size, guid);
	return 0;
}
