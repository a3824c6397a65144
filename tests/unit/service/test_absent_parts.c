/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A build without an optional library has a substitute for each part that needs it.
 * When a part is used, its substitute reports that it's missing, and what to do. */
#include <string.h>

#include "tests/unit/qos/policy_fixture.h"

START_TEST(test_policy_in_xml_refused_with_what_to_do)
{
	refuse("\n<qos-policy><qos-levels/></qos-policy>", "p:1:1: XML libxml2-dev");
	accept("qos-ulps\ndefault: 0\nend-qos-ulps\n");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("absent_parts");

	tcase_add_checked_fixture(cases, NULL, forget_policy);
	tcase_add_test(cases, test_policy_in_xml_refused_with_what_to_do);
	return run_cases(cases);
}
