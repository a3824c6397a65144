/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scripts for a simulated cluster that elects (elections.h): what happens, and what is
 * expected then.
 *
 * A line is a command; what follows a '#' is for people.  Nodes are called A, B, C and
 * so on, those that are bare after the others.  Times are "500ms" or "5s", rates "20%".
 *
 *     nodes 3 ring|peers [bare 1]        first
 *     seed 7                             before it, if at all: of the random numbers
 *     seeds 50                           as well: the whole script with each of 1 to 50
 *     loss 20%    delay 1 20             of messages; delays in ms
 *     partition A,B C    heal            groups of nodes
 *     link A B down|up
 *     kill A    start A                  the process; it keeps what it has stored
 *     pause A    resume A                the process
 *     stop A    cont A                   its cluster service
 *     runaway A on|off    drift A -4.9%
 *     ports A 1/2                        good ports of how many
 *     flapped A                          both are up again, and don't count as good yet
 *     blacklist A add|remove B           said on A
 *     prefer A 12
 *     config A 7 0xabc                   generation and hash
 *     check-answer A yes|no|missing|off
 *     confirm A                          that the missing members are down
 *     resign A
 *     run 5s
 *     calm 10s                           runs; no state and no permission may change
 *     check                              elections_check()
 *     expect master A                    all of A's side that run follow it
 *     expect follows B A                 B alone
 *     expect permitted A|none            and nobody else
 *     expect state A ELECTING|STANDBY|MASTER
 *     expect sm-priority A 15
 *     expect against A WORD|nothing      the reasons that keep it from permission have
 *                                        this one
 *     expect refused CMD...              the command is one that returns an error
 *     within 2s expect ...               runs until it holds, and fails after
 *     until 2s expect ...                runs as long, and it holds all the time
 *
 * Two permissions at once, or one of an old term, always fail a script.
 *
 * Aborts when memory is short, as each test has a process of its own. */
#ifndef TRIAD_TESTS_SIM_ELECTION_SCRIPT_H
#define TRIAD_TESTS_SIM_ELECTION_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Runs the script in 'path'; writes each change with its time to 'trace', unless that
 * is NULL.  Returns whether all was as expected; else 'error' is "FILE:LINE: what (seed
 * N)". */
bool election_script_run(const char *path, FILE *trace, char *error, size_t size);

#endif
