/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/physp.h"

void triad_physp_read_pkeys(const osm_physp_t *physp, struct triad_physp_pkeys *pkeys)
{
	const osm_pkey_tbl_t *from = osm_physp_get_pkey_tbl(physp);
	uint16_t n_blocks = osm_pkey_tbl_get_num_blocks(from);

	pkeys->n = 0;
	for (uint16_t block = 0; block < n_blocks; block++) {
		const ib_pkey_table_t *keys = osm_pkey_tbl_block_get(from, block);

		for (unsigned i = 0; i < IB_NUM_PKEY_ELEMENTS_IN_BLOCK; i++) {
			if (pkeys->n == TRIAD_PHYSP_MAX_PKEYS)
				return;
			pkeys->keys[pkeys->n++] =
				keys ? cl_ntoh16(keys->pkey_entry[i]) : 0;
		}
	}
}

uint32_t triad_physp_n_used(const struct triad_physp_pkeys *pkeys)
{
	uint32_t n = pkeys->n;

	while (n && !pkeys->keys[n - 1])
		n--;
	return n;
}

osm_physp_t *triad_physp_find(
	struct osm_opensm *osm, uint64_t node_guid, uint8_t number)
{
	osm_node_t *node = osm_get_node_by_guid(&osm->subn, cl_hton64(node_guid));

	return node && number < osm_node_get_num_physp(node)
		? osm_node_get_physp_ptr(node, number)
		: NULL;
}

bool triad_physp_find_m_key(
	struct osm_opensm *osm, uint64_t node_guid, uint8_t number, uint64_t *m_key)
{
	const osm_physp_t *physp;

	cl_plock_acquire(&osm->lock);
	physp = triad_physp_find(osm, node_guid, number);
	/* A switch has one M_Key for all ports. */
	if (physp)
		*m_key = cl_ntoh64(ib_port_info_get_m_key(
			&triad_physp_with_capabilities(physp)->port_info));
	cl_plock_release(&osm->lock);
	return physp;
}

const osm_physp_t *triad_physp_with_capabilities(const osm_physp_t *physp)
{
	osm_node_t *node = physp->p_node;
	const osm_physp_t *port0 = osm_node_get_type(node) == IB_NODE_TYPE_SWITCH
		? osm_node_get_physp_ptr(node, 0)
		: NULL;

	return port0 ? port0 : physp;
}
