/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of triadctl that a script does.
 *
 * Thread-safety: none. */
#ifndef TRIAD_CLI_SCRIPT_H
#define TRIAD_CLI_SCRIPT_H

/* Becomes the script with 'n_words' words; it finds this triadctl's path in TRIADCTL.
 * 'script' is an absolute path, in whose place a test's variable 'named' may have another
 * one.  'absent' says what to do if it isn't there.  Returns only if that fails: an exit
 * status of triadctl, having printed why, with the command's name. */
int triad_script_exec(const char *command, const char *named, const char *script,
	const char *absent, const char *const *words, int n_words);

#endif
