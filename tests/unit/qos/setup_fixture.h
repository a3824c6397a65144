/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fixture of tests of a policy's scopes: a policy of groups and scopes in XML,
 * compiled, and the scopes object under test. */
#ifndef TRIAD_TESTS_UNIT_QOS_SETUP_FIXTURE_H
#define TRIAD_TESTS_UNIT_QOS_SETUP_FIXTURE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "qos/setup/setup.h"
#include "tests/unit/run.h"

#define IDENTITY "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

#define GROUP(name, keys) "<port-group><name>" name "</name>" keys "</port-group>\n"
#define SL2VL_OF(table, keys)                                                          \
	"<sl2vl-scope>" keys "<sl2vl-table>" table "</sl2vl-table></sl2vl-scope>\n"
#define SL2VL(keys) SL2VL_OF(IDENTITY, keys)
#define VLARB_OF(tables, keys) "<vlarb-scope>" keys tables "</vlarb-scope>\n"
#define VLARB(keys) VLARB_OF("<vl-high-limit>1</vl-high-limit>", keys)

static struct triad_policy *policy;
static struct triad_setup *setup;
static struct triad_scopes *scopes;

static inline void drop_setup(void)
{
	triad_scopes_free(scopes);
	scopes = NULL;
	triad_setup_unref(setup);
	setup = NULL;
	triad_policy_unref(policy);
	policy = NULL;
}

static inline void parse(const char *groups, const char *sl2vl, const char *vlarb)
{
	static struct triad_diags diags;
	char message[2 * TRIAD_DIAG_TEXT_SIZE] = "";
	char *text = g_strdup_printf(
		"<qos-policy><port-groups>%s</port-groups><qos-setup>"
		"<sl2vl-tables>%s</sl2vl-tables><vlarb-tables>%s</vlarb-tables>"
		"</qos-setup><qos-levels><qos-level><name>default</name><sl>0</sl>"
		"</qos-level></qos-levels></qos-policy>",
		groups, sl2vl, vlarb);
	int error;

	drop_setup();
	error = triad_policy_parse(text, strlen(text), "p", NULL, &policy, &diags);
	if (error)
		triad_diags_format(&diags, 0, message, sizeof(message));
	ck_assert_msg(!error, "%s", message);
	g_free(text);
}

static inline void use(const char *groups, const char *sl2vl, const char *vlarb)
{
	parse(groups, sl2vl, vlarb);
	ck_assert_int_eq(triad_setup_compile(policy, &setup), 0);
	scopes = triad_scopes_new(setup);
	ck_assert_ptr_nonnull(scopes);
}

#endif
