/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The files of the port manager that heal bad links, for each other.
 *
 *     ports_heal.c       steps of the links that are out or on probation; which one is next
 *     ports_heal_act.c   links are held, let go, and that is recorded
 *     ports_heal_data.c  tests with data
 *     ports_heal_term.c  what the last master had
 *     ports_heal_hand.c  what people ask for
 *
 * All of it in the thread triad-ports, with its lock, which is given away while the damper or
 * OpenSM's lock is waited for. */
#ifndef TRIAD_PORTS_HEAL_PARTS_H
#define TRIAD_PORTS_HEAL_PARTS_H

#include "heal/past.h"
#include "plugin/damp/damper.h"
#include "plugin/ports/ports_parts.h"

#define PORTS_MAX_HELD 256u

/* --- ports_heal_act.c --- */
struct triad_course_conf ports_heal_conf(const struct triad_ports *ports);
/* Keys that have changed hold for links that are out, too. */
void ports_heal_take_conf(const struct triad_ports *ports, struct triad_course *course);

/* In the list; NULL: it is not there, or there is no room. */
struct ports_healed *ports_heal_find(
	struct triad_ports *ports, const struct triad_damp_ends *ends);
struct ports_healed *ports_heal_add(
	struct triad_ports *ports, const struct triad_damp_ends *ends);
/* Takes it from the list, whose last one comes in its place; nothing is led over it any longer. */
void ports_heal_remove(struct triad_ports *ports, struct ports_healed *healed);
/* What the last plan says of it; NULL: nothing. */
const struct triad_ports_judged *ports_heal_find_judged(
	const struct triad_ports *ports, const struct triad_damp_ends *ends);
/* The GUID of a switch's port 0; 0: it is not known. */
uint64_t ports_heal_port_guid(const struct triad_ports *ports, uint64_t node_guid);
/* With another damp.mode than act no link is held, whatever is noted. */
struct triad_damp_link ports_heal_find_damped(
	struct triad_ports *ports, const struct triad_damp_ends *ends);
/* Copies links that are noted as held for us.  Returns how many. */
uint32_t ports_heal_copy_ours(
	struct triad_ports *ports, struct triad_damp_ends ours[PORTS_MAX_HELD]);
/* What became of a link by the records, and how often it was taken lately. */
enum triad_past ports_heal_recall(const struct triad_ports *ports,
	const struct triad_damp_ends *ends, uint32_t *n_taken);

/* Asked before anything is recorded. */
bool ports_heal_may_hold(struct triad_ports *ports, const struct triad_damp_ends *ends);
/* Returns why not; NULL: it is held. */
const char *ports_heal_hold(struct triad_ports *ports, uint32_t port);
void ports_heal_let_go(struct triad_ports *ports, const struct triad_damp_ends *ends);

/* What follows is recorded first.  False: it could not be. */

/* '*taken_us' becomes a time after which a view without the link is one that it was taken out
 * of. */
bool ports_heal_take(struct triad_ports *ports, const struct triad_ports_judged *judged,
	uint64_t *taken_us);
/* Takes it and begins its course.  False: it could not be recorded, or held. */
bool ports_heal_begin(
	struct triad_ports *ports, const struct triad_ports_judged *judged);
/* Lets it go. */
bool ports_heal_give_back(struct triad_ports *ports, const struct triad_damp_ends *ends,
	enum triad_port_action action, enum triad_port_reason reason, const char *text);
/* A person holds it from now on. */
bool ports_heal_leave_out(
	struct triad_ports *ports, const struct triad_damp_ends *ends);

/* A plan judges one view: so a link is taken by a plan of the newest view only, and only if it
 * shows the last act. */
bool ports_heal_is_plan_new(const struct triad_ports *ports);

/* --- ports_heal_data.c --- */
/* Does the next thing of its test with data.  False: nothing is to be done, or not yet. */
bool ports_heal_run_data(struct triad_ports *ports, struct ports_healed *healed);
/* Leads nothing over it any longer. */
void ports_heal_end_data(struct triad_ports *ports, struct ports_healed *healed);

/* --- ports_heal_term.c --- */
/* It may take a while until the damper holds what was held before. */
void ports_heal_adopt(struct triad_ports *ports, uint64_t now_us);
/* What the last holder of the lease had on probation. */
void ports_heal_resume(struct triad_ports *ports, uint64_t now_us);

#endif
