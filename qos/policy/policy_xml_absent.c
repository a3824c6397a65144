/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Replaces the reader of XML in a build without libxml2. */
#include "qos/policy/policy_build.h"

void triad_policy_xml_read(struct triad_policy_builder *builder)
{
	triad_policy_report(builder, (struct triad_source_location){1, 1},
		"this policy is XML, and Triad was built without libxml2: write it in "
		"OpenSM's syntax, or install libxml2-dev and build again");
	builder->stopped = true;
}
