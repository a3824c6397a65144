/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a cabling plan in one of the forms that people have, told apart by what is in it:
 *
 *     expected     an expected configuration (portmgr/expected/expected.h).  A row whose
 *                  remote names a node and a port is a cable.  Ports without a row do not
 *                  matter
 *     netdiscover  the output of ibnetdiscover, of a fabric as it should be
 *     ndt          a CSV file with columns StartDevice, StartPort, EndDevice, EndPort in any
 *                  place, and perhaps LinkType, Speed, "Cable Length", State, Domain.
 *                  "#Fields:" or '#' may stand before the first name, and blanks in each.
 *                  Rows of another LinkType than Data are skipped.  A port is "Port 5" or 5.
 *                  A row without EndDevice is about a port whose far end does not matter, or
 *                  with Domain "Disconnected", that is free.
 *                  Source: NVIDIA UFM Enterprise User Manual, "NDT Plugin"; the columns in
 *                  the tools of that plugin (ndt_infra.py, topo_diff.py, in their headers).
 *                  Neither says what values Speed and "Cable Length" have: speeds as "HDR",
 *                  and lengths as "5", "5m" or "0.5 m", are compared, others are not
 *     topoconfig   CSV without names of columns: a port's GUID and number, those of its far
 *                  end ("-": none), a type of host and the port's state.
 *                  Source: TOPOCONFIG_FIELD_NAMES and create_topoconfig_file() there
 *
 * NDT files name ports of directors by labels ("Blade 2_Port 1/1", "1/2/1") and those of
 * hosts by names of interfaces ("ibp12s0").  Nothing says which number such a port has, so
 * such rows are not compared, and counted ('n_open').
 *
 * topology.conf of Slurm says no ports, and is refused.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_CABLING_PLAN_READ_H
#define TRIAD_CABLING_PLAN_READ_H

#include "cabling/plan.h"
#include "triad/diag.h"

#define TRIAD_CABLING_PLAN_MAX_OCTETS ((size_t)256 << 20)

/* Tells the form by the first lines that have something. */
enum triad_cabling_format triad_cabling_format_find(const char *octets, size_t size);
/* "ndt", "topoconfig", ... */
const char *triad_cabling_format_name(enum triad_cabling_format format);

/* Reads 'size' octets.  Returns 0 and a plan; EINVAL with all mistakes, and their lines, in
 * 'diags'; E2BIG, likewise; ENOMEM. */
int triad_cabling_plan_read(const char *octets, size_t size, struct triad_diags *diags,
	struct triad_cabling_plan **plan);

#endif
