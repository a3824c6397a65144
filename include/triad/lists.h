/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Values of triad.conf that are lists of items between ';', and the items.  The
 * configuration keeps such a value as text, checked by these functions.  The code that
 * acts on it reads it by the same functions, which then can't fail.
 *
 *     nodes      0x0002c90300001234; spine-*
 *     ports      1-4; 7; 36
 *     counters   PortXmitData; PortXmitWait
 *     addresses  10.0.0.1:6343; [2001:db8::1]:6343
 *
 * Blanks around an item don't count, nor do empty items, as after a last ';'.  A parser
 * that refuses a text leaves its results undefined; 'reason' says which item is wrong,
 * why, and what is allowed.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation. */
#ifndef TRIAD_LISTS_H
#define TRIAD_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/address.h"

/* Copies the next item of the list at '*at' to 'item', cut to its room, and moves '*at'
 * past it.  False at the end of the list.
 *
 *     for (at = list; triad_list_next(&at, item, sizeof(item));) */
bool triad_list_next(const char **at, char *item, size_t size);

/* Each item a node's GUID or a node port's, "0x...", or a shell pattern for the
 * node's name.  No item: every node. */
bool triad_nodes_check(const char *text, char *reason, size_t size);

/* GUIDs, "0x...", none of them 0; at most 'max', '*n' is how many. */
bool triad_guids_parse(const char *text, uint64_t *guids, size_t max, size_t *n,
	char *reason, size_t size);

/* Numbers from 0 to 254 and ranges of them.  'set' has a bit for each port number,
 * beginning with the lowest of set[0].  No item: every port. */
bool triad_ports_parse(const char *text, uint8_t set[32], char *reason, size_t size);

static inline bool triad_ports_has(const uint8_t set[32], uint8_t port)
{
	return set[port / 8] >> port % 8 & 1;
}

/* IBA names of counters, case ignored; '*mask' has a bit for each, as 1u << of enum
 * triad_counter.  No item: none. */
bool triad_counters_parse(const char *text, uint32_t *mask, char *reason, size_t size);

/* Targets of bit error rates, each item a speed, a kind and a rate, or "off": "NDR raw
 * 1e-6; HDR symbol off".  '*targets' has the defaults for all others. */
struct triad_ber_targets;
bool triad_ber_targets_parse(
	const char *text, struct triad_ber_targets *targets, char *reason, size_t size);

/* One bit error rate, from 1e-11 to 1e-4. */
bool triad_ber_parse(const char *text, double *ber, char *reason, size_t size);

/* Unicast LIDs, decimal or 0x and hexadecimal, at most 'max'. */
bool triad_lids_parse(const char *text, uint16_t *lids, size_t max, size_t *n,
	char *reason, size_t size);

/* Thresholds of details, each item a field's IBA name and a rate, or "off":
 * "PortVLXmitWait 10000/s; PortPktRcvFECN 50/s". */
struct triad_detail_thresholds;
bool triad_detail_thresholds_parse(const char *text,
	struct triad_detail_thresholds *thresholds, char *reason, size_t size);

/* Brokers: nats://HOST:PORT or tls://HOST:PORT, USER:PASSWORD@ before HOST if need be;
 * 1 to TRIAD_MAX_SERVERS. */
#define TRIAD_MAX_SERVERS 16
bool triad_servers_check(const char *text, char *reason, size_t size);

/* Writes 'text', a value of any key, with *** for what is before an '@' in URLs: logs
 * and reports must not have passwords.  'shown' may not be 'text'. */
void triad_servers_mask(const char *text, char *shown, size_t size);

/* A word for a broker's subjects: 1 to 32 of A-Z a-z 0-9 _ -. */
bool triad_subject_check(const char *text, char *reason, size_t size);

/* Names of hosts, without ports. */
bool triad_host_names_check(const char *text, char *reason, size_t size);

/* A numeric address without a port, an IPv6 one without brackets; sets the port to
 * 0. */
bool triad_ip_parse(
	const char *text, struct triad_address *address, char *reason, size_t size);

/* ADDRESS:PORT, a numeric address, an IPv6 one in brackets; the port is from 1 to
 * 65535 and may be left out when 'default_port' isn't 0. */
bool triad_address_parse(const char *text, unsigned default_port,
	struct triad_address *address, char *reason, size_t size);

/* At most 'max' of them; '*n' is how many. */
bool triad_addresses_parse(const char *text, unsigned default_port,
	struct triad_address *addresses, size_t max, size_t *n, char *reason,
	size_t size);

/* An SM_Key: a decimal number, or a hexadecimal one after 0x. */
bool triad_sm_key_parse(const char *value, uint64_t *key, char *reason, size_t size);

#endif
