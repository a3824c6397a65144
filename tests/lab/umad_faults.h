/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults by rule: what a lab's wire does to MADs.
 *
 * Model: the file that TRIAD_LAB_FAULTS names contains one rule a line; '#' begins a
 * comment:
 *
 *     seed 42
 *     lose      class 0x04 lid 5 direction in  probability 0.1
 *     delay     ms 50 attribute 0x12
 *     delay     hop_us 10 direction out
 *
 * 'lose', 'delay', 'duplicate', 'corrupt' (flips a bit after the MAD's common header)
 * and 'truncate' (drops the end; ibsim gets zeros for it) apply to MADs of that class,
 * attribute and remote LID that go 'out' of this process or come 'in'.  A key that is
 * missing matches any value.  Rules are applied one after the other, each with its own
 * random numbers, whose seed consists of the file's seed and the rule's line.  With 'hop_us'
 * a MAD takes so long for each hop: of its directed route; a routed one for LAB_USUAL_HOPS.
 *
 * When a MAD passes, the file is checked for changes if the last check was 50 ms ago.
 * If the new file has a mistake, the mistake is printed on standard error and the old
 * rules stay.
 *
 * Thread-safety: the port's lock is held. */
#ifndef LAB_UMAD_FAULTS_H
#define LAB_UMAD_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* From host to host in a fat tree of three levels; of two, it is 4. */
#define LAB_USUAL_HOPS 6

struct lab_packet;

enum lab_fault { LAB_LOSE, LAB_DELAY, LAB_DUPLICATE, LAB_CORRUPT, LAB_TRUNCATE };
enum lab_direction { LAB_OUT = 1, LAB_IN = 2 };

struct lab_rule {
	enum lab_fault fault;
	int mgmt_class, attribute, lid; /* -1: any */
	int directions;
	double probability;
	uint64_t delay_us;
	unsigned hop_us;
	uint64_t random_state;
};

struct lab_rules {
	size_t n;
	struct lab_rule rules[];
};

struct lab_faults {
	const char *path; /* NULL: none */
	struct lab_rules *rules;
	uint64_t look_again_us;
	struct timespec changed;
	uint64_t inode, size;
};

/* What the rules do to a packet. */
struct lab_verdict {
	unsigned n_copies; /* 0: the packet is lost */
	uint64_t delay_us;
	size_t size; /* of the MAD */
	bool is_harmed;
};

/* Reads rules.  Returns the number of mistakes; writes each to 'complaints', with
 * 'name' as the file's name.  Sets 'rules' if there are none. */
unsigned lab_rules_read(
	FILE *file, const char *name, FILE *complaints, struct lab_rules **rules);

/* Reads the file again if it is time and the file has changed.  Returns whether there
 * are rules. */
bool lab_faults_update(struct lab_faults *faults, uint64_t now_us);

/* Applies the rules; corrupts or truncates the packet where they demand it. */
struct lab_verdict lab_faults_judge(struct lab_faults *faults,
	struct lab_packet *packet, enum lab_direction direction);

#endif
