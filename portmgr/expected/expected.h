/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How the fabric should be: a file with a line for each switch port that matters.
 *
 *     generation 7
 *     node,port,state,remote,width,speed,check,comment
 *     leaf-01,1,enabled,name=host-0001*;port=1,4x,EDR,,rack 3
 *     0x0002c90000000002,2,disabled
 *     "leaf 02",3,test,node_guid=0x2c903000a1b2c,,,name=host-0003*;ping,
 *
 * CSV [RFC 4180], but without line breaks in a field.  '#' begins a comment line.
 * Missing fields at the end are empty; spaces around a field are ignored.  The line
 * with the names of the columns is optional.  'generation N', N from 1 to 2^63, comes
 * before the first port; a comma or '=' may replace its space.  A node called
 * 'generation' must be quoted.
 *
 *     node      a node GUID, 0x and hexadecimal digits, or the node's name as a whole
 *     port      1 to 254
 *     state     enabled, disabled, test
 *     remote    what must be at the far end, all of: port_guid=, node_guid=, name= (a
 *               pattern with * and ?), vendor= (a vendor id, hexadecimal after 0x),
 *               port=, with ';' between; empty: anything
 *     width     1x, 2x, 4x, 8x, 12x; empty: any
 *     speed     SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR; empty: any
 *     check     of a port under test: name= (a pattern that the far end's
 *               NodeDescription must match), ping (it answers ibping), with ';' between
 *     comment   kept and shown, without meaning
 *
 * Triad does not change a switch port without a line.
 *
 * Rows about the two ends of a link must agree.  If a row's remote names a port, by
 * GUID or whole name and by port number, that port's row must not be disabled unless
 * this row is, and must not expect another far end.
 *
 * Thread-safety: a configuration is built by one thread, then immutable.
 * Memory: it owns its rows and texts; both are capped. */
#ifndef TRIAD_PORTMGR_EXPECTED_H
#define TRIAD_PORTMGR_EXPECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/link.h"
#include "lib/csv_line.h"
#include "triad/diag.h"

#define TRIAD_EXPECTED_MAX_PORTS 1000000u
#define TRIAD_EXPECTED_MAX_LINES 2000000u            /* with comments */
#define TRIAD_EXPECTED_MAX_OCTETS ((size_t)64 << 20) /* of a file */
#define TRIAD_EXPECTED_MAX_LINE TRIAD_CSV_MAX_LINE   /* octets */
#define TRIAD_EXPECTED_MAX_GENERATION (UINT64_C(1) << 63)

enum triad_expected_state {
	TRIAD_EXPECTED_ENABLED,
	TRIAD_EXPECTED_DISABLED,
	TRIAD_EXPECTED_TEST,
};

/* What must be at the far end; members that are 0 are not checked. */
struct triad_expected_remote {
	uint64_t port_guid, node_guid;
	uint32_t vendor_id;
	uint32_t name; /* a pattern, in 'text' */
	uint8_t port;
};

struct triad_expected_port {
	uint64_t node_guid;  /* 0: the row names the node */
	uint32_t node_name;  /* in 'text'; 0: the row has the GUID */
	uint32_t line;       /* of the file, from 1 */
	uint32_t comment;    /* in 'text'; 0: none */
	uint32_t check_name; /* a pattern, in 'text'; 0: no check */
	struct triad_expected_remote remote;
	uint8_t port;
	uint8_t state; /* enum triad_expected_state */
	uint8_t width; /* as PortInfo:LinkWidthActive; 0: any */
	uint8_t speed; /* enum triad_link_speed */
	bool check_ping;
};

struct triad_expected {
	uint64_t generation;
	uint64_t hash; /* the first octets of the SHA-256 of the file as it was */
	uint32_t n_ports;
	struct triad_expected_port *ports; /* in the file's order */
	char *text;                        /* texts, each with its 0; text[0] is 0 */
	size_t text_size;
};

/* Reads 'size' octets.  Returns 0 and a configuration; EINVAL with all mistakes, and
 * their lines, in 'diags'; ENOMEM; E2BIG (a cap was exceeded; 'diags' has it and the
 * mistakes before).  'diags' was initialised by the caller. */
int triad_expected_parse(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_expected **expected);

/* Accepts NULL. */
void triad_expected_free(struct triad_expected *expected);

/* A text, by its offset in 'text'; "" for 0. */
static inline const char *triad_expected_text(
	const struct triad_expected *expected, uint32_t at)
{
	return expected->text + at;
}

/* "enabled", "disabled", "test". */
const char *triad_expected_state_name(unsigned state);

#endif
