/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policies for tests, made without a file. */
#ifndef TRIAD_TESTS_SIM_POLICIES_H
#define TRIAD_TESTS_SIM_POLICIES_H

#include "qos/policy/policy.h"

/* Empty groups, levels and rules without conditions, partition levels without P_Keys;
 * one reference.  Level i is of rule i modulo 'n_levels'; 0 is the default. */
struct triad_policy *policy_sized(uint32_t n_groups, uint32_t n_levels,
	uint32_t n_rules, uint32_t n_partition_levels);

/* With what the functions below added; aborts if there is another reference. */
void policy_free(struct triad_policy *policy);

/* Add what the list does not have yet; ranges are joined where they touch. */
void policy_add_range(struct triad_ranges *ranges, uint64_t first, uint64_t last);
void policy_add_group(struct triad_group_list *list, uint32_t group);
void policy_add_partition(struct triad_policy_group *group, const char *name);
void policy_add_port_name(struct triad_policy_group *group, const char *node,
	unsigned number, bool words);

#endif
