/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/qos/partitions.h"

#include <errno.h>
#include <opensm/osm_partition.h>
#include <stdlib.h>
#include <string.h>

static int compare_pkeys(const void *a, const void *b)
{
	const struct triad_fabric_partition *one = a, *other = b;

	return (one->pkey > other->pkey) - (one->pkey < other->pkey);
}

int triad_partitions_read(
	const struct osm_opensm *osm, struct triad_fabric_partition **list, uint32_t *n)
{
	const cl_qmap_t *from = &osm->subn.prtn_pkey_tbl;
	char name[TRIAD_NODE_NAME_SIZE];

	*n = 0;
	*list = calloc(cl_qmap_count(from) + 1, sizeof(**list));
	if (!*list)
		return ENOMEM;
	for (const cl_map_item_t *item = cl_qmap_head(from); item != cl_qmap_end(from);
		item = cl_qmap_next(item)) {
		const osm_prtn_t *partition = (const osm_prtn_t *)item;
		struct triad_fabric_partition *to = &(*list)[(*n)++];

		to->pkey = cl_ntoh16(partition->pkey) & 0x7fff;
		triad_fabric_clean_name(name, partition->name);
		memcpy(to->name, name, sizeof(to->name) - 1);
	}
	qsort(*list, *n, sizeof(**list), compare_pkeys);
	return 0;
}
