/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks another SM for a sweep, in which it sees this one's priority.
 *
 * Not by osm_send_trap144(), which waits for a TrapRepress: drivers of HCAs take that for
 * themselves, and it never comes.  The first sweep of this SM as master would wait for it, for
 * nearly a second with OpenSM's defaults. */
#ifndef TRIAD_PLUGIN_ELECTION_TRAP144_H
#define TRIAD_PLUGIN_ELECTION_TRAP144_H

struct osm_sm;

/* Sends trap 144, "SM priority changed", to the port of sm->master_sm_guid, once: nobody says
 * whether it came.  Nothing is sent when OpenSM knows no such port, or has no memory.  With
 * OpenSM's lock.  [IBA 13.4.8.2 Notice, 14.2.5.1 trap 144] */
void triad_trap144_send(struct osm_sm *sm);

#endif
