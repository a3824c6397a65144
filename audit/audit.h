/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Compares what devices have with what the SM wants.
 *
 * Model: the SM writes attributes of 64 octets.  A place is one of them: which attribute
 * of which port, and which block of it.  A wish is what the SM wants there, with a mask
 * of the bits that it decides; the others are the device's own.  An attribute has
 * fields: all of one size in a table, each with a name otherwise.  A difference is a field
 * that the device has otherwise.
 *
 * One table (audit.c) has a row for each kind of attribute; comparing and saying loop over
 * it.
 *
 * Thread-safety: functions without state.  Memory: none.
 * Spec: IBA volume 1, 14.2.5. */
#ifndef TRIAD_AUDIT_AUDIT_H
#define TRIAD_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "triad/fabric.h"

#define TRIAD_AUDIT_OCTETS 64u /* of an attribute */
#define TRIAD_AUDIT_LFT_BLOCK 64u
#define TRIAD_AUDIT_MFT_BLOCK 32u /* multicast LIDs; of 16 ports each */
#define TRIAD_AUDIT_MAX_MFT 512u  /* blocks; a place has 9 bits for them */
#define TRIAD_AUDIT_PKEY_BLOCK 32u
#define TRIAD_AUDIT_MAX_PKEYS 64u /* blocks; no device has as many */
#define TRIAD_AUDIT_GUID_BLOCK 8u
#define TRIAD_AUDIT_FIRST_MLID 0xc000u
#define TRIAD_AUDIT_TEXT_SIZE 128

/* What is read in this order; a device that does not answer is asked no more. */
enum triad_audit_kind {
	TRIAD_AUDIT_PORT_INFO,
	TRIAD_AUDIT_SWITCH_INFO,
	TRIAD_AUDIT_LFT,
	TRIAD_AUDIT_MFT,
	TRIAD_AUDIT_PKEYS,
	TRIAD_AUDIT_SL2VL,
	TRIAD_AUDIT_VLARB,
	TRIAD_AUDIT_GUIDS,
	TRIAD_AUDIT_N_KINDS
};

enum { /* fields of PortInfo */
	TRIAD_AUDIT_M_KEY,
	TRIAD_AUDIT_PREFIX,
	TRIAD_AUDIT_LID,
	TRIAD_AUDIT_SM_LID,
	TRIAD_AUDIT_LEASE,
	TRIAD_AUDIT_PROTECT,
	TRIAD_AUDIT_LMC,
	TRIAD_AUDIT_MTU,
	TRIAD_AUDIT_SM_SL,
	TRIAD_AUDIT_HIGH_LIMIT,
	TRIAD_AUDIT_STALL,
	TRIAD_AUDIT_HOQ,
	TRIAD_AUDIT_OP_VLS,
	TRIAD_AUDIT_ENFORCE_IN,
	TRIAD_AUDIT_ENFORCE_OUT,
	TRIAD_AUDIT_TIMEOUT,
	TRIAD_AUDIT_PHY_ERRORS,
	TRIAD_AUDIT_OVERRUNS,
	TRIAD_AUDIT_N_PORT_FIELDS
};

enum { /* of SwitchInfo */
	TRIAD_AUDIT_LFT_TOP,
	TRIAD_AUDIT_LIFETIME,
	TRIAD_AUDIT_STATE_CHANGE,
	TRIAD_AUDIT_MFT_TOP,
	TRIAD_AUDIT_N_SWITCH_FIELDS
};

struct triad_audit_place {
	uint64_t node_guid;
	uint32_t block; /* of a table.  SL2VL: the in-port.  VLArb: 1 to 4, low, high.
			 * MFT: ports / 16 in the bits from 28 on */
	uint8_t port;   /* number; 0: of a switch as a whole */
	uint8_t kind;   /* enum triad_audit_kind */
};

/* All zeros: the SM wants nothing there. */
struct triad_audit_wish {
	uint8_t wanted[TRIAD_AUDIT_OCTETS], mask[TRIAD_AUDIT_OCTETS];
	/* MFT, a bit for each entry: no group has that LID; the SM's own copy has something
	 * else. */
	uint32_t no_group, copy_wrong;
};

struct triad_audit_difference {
	struct triad_audit_place place;
	unsigned field; /* from 0 on */
	uint64_t wanted, found;
	uint64_t since_us;         /* monotonic: when it was seen first */
	bool no_group, copy_wrong; /* as in the wish */
};

/* "PortInfo", "LFT", ...; and the attribute's ID. */
const char *triad_audit_kind_name(unsigned kind);
uint16_t triad_audit_attribute(unsigned kind);

/* How many blocks the largest of these tables has in any device, which a fabric does not
 * know.  MFT: of 32 multicast LIDs, whatever the ports. */
struct triad_audit_extent {
	unsigned n_mft, n_pkeys, n_guids;
};

/* How many blocks of the kind the port (an index) may have. */
uint32_t triad_audit_n_blocks(const struct triad_fabric *fabric, uint32_t port,
	unsigned kind, const struct triad_audit_extent *extent);
/* The block's number, as places have it; 'i' is from 0 on. */
uint32_t triad_audit_block(
	const struct triad_fabric *fabric, uint32_t port, unsigned kind, uint32_t i);

/* Adds to a wish: 'value' in those bits of a field that 'bits' has. */
void triad_audit_want_bits(struct triad_audit_wish *wish, unsigned kind, unsigned field,
	uint64_t bits, uint64_t value);
/* The same for the whole field. */
void triad_audit_want(
	struct triad_audit_wish *wish, unsigned kind, unsigned field, uint64_t value);
uint64_t triad_audit_read(
	unsigned kind, unsigned field, const uint8_t octets[TRIAD_AUDIT_OCTETS]);
bool triad_audit_wants(const struct triad_audit_wish *wish);

/* Gives 'add' each field that the device has otherwise; 'since_us' is 0. */
void triad_audit_compare(const struct triad_audit_place *place,
	const struct triad_audit_wish *wish, const uint8_t found[TRIAD_AUDIT_OCTETS],
	void (*add)(void *context, const struct triad_audit_difference *difference),
	void *context);

/* A number by which people name it: of another place, wish or content it is another. */
uint32_t triad_audit_id(const struct triad_audit_difference *difference);

/* Of a difference of a forwarding table. */
uint16_t triad_audit_lft_lid(const struct triad_audit_difference *difference);

/* As strcmp(): places; and differences, by place and field. */
int triad_audit_place_order(
	const struct triad_audit_place *a, const struct triad_audit_place *b);
int triad_audit_order(
	const struct triad_audit_difference *a, const struct triad_audit_difference *b);

/* Of 'now' those that 'before' has with the same 'found' are as old as there.  Both are
 * sorted. */
void triad_audit_keep_since(struct triad_audit_difference *now, size_t n_now,
	const struct triad_audit_difference *before, size_t n_before);

/* Of the second reading 'now', keeps what the first one, 'before', has as well, as old as
 * there; both are sorted.  Returns whether the SM wanted something else then of what is kept:
 * that takes another reading. */
bool triad_audit_keep_both(struct triad_audit_difference *now, size_t *n_now,
	const struct triad_audit_difference *before, size_t n_before);

/* --- for people; all return 'text' --- */

/* "LID 17", "NeighborMTU", "MLID 0xc003". */
const char *triad_audit_object(const struct triad_audit_difference *difference,
	char text[TRIAD_AUDIT_TEXT_SIZE]);
/* A value of the difference, 'wanted' or 'found'.  A key is never shown. */
const char *triad_audit_value(const struct triad_audit_difference *difference,
	uint64_t value, char text[TRIAD_AUDIT_TEXT_SIZE]);
/* What traffic it touches.  Looks at each port for P_Keys. */
const char *triad_audit_touches(const struct triad_fabric *fabric,
	const struct triad_audit_difference *difference,
	char text[TRIAD_AUDIT_TEXT_SIZE]);

#endif
