/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_faults.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/lab/umad_wire.h"
#include "tests/random.h"

#define LOOK_EVERY_US 50000u

/* --- the file --- */

static void read_file(struct lab_faults *faults)
{
	struct lab_rules *rules = NULL;
	FILE *file = fopen(faults->path, "re");

	if (file && lab_rules_read(file, faults->path, stderr, &rules)) {
		fclose(file);
		return;
	}
	if (file)
		fclose(file);
	free(faults->rules);
	faults->rules = rules;
}

bool lab_faults_update(struct lab_faults *faults, uint64_t now_us)
{
	struct stat seen = {.st_size = 0};

	if (now_us < faults->look_again_us)
		return faults->rules != NULL;
	faults->look_again_us = faults->path ? now_us + LOOK_EVERY_US : UINT64_MAX;
	if (!faults->path)
		return false;
	/* A file that doesn't exist has inode 0 and no rules. */
	(void)stat(faults->path, &seen);
	if (seen.st_ino != faults->inode || (uint64_t)seen.st_size != faults->size ||
		seen.st_mtim.tv_sec != faults->changed.tv_sec ||
		seen.st_mtim.tv_nsec != faults->changed.tv_nsec) {
		faults->inode = seen.st_ino;
		faults->size = (uint64_t)seen.st_size;
		faults->changed = seen.st_mtim;
		read_file(faults);
	}
	return faults->rules && faults->rules->n;
}

/* --- MADs --- */

static bool applies(struct lab_rule *rule, const struct lab_packet *packet,
	enum lab_direction direction)
{
	uint32_t lid = direction == LAB_OUT ? packet->dlid : packet->slid;

	if (!(rule->directions & direction))
		return false;
	if (rule->mgmt_class >= 0 && rule->mgmt_class != lab_mad_class(packet->mad))
		return false;
	if (rule->attribute >= 0 && rule->attribute != lab_mad_attribute(packet->mad))
		return false;
	if (rule->lid >= 0 && rule->lid != ntohs((uint16_t)lid))
		return false;
	return (double)(random_next(&rule->random_state) >> 11) * 0x1p-53 <
		rule->probability;
}

/* A random octet after the common header: no agent takes a MAD without that header. */
static size_t some_octet(struct lab_rule *rule)
{
	return LAB_MAD_HEADER_SIZE +
		random_next(&rule->random_state) % (LAB_MAD_SIZE - LAB_MAD_HEADER_SIZE);
}

/* [IBA 14.2.1.2]: HopCount is the octet before the transaction ID. */
static unsigned n_hops(const uint8_t *mad)
{
	return lab_mad_class(mad) == 0x81 ? mad[7] : LAB_USUAL_HOPS;
}

static void do_fault(
	struct lab_rule *rule, struct lab_packet *packet, struct lab_verdict *verdict)
{
	verdict->is_harmed = true;
	switch (rule->fault) {
	case LAB_LOSE:
		verdict->n_copies = 0;
		break;
	case LAB_DELAY:
		verdict->delay_us +=
			rule->delay_us + (uint64_t)rule->hop_us * n_hops(packet->mad);
		break;
	case LAB_DUPLICATE:
		verdict->n_copies += verdict->n_copies > 0;
		break;
	case LAB_CORRUPT:
		packet->mad[some_octet(rule)] ^=
			(uint8_t)(1u << random_next(&rule->random_state) % 8);
		break;
	case LAB_TRUNCATE:
		verdict->size = some_octet(rule);
		memset(packet->mad + verdict->size, 0, LAB_MAD_SIZE - verdict->size);
		break;
	}
}

struct lab_verdict lab_faults_judge(struct lab_faults *faults,
	struct lab_packet *packet, enum lab_direction direction)
{
	struct lab_verdict verdict = {.n_copies = 1, .size = LAB_MAD_SIZE};

	for (size_t i = 0; i < faults->rules->n; i++)
		if (applies(&faults->rules->rules[i], packet, direction))
			do_fault(&faults->rules->rules[i], packet, &verdict);
	return verdict;
}
