/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of triad.conf: a configuration, the defaults, and the
 * diagnostics.  No other code has a reference to the configuration, so tests may change
 * it. */
#ifndef TRIAD_TESTS_UNIT_CONF_CONF_FIXTURE_H
#define TRIAD_TESTS_UNIT_CONF_CONF_FIXTURE_H

#include <string.h>

#include "tests/unit/run.h"
#include "triad/conf.h"

#define GUID UINT64_C(0x0002c90300001234)
#define GUID_TEXT "0x0002c90300001234"

static struct triad_conf *conf, *defaults;
static struct triad_diags diags;

/* Replaces '*owned' by a configuration with defaults. */
static inline void renew(struct triad_conf **owned)
{
	triad_conf_unref(*owned);
	*owned = triad_conf_new(GUID);
	ck_assert_ptr_nonnull(*owned);
}

static inline void begin(void)
{
	triad_diags_init(&diags, "triad.conf");
	renew(&conf);
	renew(&defaults);
}

static inline int parse(const char *text)
{
	renew(&conf);
	return triad_conf_parse(text, strlen(text), GUID, conf, &diags);
}

static inline int set(const char *key, const char *value)
{
	struct triad_conf *changed;
	int error = triad_conf_set(conf, key, value, GUID, "OpenSM", &diags, &changed);

	if (error)
		return error;
	triad_conf_unref(conf);
	conf = changed;
	return 0;
}

#endif
