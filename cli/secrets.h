/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Takes secrets out of configurations and logs: the values of keys, passwords and tokens, and the
 * user and password in URLs.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CLI_SECRETS_H
#define TRIAD_CLI_SECRETS_H

#include <glib.h>
#include <stdbool.h>

#define TRIAD_SECRETS_REMOVED "<removed>"

/* Appends the line to 'to', without its secrets: behind a word as m_key, sm_key, password or
 * token up to the next blank, or with 'is_conf' up to the end of the line. */
void triad_secrets_remove(const char *line, size_t size, bool is_conf, GString *to);

#endif
