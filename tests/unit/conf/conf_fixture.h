/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What tests of triad.conf stand on: a configuration, the defaults beside it, and what
 * was reported.  Nobody shares the configuration, so tests may change it. */
#ifndef TRIAD_TESTS_UNIT_CONF_CONF_FIXTURE_H
#define TRIAD_TESTS_UNIT_CONF_CONF_FIXTURE_H

#include <string.h>

#include "tests/unit/run.h"
#include "triad/conf.h"

#define GUID UINT64_C(0x0002c90300001234)
#define GUID_TEXT "0x0002c90300001234"

static struct triad_conf *conf, *defaults;
static struct triad_diags diags;

/* Puts the defaults in the place of '*place'. */
static inline void renew(struct triad_conf **place)
{
	triad_conf_unref(*place);
	*place = triad_conf_new(GUID);
	ck_assert_ptr_nonnull(*place);
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
