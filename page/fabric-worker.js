// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Loads the whole fabric beside the page, so that the page never stands still: asks for nodes
// and links, makes columns of them, and lays them out when they are connected in another way.
//
// Messages: {id, at, headers} comes; {id, fabric, layout, took} or {id, problem} goes.  'layout' is null
// when the one before still holds.

import * as forces from "./vendor/d3-force/index.mjs";

import {layOut} from "./layout.js";
import {makeFabric} from "./model.js";
import {resource} from "./route.js";

let known = ""; // how nodes are connected in the last layout

async function load(words, options, headers) {
	const response = await fetch(resource(words, options), {headers});
	const answer = await response.json();
	if (!response.ok)
		throw Object.assign(new Error(answer.detail ?? answer.title), {
			title: answer.title,
			status: response.status,
		});
	return answer;
}

// Of what the layout depends on: nodes, their names, and which ports are connected.
function connections(fabric) {
	let hash = 0;
	const mix = (number) =>
		(hash = (Math.imul(hash ^ number, 0x01000193) + 0x9e3779b9) | 0);
	for (const array of [fabric.a, fabric.b, fabric.aPort, fabric.bPort])
		array.forEach(mix);
	return `${hash} ${fabric.n} ${fabric.guids.join()} ${fabric.names.join()}`;
}

self.onmessage = async ({data: {id, at, headers}}) => {
	const begin = performance.now();
	try {
		const [nodes, links] = await Promise.all([
			load(["nodes"], {at}, headers),
			load(["links"], {at, brief: true}, headers),
		]);
		const loaded = performance.now();
		const fabric = makeFabric(nodes, links);
		const now = connections(fabric);
		const layout = now === known ? null : layOut(fabric, forces);
		known = now;
		self.postMessage({
			id,
			fabric,
			layout,
			took: {load: loaded - begin, make: performance.now() - loaded},
		});
	} catch (error) {
		self.postMessage({
			id,
			problem: {
				title: error.title ?? "Triad does not answer",
				detail: error.message,
				status: error.status ?? 0,
			},
		});
	}
};
