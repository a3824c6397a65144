/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "conf/conf_keys.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"

bool triad_conf_key_is_of(const char *key, const char *section)
{
	size_t n = strlen(section);

	return !strncmp(key, section, n) && (!key[n] || key[n] == '.');
}

/* --- elements ---------------------------------------------------------- */

unsigned triad_conf_n_elements(const struct triad_conf *conf, enum triad_conf_per per)
{
	switch (per) {
	case TRIAD_CONF_ONCE:
		break;
	case TRIAD_CONF_PER_GROUP:
		return conf->n_groups;
	case TRIAD_CONF_PER_SCOPE:
		return TRIAD_CONF_N_TYPES + conf->n_groups;
	}
	return 1;
}

size_t triad_conf_element_offset(enum triad_conf_per per, unsigned element)
{
	switch (per) {
	case TRIAD_CONF_ONCE:
		break;
	case TRIAD_CONF_PER_GROUP:
		return offsetof(struct triad_conf, groups) +
			element * sizeof(struct triad_conf_group);
	case TRIAD_CONF_PER_SCOPE:
		return offsetof(struct triad_conf, thresholds) +
			element * sizeof(struct triad_conf_thresholds);
	}
	return 0;
}

/* The element's name; NULL for the only element of its kind, or the one for all. */
static const char *element_name(
	const struct triad_conf *conf, enum triad_conf_per per, unsigned element)
{
	switch (per) {
	case TRIAD_CONF_ONCE:
		break;
	case TRIAD_CONF_PER_GROUP:
		return conf->groups[element].name;
	case TRIAD_CONF_PER_SCOPE:
		if (element >= TRIAD_CONF_N_TYPES)
			return conf->groups[element - TRIAD_CONF_N_TYPES].name;
		return element ? triad_conf_types[element] : NULL;
	}
	return NULL;
}

/* The scope of a type of nodes, from 1; or TRIAD_CONF_N_TYPES. */
static unsigned find_type(const char *name)
{
	unsigned i = 1;

	while (i < TRIAD_CONF_N_TYPES && strcmp(name, triad_conf_types[i]) != 0)
		i++;
	return i;
}

bool triad_conf_group_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	if (!n || n >= TRIAD_CONF_GROUP_NAME_SIZE)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!g_ascii_isalnum(name[i]) && name[i] != '_' && name[i] != '-')
			return false;
	for (unsigned i = 1; i < TRIAD_CONF_N_TYPES; i++)
		if (!g_ascii_strcasecmp(name, triad_conf_types[i]))
			return false;
	return true;
}

unsigned triad_conf_group_find(const struct triad_conf *conf, const char *name)
{
	unsigned i = 0;

	while (i < conf->n_groups && strcmp(name, conf->groups[i].name) != 0)
		i++;
	return i;
}

void triad_conf_key_ref_name(const struct triad_conf *conf,
	struct triad_conf_key_ref ref, char *name, size_t size)
{
	const char *element = element_name(conf, ref.key->per, ref.element);

	snprintf(name, size, "%s%s%s.%s", ref.key->section, element ? "." : "",
		element ? element : "", ref.key->name);
}

/* --- sections ---------------------------------------------------------- */

static bool is_in(const struct triad_conf_key *key, const char *section)
{
	return !strcmp(key->section, section);
}

static bool stands_in(
	const struct triad_conf_key *key, const struct triad_conf_section *section)
{
	return key >= section->first && key < section->first + section->n &&
		key->per !=
		(section->is_named ? TRIAD_CONF_ONCE : TRIAD_CONF_PER_GROUP);
}

static enum triad_conf_per elements_of(const struct triad_conf_section *section)
{
	for (size_t i = 0; i < section->n; i++)
		if (section->first[i].per != TRIAD_CONF_ONCE)
			return section->first[i].per;
	return TRIAD_CONF_ONCE;
}

static void explain_section(const char *name, char *text, size_t size)
{
	char first_word[TRIAD_CONF_NAME_SIZE];
	struct triad_text_guess guess = {.word = first_word};
	const char *best = NULL, *behind = name + strcspn(name, " \t");
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	snprintf(first_word, sizeof(first_word), "%.*s", (int)(behind - name), name);
	for (i = 0; i < n; i++)
		if (triad_text_guess_try(&guess, keys[i].section))
			best = keys[i].section;
	snprintf(text, size, "unknown section [%s]; ", name);
	if (best) {
		triad_text_append(text, size, "did you mean [%s%s]?", best, behind);
		return;
	}
	/* Rows of a section are adjacent; it has two headings if some of its keys exist
	 * once for each group or scope. */
	triad_text_append(text, size, "known are ");
	for (i = 0; i < n; i++)
		if (!i || !is_in(&keys[i], keys[i - 1].section) ||
			keys[i].per != keys[i - 1].per)
			triad_text_append(text, size, "[%s%s], ", keys[i].section,
				keys[i].per == TRIAD_CONF_ONCE ? "" : " NAME");
	triad_text_append(text, size, "[port 0x...]");
}

static bool refuse_element(const struct triad_conf *conf, enum triad_conf_per per,
	const char *name, char *reason, size_t size)
{
	const char *separator = "; known are ";

	/* The caller wants no reason, and making it takes time. */
	if (!size)
		return false;
	if (per == TRIAD_CONF_PER_GROUP && !triad_conf_group_name_is_valid(name)) {
		snprintf(reason, size,
			"'%.80s' can't be a group's name: that is 1 to %d of A-Z a-z "
			"0-9 _ -, and not ca, switch or router",
			name, TRIAD_CONF_GROUP_NAME_SIZE - 1);
		return false;
	}
	snprintf(reason, size, "no [group %.80s]", name);
	for (unsigned i = 0; i < triad_conf_n_elements(conf, per); i++) {
		const char *known = element_name(conf, per, i);

		if (known)
			triad_text_append(reason, size, "%s%s", separator, known);
		separator = known ? ", " : separator;
	}
	triad_text_append(reason, size,
		"; groups are made by a section of triad.conf and 'reload'");
	return false;
}

static bool find_element(const struct triad_conf *conf, enum triad_conf_per per,
	const char *name, unsigned *element, char *reason, size_t size)
{
	unsigned group = triad_conf_group_find(conf, name);
	unsigned type =
		per == TRIAD_CONF_PER_SCOPE ? find_type(name) : TRIAD_CONF_N_TYPES;

	if (type < TRIAD_CONF_N_TYPES)
		*element = type;
	else if (group < conf->n_groups)
		*element = per == TRIAD_CONF_PER_SCOPE ? TRIAD_CONF_N_TYPES + group
						       : group;
	else
		return refuse_element(conf, per, name, reason, size);
	return true;
}

/* Finds the rows of the section of that name. */
static struct triad_conf_section find_rows(const char *name)
{
	size_t first = 0, end, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	while (first < n && !is_in(&keys[first], name))
		first++;
	if (first == n)
		return (struct triad_conf_section){0};
	for (end = first; end < n && is_in(&keys[end], name); end++)
		;
	return (struct triad_conf_section){
		.first = &keys[first], .n = (uint8_t)(end - first)};
}

/* False if the section has an element's name but may not, or lacks one but must have
 * it. */
static bool may_stand(const struct triad_conf_section *section)
{
	return elements_of(section) !=
		(section->is_named ? TRIAD_CONF_ONCE : TRIAD_CONF_PER_GROUP);
}

bool triad_conf_section_find(const struct triad_conf *conf, const char *text,
	struct triad_conf_section *section, char *reason, size_t size)
{
	char first[TRIAD_CONF_NAME_SIZE];
	size_t n = strcspn(text, " \t");
	const char *element = text + n + strspn(text + n, " \t");

	snprintf(first, sizeof(first), "%.*s", (int)n, text);
	*section = find_rows(first);
	section->is_named = *element;
	if (!section->first) {
		explain_section(text, reason, size);
		return false;
	}
	if (!may_stand(section)) {
		snprintf(reason, size,
			*element ? "[%s] stands without another word"
				 : "[%s] needs a name: [group NAME]",
			section->first->section);
		return false;
	}
	return !*element ||
		find_element(conf, elements_of(section), element, &section->element,
			reason, size);
}

/* --- keys -------------------------------------------------------------- */

/* Writes the key's name without an element. */
static void general_name(const struct triad_conf_key *key, char *name)
{
	snprintf(name, TRIAD_CONF_NAME_SIZE, "%s.%s%s", key->section,
		key->per == TRIAD_CONF_PER_GROUP ? "NAME." : "", key->name);
}

/* Whether the general name can be similar to a word of that length.  This check is
 * faster than making the name. */
static bool is_as_long(const struct triad_conf_key *key, size_t n_word)
{
	size_t n = strlen(key->section) + strlen(".") + strlen(key->name);

	if (key->per == TRIAD_CONF_PER_GROUP)
		n += strlen("NAME.");
	return n <= n_word + TRIAD_TEXT_GUESS_NEAR &&
		n_word <= n + TRIAD_TEXT_GUESS_NEAR;
}

/* Guesses the key that 'name' stands for, written with or without its section; prefers
 * keys of 'section' (or NULL). */
static const struct triad_conf_key *guess_key(
	const struct triad_conf_section *section, const char *name, const char *written)
{
	struct triad_text_guess guess = {.word = name};
	const struct triad_conf_key *best = NULL;
	const size_t n_written = strlen(written);
	char general[TRIAD_CONF_NAME_SIZE];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	/* Of equally similar names the first one wins, so try those of the section
	 * before all others. */
	for (i = 0; section && i < n; i++)
		if (stands_in(&keys[i], section) &&
			triad_text_guess_try(&guess, keys[i].name))
			best = &keys[i];
	for (i = 0; i < n; i++) {
		if (is_as_long(&keys[i], n_written)) {
			general_name(&keys[i], general);
			guess.word = written;
			if (triad_text_guess_try(&guess, general))
				best = &keys[i];
		}
		guess.word = name;
		if (triad_text_guess_try(&guess, keys[i].name))
			best = &keys[i];
	}
	return best;
}

static void append_known_keys(
	char *text, size_t size, const struct triad_conf_section *section)
{
	const char *separator = "; known are ";
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++) {
		if (!stands_in(&keys[i], section))
			continue;
		triad_text_append(text, size, "%s%s", separator, keys[i].name);
		separator = ", ";
	}
}

/* Writes that a file's section has no key 'name'. */
static void explain_in_section(const struct triad_conf *conf,
	const struct triad_conf_section *section, const char *name, char *text,
	size_t size)
{
	const struct triad_conf_key *guess = guess_key(section, name, name);
	bool is_named = section->is_named;

	snprintf(text, size, "unknown key '%.95s' in [%s%s%s]", name,
		section->first->section, is_named ? " " : "",
		is_named ? element_name(conf, elements_of(section), section->element)
			 : "");
	if (!guess)
		append_known_keys(text, size, section);
	else if (stands_in(guess, section))
		triad_text_append(text, size, "; did you mean '%s'?", guess->name);
	else
		triad_text_append(text, size, "; did you mean '%s' in [%s%s]?",
			guess->name, guess->section,
			guess->per == TRIAD_CONF_PER_GROUP ? " NAME" : "");
}

/* Writes that no key has the name 'full'; 'name' is the part behind its section, if the
 * section is known. */
static void explain_full(const struct triad_conf *conf,
	const struct triad_conf_section *section, const char *name, const char *full,
	char *text, size_t size)
{
	const struct triad_conf_key *guess = guess_key(section, name, full);
	char meant[TRIAD_CONF_NAME_SIZE];

	snprintf(text, size, "unknown key '%.95s'", full);
	if (!guess && section)
		append_known_keys(text, size, section);
	/* Do not list all keys: they would fill two screens. */
	if (!guess && !section)
		triad_text_append(text, size,
			"; 'triadctl get' lists all, and triad.conf(5) describes them");
	if (!guess)
		return;
	if (section && stands_in(guess, section))
		triad_conf_key_ref_name(conf,
			(struct triad_conf_key_ref){guess, section->element}, meant,
			sizeof(meant));
	else
		general_name(guess, meant);
	triad_text_append(text, size, "; did you mean '%s'?", meant);
}

static const struct triad_conf_key *find_key(
	const struct triad_conf_section *section, const char *name)
{
	for (size_t i = 0; i < section->n; i++)
		if (stands_in(&section->first[i], section) &&
			!strcmp(section->first[i].name, name))
			return &section->first[i];
	return NULL;
}

/* Cuts "section.key" or "section.element.key" in pieces; '*element' is NULL without an
 * element.  False without a '.'. */
static bool split_full(char *text, char **element, char **name)
{
	char *first = strchr(text, '.'), *last = strrchr(text, '.');

	if (!first)
		return false;
	*first = *last = '\0';
	*element = first < last ? first + 1 : NULL;
	*name = last + 1;
	return true;
}

static bool is_name_of_key(const char *name)
{
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(keys[i].name, name))
			return true;
	return false;
}

static bool find_full(const struct triad_conf *conf, const char *full,
	struct triad_conf_key_ref *ref, char *reason, size_t size)
{
	char pieces[TRIAD_CONF_NAME_SIZE], *element = NULL, *name = pieces;
	struct triad_conf_section section = {0};

	*ref = (struct triad_conf_key_ref){0};
	snprintf(pieces, sizeof(pieces), "%s", full);
	if (strlen(full) < sizeof(pieces) && split_full(pieces, &element, &name)) {
		section = find_rows(pieces);
		section.is_named = element;
	}
	if (section.first && may_stand(&section)) {
		if (element &&
			!find_element(conf, elements_of(&section), element,
				&section.element, reason, size))
			return false;
		ref->key = find_key(&section, name);
		ref->element = section.element;
		if (!ref->key && size)
			explain_full(conf, &section, name, full, reason, size);
	} else if (size) {
		/* Behind an unknown section, a name similar to a key's is so by chance:
		 * do not guess by it. */
		explain_full(conf, NULL, is_name_of_key(name) ? name : full, full,
			reason, size);
	}
	return ref->key;
}

/* Keys of former releases.  Sorted, one a line. */
static const char *const gone[] = {
	"alerts.ber_false_alarms",
	"alerts.burst",
	"alerts.clear_below",
	"alerts.file_max_size",
	"alerts.keep",
	"alerts.webhook_repeat",
	"collect.address",
	"collect.liveness",
	"collect.max_nodes",
	"collect.paths",
	"collect.paths_file",
	"collect.refresh",
	"congestion.busy",
	"congestion.wait",
	"control.enabled",
	"control.max_clients",
	"devices.rate",
	"election.fabric_heartbeat",
	"election.keepalive",
	"election.status_interval",
	"election.timeout",
	"election.trace_keep",
	"election.trace_max_size",
	"history.replicate_rate",
	"perfmgr.detail_memory",
	"perfmgr.forget_after",
	"perfmgr.node_window",
	"port.max_tests",
	"port.test_admission",
	"port.test_application",
	"port.test_miswire",
	"port.test_presence",
	"port.test_quality",
	"port.test_rate",
	"profile.max_age",
	"profile.min_change",
	"prometheus.max_clients",
	"qos.service_id_mask",
	"qos.threads",
	"sflow.mtu",
	"state.history",
};

const char *triad_conf_key_gone(size_t i)
{
	return i < sizeof(gone) / sizeof(*gone) ? gone[i] : NULL;
}

const char *triad_conf_key_find_gone(
	const struct triad_conf_section *section, const char *name)
{
	char full[TRIAD_CONF_NAME_SIZE];

	if (section && section->is_named)
		return NULL;
	snprintf(full, sizeof(full), "%s%s%s", section ? section->first->section : "",
		section ? "." : "", name);
	for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++)
		if (!strcmp(full, gone[i]))
			return gone[i];
	return NULL;
}

bool triad_conf_key_ref_find(const struct triad_conf *conf,
	const struct triad_conf_section *section, const char *name,
	struct triad_conf_key_ref *ref, char *reason, size_t size)
{
	if (!section)
		return find_full(conf, name, ref, reason, size);
	*ref = (struct triad_conf_key_ref){find_key(section, name), section->element};
	if (!ref->key && size)
		explain_in_section(conf, section, name, reason, size);
	return ref->key;
}
