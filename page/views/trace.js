// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What is marked in the picture: the way of packets from one host to another, and what changed.

// "0x...,0x...": returns a function of the store that gives {nodes, links}.
export async function tracePath(app, text) {
	const [from, to, lid] = text.split(",");
	const answer = await app.server.get(["routes", "between", from, to], {at: app.at});
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

// What is another since a moment, as far as the fabric still has it.
export async function traceChanges(app, from) {
	const answer = await app.server.get(["diff", from, ...(app.at ? [app.at] : [])]);
	return (store) => {
		const nodes = answer.nodes.map((it) => store.indexOf(it.node_guid));
		const links = [];
		for (const {node_guid: guid, port, far_guid: farGuid} of answer.links) {
			const i = store.indexOf(guid);
			nodes.push(i, store.indexOf(farGuid));
			const it = i < 0 ? null : store.lists[i].find((near) => near.port === port);
			if (it) links.push(it.link);
		}
		return {nodes: [...new Set(nodes.filter((i) => i >= 0))], links};
	};
}
