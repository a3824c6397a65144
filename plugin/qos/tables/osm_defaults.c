/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/tables/osm_defaults.h"

#include <stdlib.h>

static const char *text_of(const char *own, const char *common, const char *built_in)
{
	if (own)
		return own;
	return common ? common : built_in;
}

/* Reads the number at '*at', and skips one separating character of any kind. */
static unsigned next_number(const char **at)
{
	char *end;
	unsigned number = (unsigned)strtoul(*at, &end, 0);

	*at = *end ? end + 1 : end;
	return number;
}

static void read_vlarb(const char *text, struct triad_vlarb_entry *entries)
{
	/* Parse as OpenSM does: past the end of the text all numbers are 0, and VL 15
	 * can't be arbitrated. */
	for (unsigned i = 0; i < TRIAD_VLARB_MAX; i++) {
		entries[i].vl = (uint8_t)(next_number(&text) % 15);
		entries[i].weight = (uint8_t)next_number(&text);
	}
}

static void read_sl2vl(const char *text, struct triad_sl2vl *table)
{
	for (unsigned i = 0; i < sizeof(table->vl); i++) {
		unsigned high = next_number(&text), low = next_number(&text);

		table->vl[i] = (uint8_t)(high << 4 | (low & 0xf));
	}
}

static void read_kind(const osm_qos_options_t *own, const osm_qos_options_t *common,
	struct triad_qos_defaults *to)
{
	read_sl2vl(
		text_of(own->sl2vl, common->sl2vl, OSM_DEFAULT_QOS_SL2VL), &to->sl2vl);
	read_vlarb(text_of(own->vlarb_high, common->vlarb_high,
			   OSM_DEFAULT_QOS_VLARB_HIGH),
		to->high);
	read_vlarb(
		text_of(own->vlarb_low, common->vlarb_low, OSM_DEFAULT_QOS_VLARB_LOW),
		to->low);
	/* Negative: opensm.conf does not set it. */
	to->high_limit = OSM_DEFAULT_QOS_HIGH_LIMIT;
	if (own->high_limit >= 0)
		to->high_limit = (uint8_t)own->high_limit;
	else if (common->high_limit >= 0)
		to->high_limit = (uint8_t)common->high_limit;
}

void triad_osm_defaults_read(const struct osm_opensm *osm, struct triad_fabric_qos *qos)
{
	const osm_subn_opt_t *opt = &osm->subn.opt;
	const osm_qos_options_t *own[TRIAD_QOS_N_PORT_KINDS] = {
		[TRIAD_QOS_PORT_CA] = &opt->qos_ca_options,
		[TRIAD_QOS_PORT_SWITCH0] = &opt->qos_sw0_options,
		[TRIAD_QOS_PORT_SWITCH] = &opt->qos_swe_options,
		[TRIAD_QOS_PORT_ROUTER] = &opt->qos_rtr_options,
	};

	for (unsigned i = 0; i < TRIAD_QOS_N_PORT_KINDS; i++)
		read_kind(own[i], &opt->qos_options, &qos->defaults[i]);
	qos->max_op_vls = opt->max_op_vls;
	qos->optimized = opt->use_optimized_slvl;
}
