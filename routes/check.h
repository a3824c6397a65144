/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the forwarding tables of a fabric: how many paths cross each link, and what is
 * wrong.
 *
 * Model: a pair is a host (layout.h) and a LID of another host; with LMC, each LID is a
 * path of its own.  The check is one pass over all LIDs.  The paths to a LID form a
 * tree (tree.h).  It adds up the numbers of hosts along the tree, so it need not walk
 * each pair.  Only pairs that arrive count as crossing a link.
 *
 * Switches: paths between the SM's port and a switch's own LID are checked, but are not
 * pairs and do not count on links.  Paths between other hosts and switches, and between
 * two switches, are not checked: routing engines that keep to up and down have no path
 * between some of these, and nobody needs it.
 *
 * Thread-safety: functions without state; a result is immutable.
 * Memory: 8 octets for each port, some for each switch; of a switch's ports 8 octets more
 * for each 64 that it has; the result owns its arrays and its layout. */
#ifndef TRIAD_ROUTES_CHECK_H
#define TRIAD_ROUTES_CHECK_H

#include "routes/credit.h"
#include "routes/multicast.h"

#define TRIAD_ROUTES_MAX_EXAMPLES 8u /* of each problem */
#define TRIAD_ROUTES_MAX_TIERS 64u

enum triad_routes_problem {
	TRIAD_ROUTES_UNREACHABLE,  /* pairs that don't arrive */
	TRIAD_ROUTES_LOOPS,        /* circles of switches, counted for each LID */
	TRIAD_ROUTES_DEAD_ENTRIES, /* entries of tables that lead to a dead port */
	TRIAD_ROUTES_SWITCHES,     /* no path from the SM's port to a switch, or back */
	TRIAD_ROUTES_LONGER,       /* pairs whose path is longer than the shortest */
	TRIAD_ROUTES_TURNS,        /* turns from down to up, of pairs, if the fabric
				    * is a tree */
	TRIAD_ROUTES_N_PROBLEMS
};

/* A case of a problem; at most one for each LID. */
struct triad_routes_example {
	uint32_t from,
		to; /* indices in the fabric's ports; TRIAD_FABRIC_NONE: no port */
	uint16_t lid;
	uint8_t end;              /* enum triad_routes_end: how the path ends */
	uint32_t at;              /* DEAD_ENTRIES, LOOPS, TURNS: the switch's node */
	uint8_t out;              /* the port by which the switch sends it on */
	uint16_t links, shortest; /* LONGER */
};

struct triad_routes_found {
	uint64_t n;
	uint32_t n_examples;
	struct triad_routes_example examples[TRIAD_ROUTES_MAX_EXAMPLES];
};

/* Links in one direction that lead from one level to another (0: hosts). */
struct triad_routes_tier {
	uint16_t from, to;
	uint32_t n_links, n_unused; /* links that no pair crosses */
	uint64_t n_pairs, least, most;
	uint32_t worst; /* a port whose link has 'most' pairs */
};

struct triad_routes_check {
	struct triad_routes_layout *layout;
	uint64_t n_pairs, n_arriving;
	uint64_t n_unreachable[TRIAD_ROUTES_N_ENDS]; /* pairs, by how their paths end */
	uint64_t n_links_sum; /* path lengths in links of all pairs that arrive, the
			       * hosts' links included */
	uint16_t most_links;
	struct triad_routes_found problems[TRIAD_ROUTES_N_PROBLEMS];
	struct triad_routes_credit credit;
	struct triad_routes_multicast multicast;
	uint64_t *pairs; /* for each of the fabric's ports: the number of pairs that
			  * leave by it */
	struct triad_routes_deps deps; /* of links, by all pairs that arrive */
	uint32_t n_tiers;
	struct triad_routes_tier tiers[TRIAD_ROUTES_MAX_TIERS];
};

struct triad_routes_options {
	struct triad_routes_sls sls;
	struct triad_routes_vls vls;
	/* Only pairs from one of these ports to one of those, a bit for each of the
	 * fabric's ports; NULL: from all, to all.  If set, credit loops and multicast
	 * are not checked. */
	const uint64_t *from, *to;
	/* Called from time to time: true ends the check with ECANCELED. May be NULL. */
	bool (*is_stopped)(void *context);
	void *context;
};

/* Returns 0, ENXIO (the fabric has no switch), ENODATA (it has no forwarding tables),
 * ECANCELED or ENOMEM. */
int triad_routes_check_make(struct triad_fabric *fabric,
	const struct triad_routes_options *options, struct triad_routes_check **check);
void triad_routes_check_free(struct triad_routes_check *check); /* accepts NULL */

/* Copies the result for another fabric with the same tables (triad_routes_hash()) to
 * '*moved', so that the old fabric can be freed.  Returns 0 or ENOMEM. */
int triad_routes_check_move(const struct triad_routes_check *check,
	struct triad_fabric *fabric, struct triad_routes_check **moved);

/* Looks only for credit loops, in an existing layout.  Returns as
 * triad_routes_check_make(). */
int triad_routes_check_credit(const struct triad_routes_layout *layout,
	const struct triad_routes_options *options, struct triad_routes_credit *credit);

/* Whether there are such problems that do harm.  Longer paths don't: some routing engines choose
 * them.  Nor do turns, if all paths are the shortest and it is known that no credits loop: then
 * the levels, which are a guess, are wrong, as where hosts are at spines or a leaf has none. */
bool triad_routes_does_harm(
	const struct triad_routes_check *check, enum triad_routes_problem problem);

/* True when the check found none of these: problems that do harm, credit loops, and multicast
 * trees that loop. */
bool triad_routes_check_is_clean(const struct triad_routes_check *check);

/* The pairs of a tier's busiest link divided by the mean of its links: 1 is even. */
double triad_routes_tier_imbalance(const struct triad_routes_tier *tier);

/* "unreachable_pairs", "forwarding_loops", "dead_port_entries", "unreachable_switches",
 * "longer_paths", "down_up_turns". */
const char *triad_routes_problem_name(enum triad_routes_problem problem);

/* A hash of all that a check depends on: if it is unchanged, no new check is needed. */
uint64_t triad_routes_hash(const struct triad_fabric *fabric);

#endif
