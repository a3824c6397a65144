/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sm_state.h"

const char *triad_sm_state(const struct osm_opensm *osm)
{
	switch (osm->subn.sm_state) {
	case IB_SMINFO_STATE_NOTACTIVE:
		return "not-active";
	case IB_SMINFO_STATE_DISCOVERING:
		return "discovering";
	case IB_SMINFO_STATE_STANDBY:
		return "standby";
	case IB_SMINFO_STATE_MASTER:
		return "master";
	default:
		return "starting";
	}
}
