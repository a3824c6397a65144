// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Fabrics for tests, made in the form of what 'nodes' and 'links' say; not from a fabric.  And
// the library that lays some out, of the page that scripts/page-build made.

const dist = process.env.TRIAD_PAGE ?? new URL("../dist", import.meta.url).pathname;
export const forces = await import(`${dist}/vendor/d3-force/index.mjs`);

export function guid(n) {
	return `0x${n.toString(16).padStart(16, "0")}`;
}

export class Maker {
	nodes = [];
	links = [];

	node(name, type) {
		const node = {
			name,
			type,
			guid: guid(this.nodes.length + 1),
			lid: this.nodes.length + 1,
			ports_up: 0,
			ports: type === "switch" ? 36 : 1,
			state: "answers",
			used: 0,
		};
		this.nodes.push(node);
		return node;
	}

	link(a, b, rest = {}) {
		this.links.push({
			ends: [this.end(a), this.end(b)],
			state: "active",
			rate: "4x EDR",
			slow: false,
			downs: 0,
			...rest,
		});
	}

	end(node) {
		return {
			node_guid: node.guid,
			node_name: node.name,
			node_type: node.type,
			port: ++node.used,
			lid: node.lid,
			answered: true,
			use_percent: 0,
			wait_percent: 0,
			errors: {},
		};
	}
}

// A tree of three levels: 'pods' pods of 'half' and 'half' switches, with 'half' hosts at each
// of the lower ones; half * half at the top.
export function makeTree(pods, half) {
	const maker = new Maker();
	const top = Array.from({length: half * half}, (_, k) =>
		maker.node(`core-${k}`, "switch"),
	);
	for (let p = 0; p < pods; p++) {
		const upper = Array.from({length: half}, (_, k) =>
			maker.node(`agg-${p}-${k}`, "switch"),
		);
		for (let k = 0; k < half; k++) {
			const leaf = maker.node(`leaf-${p}-${k}`, "switch");
			for (let h = 0; h < half; h++)
				maker.link(maker.node(`host-${p}-${k}-${h}`, "ca"), leaf);
			upper.forEach((it) => maker.link(leaf, it));
		}
		upper.forEach((it, k) =>
			top
				.slice(k * half, (k + 1) * half)
				.forEach((core) => maker.link(it, core)),
		);
	}
	return maker;
}

export function makeRing(n, hosts = 1) {
	const maker = new Maker();
	const switches = Array.from({length: n}, (_, k) => maker.node(`switch-${k}`, "switch"));
	switches.forEach((it, k) => {
		maker.link(it, switches[(k + 1) % n]);
		for (let h = 0; h < hosts; h++)
			maker.link(maker.node(`host-${k}-${h}`, "ca"), it);
	});
	return maker;
}
