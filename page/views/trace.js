// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The way of packets from one host to another, as nodes and links of the picture.

// "0x...,0x...": returns a function of the store that gives {nodes, links}.
export async function tracePath(app, text) {
	const [from, to, lid] = text.split(",");
	const answer = await app.server.get(["routes", "between", from, to]);
	const path = answer.paths.find((it) => String(it.lid) === lid) ?? answer.paths[0];
	return (store) => {
		const nodes = [],
			links = [];
		for (const {node_guid: guid, out_port: port} of path?.hops ?? []) {
			const i = store.indexOf(guid);
			if (i < 0) continue;
			nodes.push(i);
			const it = store.lists[i].find((near) => near.port === port);
			if (it) links.push(it.link);
			if (it && !nodes.includes(it.far)) nodes.push(it.far);
		}
		return {nodes: [...new Set(nodes)], links};
	};
}
