/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/conf.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf_keys.h"
#include "conf/conf_value.h"
#include "triad/lists.h"

/* A configuration with its reference count, which only this file knows. */
struct counted {
	struct triad_conf conf;
	atomic_uint refs;
};

/* --- life -------------------------------------------------------------- */

static void set_defaults(struct triad_conf *conf, enum triad_conf_per per,
	unsigned element, uint64_t port_guid)
{
	char reason[TRIAD_DIAG_TEXT_SIZE];
	size_t i, n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (i = 0; i < n; i++)
		if (keys[i].per == per)
			triad_conf_value_set(conf,
				(struct triad_conf_key_ref){&keys[i], element},
				keys[i].default_text, port_guid, reason,
				sizeof(reason));
}

/* Makes a configuration of zeros, with one reference. */
static struct triad_conf *make_conf(void)
{
	/* Zeros, also behind the ends of texts: keys are compared octet by octet. */
	struct counted *counted = calloc(1, sizeof(*counted));

	if (!counted)
		return NULL;
	atomic_init(&counted->refs, 1);
	return &counted->conf;
}

struct triad_conf *triad_conf_new(uint64_t port_guid)
{
	struct triad_conf *conf = make_conf();

	if (!conf)
		return NULL;
	set_defaults(conf, TRIAD_CONF_ONCE, 0, port_guid);
	/* The other scopes inherit: that is what zeros mean. */
	set_defaults(conf, TRIAD_CONF_PER_SCOPE, 0, port_guid);
	return conf;
}

/* Drops 'const': the count changes, the configuration does not. */
static struct counted *counted_of(const struct triad_conf *conf)
{
	return (struct counted *)(uintptr_t)conf;
}

const struct triad_conf *triad_conf_ref(const struct triad_conf *conf)
{
	atomic_fetch_add_explicit(&counted_of(conf)->refs, 1, memory_order_relaxed);
	return conf;
}

void triad_conf_unref(const struct triad_conf *conf)
{
	if (conf && atomic_fetch_sub(&counted_of(conf)->refs, 1) == 1)
		free(counted_of(conf));
}

void triad_conf_group_add(struct triad_conf *conf, const char *name)
{
	struct triad_conf_group *group = &conf->groups[conf->n_groups];

	snprintf(group->name, sizeof(group->name), "%s", name);
	set_defaults(conf, TRIAD_CONF_PER_GROUP, conf->n_groups, 0);
	conf->n_groups++;
}

/* --- single keys ------------------------------------------------------- */

static const struct triad_conf_key *find_key(
	const struct triad_conf *conf, const char *section_name, const char *name)
{
	struct triad_conf_section section;
	struct triad_conf_key_ref ref;

	triad_conf_section_find(conf, section_name, &section, NULL, 0);
	triad_conf_key_ref_find(conf, &section, name, &ref, NULL, 0);
	return ref.key;
}

static bool is_for_others(const char *listen)
{
	struct triad_address address;
	char reason[TRIAD_DIAG_TEXT_SIZE];

	return *listen &&
		triad_address_parse(listen, 0, &address, reason, sizeof(reason)) &&
		!triad_address_is_loopback(&address);
}

/* A key and its certificate need each other; a client's CA needs both. */
static bool find_need_of_tls(const struct triad_conf *conf, const char *section,
	const struct triad_conf_listener *listener, struct triad_conf_need *need)
{
	bool has_certificate = listener->tls_certificate[0];
	bool has_key = listener->tls_key[0];
	const char *because = "tls_client_ca", *missing = "tls_certificate";

	if (has_key != has_certificate) {
		because = has_key ? "tls_key" : "tls_certificate";
		missing = has_key ? "tls_certificate" : "tls_key";
	} else if (!listener->tls_client_ca[0] || has_certificate) {
		return false;
	}
	*need = (struct triad_conf_need){.because = find_key(conf, section, because),
		.missing = find_key(conf, section, missing),
		.why = ""};
	return true;
}

bool triad_conf_find_need(const struct triad_conf *conf, struct triad_conf_need *need)
{
	const struct triad_conf_listener *web = &conf->web.http;

	if (find_need_of_tls(conf, "prometheus", &conf->prometheus, need) ||
		find_need_of_tls(conf, "web", web, need))
		return true;
	/* Commands show more than counters, so remote clients need a token. */
	if (!is_for_others(web->listen) ||
		(web->tls_certificate[0] && web->token_file[0]))
		return false;
	*need = (struct triad_conf_need){.because = find_key(conf, "web", "listen"),
		.missing = find_key(conf, "web",
			web->tls_certificate[0] ? "token_file" : "tls_certificate"),
		.why = " (other hosts can reach that address: it takes TLS and a "
		       "token; 127.0.0.1 and [::1] do without)"};
	return true;
}

/* Copies 'value' without blanks around it; EINVAL when it is too long. */
static int copy_trimmed(const char *value, char *text, struct triad_diags *diags)
{
	size_t n;

	value += strspn(value, " \t");
	n = strlen(value);
	while (n && strchr(" \t", value[n - 1]))
		n--;
	if (n < TRIAD_CONF_VALUE_SIZE) {
		snprintf(text, TRIAD_CONF_VALUE_SIZE, "%.*s", (int)n, value);
		return 0;
	}
	triad_diags_add(diags, 0, 0, "the value has %zu octets; allowed are %d", n,
		TRIAD_CONF_VALUE_SIZE - 1);
	return EINVAL;
}

/* Sets a value.  After an error 'conf' may have changed: the caller drops it. */
static int set_value(struct triad_conf *conf, struct triad_conf_key_ref ref,
	const char *name, const char *value, uint64_t port_guid,
	struct triad_diags *diags)
{
	char text[TRIAD_CONF_VALUE_SIZE], reason[TRIAD_DIAG_TEXT_SIZE];
	struct triad_conf_need need;
	int error = copy_trimmed(value, text, diags);

	if (error)
		return error;
	if (!triad_conf_value_set(conf, ref, text, port_guid, reason, sizeof(reason))) {
		triad_diags_add(diags, 0, 0, "%s: %s", name, reason);
		return EINVAL;
	}
	triad_conf_value_set_origin(conf, ref, TRIAD_CONF_FROM_SET);
	if (!triad_conf_find_need(conf, &need))
		return 0;
	triad_diags_add(diags, 0, 0,
		"%s.%s needs %s.%s%s: change both in the file, then type 'reload'",
		need.because->section, need.because->name, need.missing->section,
		need.missing->name, need.why);
	return EINVAL;
}

int triad_conf_set(const struct triad_conf *conf, const char *name, const char *value,
	uint64_t port_guid, const char *program, struct triad_diags *diags,
	struct triad_conf **changed)
{
	struct triad_conf_key_ref ref;
	struct triad_conf *copy;
	char reason[TRIAD_DIAG_TEXT_SIZE];
	int error;

	if (!triad_conf_key_ref_find(conf, NULL, name, &ref, reason, sizeof(reason))) {
		triad_diags_add(diags, 0, 0, "%s", reason);
		return ENOENT;
	}
	if (!ref.key->at_run_time) {
		triad_diags_add(diags, 0, 0,
			"%s is read only when %s starts: change it in the file, then "
			"restart %s",
			name, program, program);
		return EPERM;
	}
	copy = make_conf();
	if (!copy) {
		triad_diags_add(diags, 0, 0, "%s: not enough memory", name);
		return ENOMEM;
	}
	*copy = *conf;
	error = set_value(copy, ref, name, value, port_guid, diags);
	if (error)
		triad_conf_unref(copy);
	else
		*changed = copy;
	return error;
}

void triad_conf_keep_start_only(struct triad_conf *conf,
	const struct triad_conf *in_force, const char *program,
	struct triad_diags *notes)
{
	char wanted[TRIAD_CONF_VALUE_SIZE], present[TRIAD_CONF_VALUE_SIZE];
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n);

	for (size_t i = 0; i < n; i++) {
		struct triad_conf_key_ref ref = {.key = &keys[i]};

		if (keys[i].at_run_time ||
			triad_conf_value_is_same(conf, in_force, ref))
			continue;
		triad_conf_value_format(conf, ref, wanted, sizeof(wanted));
		triad_conf_value_format(in_force, ref, present, sizeof(present));
		triad_diags_add(notes, 0, 0,
			"%s.%s = %s takes effect when %s is restarted; until then it "
			"is %s",
			keys[i].section, keys[i].name, wanted, program, present);
		triad_conf_value_copy(conf, in_force, ref);
	}
}

/* --- all keys ---------------------------------------------------------- */

static bool is_block(const struct triad_conf_key *a, const struct triad_conf_key *b)
{
	return a->per == b->per && !strcmp(a->section, b->section);
}

/* Steps to the next key, also to an inherited threshold.  Adjacent rows of one kind and
 * section are a block; all keys of a block come once for each element. */
static bool step_key(const struct triad_conf *conf, struct triad_conf_entry *entry)
{
	size_t n;
	const struct triad_conf_key *keys = triad_conf_keys(&n), *end = keys + n;
	const struct triad_conf_key *key = entry->key, *next = key ? key + 1 : keys;

	if (key && (next == end || !is_block(key, next))) {
		entry->element++;
		if (entry->element < triad_conf_n_elements(conf, key->per)) {
			while (key > keys && is_block(key - 1, key))
				key--;
			next = key;
		} else {
			entry->element = 0;
		}
	}
	/* Skip blocks without elements. */
	while (next < end && !triad_conf_n_elements(conf, next->per))
		next++;
	entry->key = next;
	return next < end;
}

/* What readers of a configuration may see. */
static void mask_value(const struct triad_conf_key *key, const char *value, char *shown)
{
	if (key->check == triad_servers_check)
		triad_servers_mask(value, shown, TRIAD_CONF_VALUE_SIZE);
	else if (key->is_secret && strcmp(value, key->default_text) != 0)
		snprintf(shown, TRIAD_CONF_VALUE_SIZE, "***");
	else
		memcpy(shown, value, TRIAD_CONF_VALUE_SIZE);
}

/* Fills in the entry from its key. */
static void fill_entry(const struct triad_conf *conf, struct triad_conf_entry *entry)
{
	struct triad_conf_key_ref ref = {entry->key, entry->element};
	char value[TRIAD_CONF_VALUE_SIZE];

	triad_conf_value_format(conf, ref, value, sizeof(value));
	mask_value(ref.key, value, entry->value);
	triad_conf_key_ref_name(conf, ref, entry->name, sizeof(entry->name));
	entry->origin = triad_conf_value_origin(conf, ref);
}

bool triad_conf_next(const struct triad_conf *conf, struct triad_conf_entry *entry)
{
	while (step_key(conf, entry)) {
		fill_entry(conf, entry);
		if (entry->key->type != TRIAD_CONF_THRESHOLD ||
			strcmp(entry->value, "inherit") != 0)
			return true;
	}
	return false;
}

/* --- keys by name ------------------------------------------------------ */

bool triad_conf_get(const struct triad_conf *conf, const char *name,
	struct triad_conf_entry *entry, char *reason, size_t size)
{
	struct triad_conf_key_ref ref;

	if (!triad_conf_key_ref_find(conf, NULL, name, &ref, reason, size))
		return false;
	entry->key = ref.key;
	entry->element = ref.element;
	fill_entry(conf, entry);
	return true;
}

bool triad_conf_is_alike(
	const struct triad_conf *a, const struct triad_conf *b, const char *name)
{
	char value_a[TRIAD_CONF_VALUE_SIZE], value_b[TRIAD_CONF_VALUE_SIZE];
	struct triad_conf_key_ref ref_a, ref_b;

	/* The two may number groups differently, so find keys by name. */
	if (!triad_conf_key_ref_find(a, NULL, name, &ref_a, NULL, 0) ||
		!triad_conf_key_ref_find(b, NULL, name, &ref_b, NULL, 0))
		return false;
	triad_conf_value_format(a, ref_a, value_a, sizeof(value_a));
	triad_conf_value_format(b, ref_b, value_b, sizeof(value_b));
	return !strcmp(value_a, value_b);
}
