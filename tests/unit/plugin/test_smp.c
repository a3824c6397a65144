/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* SMPs where the local port can't be opened. */
#include "plugin/opensm.h"

#include "plugin/ports/smp.h"

#include <errno.h>

#include "plugin/physp.h"
#include "service/umad.h"
#include "tests/unit/run.h"

/* --- substitutes --- */

int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad)
{
	return EMFILE;
}

int triad_umad_open_vendor(uint64_t port_guid, int mgmt_class, const uint8_t oui[3],
	unsigned method, struct triad_umad **umad)
{
	return EMFILE;
}

void triad_umad_close(struct triad_umad *umad, bool in_flight)
{
}

const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad)
{
	return NULL;
}

bool triad_physp_find_m_key(
	struct osm_opensm *osm, uint64_t node_guid, uint8_t number, uint64_t *m_key)
{
	return false;
}

/* --- cases --- */

/* Else a block of a table would count as written. */
START_TEST(test_requests_that_could_not_be_sent_have_the_reason)
{
	const struct triad_smp_request request = {
		.is_set = true, .attribute = TRIAD_SMP_LINEAR_FORWARDING_TABLE};
	struct triad_smp_item items[2] = {0};
	struct triad_smp *smp = triad_smp_new(1);

	ck_assert_int_eq(
		triad_smp_ask_all(smp, &request, items, 2, NULL, NULL), EMFILE);
	ck_assert_int_eq(items[0].error, EMFILE);
	ck_assert_int_eq(items[1].error, EMFILE);
	triad_smp_free(smp);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("smp");

	tcase_add_test(cases, test_requests_that_could_not_be_sent_have_the_reason);
	return run_cases(cases);
}
