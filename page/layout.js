// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Where each node stands in the picture of a fabric.
//
// Model: trees stand in tiers: x is in units of a host's cell, and rows are as high as the
// window makes them, so that no zoom takes a tier out of sight.  Other fabrics are laid out by
// force, switches alone; hosts are cells beside their switch, in the same units.  Hosts of a
// switch stand in a grid below it ('columns' wide), in the order of its ports.
//
// Invariant: every node has a finite place.  Pure; the library of forces is an argument.

import {isInside, SWITCH, neighbours} from "./model.js";
import {compareNames} from "./format.js";
import {findLevels, findPods} from "./tiers.js";

const FEW_HOSTS = 64; // that stand side by side
const GRID_ROWS = 6;
const GAP = 1,
	WIDE_GAP = 2,
	POD_GAP = 3,
	MIN_POD = 8;
const FORCE_MS = 1500;

// How wide a grid of hosts is.
function columnsFor(nHosts, nAll) {
	return nAll <= FEW_HOSTS
		? Math.max(1, nHosts)
		: Math.max(1, Math.ceil(nHosts / GRID_ROWS));
}

// Hosts by the switch that they stand at: their first that has one.
function hostsOf(fabric, lists) {
	const home = new Int32Array(fabric.names.length).fill(-1);
	const hosts = fabric.names.map(() => []);
	for (let i = 0; i < home.length; i++)
		for (const {far} of fabric.types[i] === SWITCH ? lists[i] : [])
			if (fabric.types[far] !== SWITCH && home[far] < 0) {
				home[far] = i;
				hosts[i].push(far);
			}
	return {home, hosts};
}

export function layOut(fabric, forces, nowMs = () => performance.now()) {
	const lists = neighbours(fabric);
	const levels = findLevels(fabric, lists);
	const {home, hosts} = hostsOf(fabric, lists);
	const nAll = home.length - fabric.types.filter((it) => it === SWITCH).length;
	const columns = Uint16Array.from(hosts, (it) => columnsFor(it.length, nAll));
	const n = home.length;
	const layout = {
		isTree: levels.isTree,
		level: levels.level,
		top: levels.top,
		home,
		columns,
		isFew: nAll <= FEW_HOSTS,
		x: new Float32Array(n),
		y: new Float32Array(n),
		nHosts: Uint32Array.from(hosts, (it) => it.length),
		pods: [],
		pod: null,
		width: 1,
		height: 1,
	};
	if (levels.isTree) placeTree(fabric, layout, lists, hosts);
	else placeByForce(fabric, layout, hosts, forces, nowMs);
	layout.slot = new Uint32Array(n);
	for (const list of hosts) list.forEach((host, k) => (layout.slot[host] = k));
	return layout;
}

// --- trees ---

function placeTree(fabric, layout, lists, hosts) {
	const {pod, nPods} = findPods(fabric, layout, lists);
	layout.pod = pod;
	const members = Array.from({length: nPods}, () => []);
	const above = [];
	for (let i = 0; i < pod.length; i++) {
		if (fabric.types[i] !== SWITCH) continue;
		(pod[i] >= 0 ? members[pod[i]] : above).push(i);
	}
	for (const list of [...members, above])
		list.sort((i, j) => compareNames(fabric.names[i], fabric.names[j]));
	const order = members.map((_, p) => p).filter((p) => members[p].length);
	const nameOf = (p) =>
		fabric.names[members[p].find((i) => layout.level[i] === 1) ?? members[p][0]];
	order.sort((p, q) => compareNames(nameOf(p), nameOf(q)));
	let x = 0;
	for (const p of order) {
		const width = placePod(layout, members[p], hosts, x);
		layout.pods.push({
			id: p,
			x,
			width,
			switches: members[p],
			nHosts: members[p].reduce(
				(sum, i) => sum + hosts[i].filter((it) => !isInside(fabric, it)).length,
				0,
			),
		});
		x += width + POD_GAP;
	}
	placeStrays(fabric, layout, x);
	layout.width = Math.max(1, x - POD_GAP);
	spread(layout, above, 0, layout.width);
}

function placePod(layout, switches, hosts, begin) {
	const lowest = switches.filter((i) => layout.level[i] === 1);
	const gap = layout.isFew ? WIDE_GAP : GAP;
	let x = begin;
	for (const i of lowest) {
		layout.x[i] = x + layout.columns[i] / 2;
		layout.y[i] = 1;
		placeGrid(layout, hosts[i], i, x, 0);
		x += layout.columns[i] + gap;
	}
	const width = Math.max(MIN_POD, x - begin - gap);
	for (let level = 2; level <= layout.top; level++)
		spread(
			layout,
			switches.filter((i) => layout.level[i] === level),
			begin,
			width,
		);
	for (const i of switches)
		if (layout.level[i] !== 1)
			placeGrid(
				layout,
				hosts[i],
				i,
				layout.x[i] - layout.columns[i] / 2,
				layout.level[i] - 0.4,
			);
	return width;
}

function placeGrid(layout, hosts, parent, x, y) {
	hosts.forEach((host, k) => {
		layout.x[host] = x + (k % layout.columns[parent]) + 0.5;
		layout.y[host] = y;
	});
}

function spread(layout, switches, begin, width) {
	switches.forEach((i, k) => {
		layout.x[i] = begin + ((k + 0.5) * width) / switches.length;
		layout.y[i] = layout.level[i];
	});
}

// Hosts without a switch, such as two that are connected back to back.
function placeStrays(fabric, layout, x) {
	for (let i = 0; i < layout.home.length; i++)
		if (fabric.types[i] !== SWITCH && layout.home[i] < 0) {
			layout.x[i] = x++ + 0.5;
			layout.y[i] = 0;
		}
}

// --- by force ---

const DISTANCE = 12;

function placeByForce(fabric, layout, hosts, forces, nowMs) {
	const points = [],
		pointOf = new Map();
	for (let i = 0; i < layout.home.length; i++)
		if (fabric.types[i] === SWITCH) {
			pointOf.set(i, points.length);
			points.push({i});
		}
	const seen = new Set(),
		springs = [];
	for (let j = 0; j < fabric.n; j++) {
		const a = pointOf.get(fabric.a[j]),
			b = pointOf.get(fabric.b[j]);
		const key = a < b ? `${a} ${b}` : `${b} ${a}`;
		if (a !== undefined && b !== undefined && a !== b && !seen.has(key)) {
			seen.add(key);
			springs.push({source: a, target: b});
		}
	}
	const simulation = forces
		.forceSimulation(points)
		.stop()
		.force("link", forces.forceLink(springs).distance(DISTANCE).strength(0.7))
		.force(
			"charge",
			forces
				.forceManyBody()
				.strength(-60)
				.distanceMax(DISTANCE * 30),
		)
		.force("x", forces.forceX().strength(0.02))
		.force("y", forces.forceY().strength(0.02));
	const begin = nowMs();
	for (let k = 0; k < 300 && nowMs() - begin < FORCE_MS; k++) simulation.tick();
	settle(layout, points, hosts);
	placeStrays(fabric, layout, 0);
}

function settle(layout, points, hosts) {
	const left = Math.min(...points.map((it) => it.x)),
		top = Math.min(...points.map((it) => it.y));
	for (const {i, x, y} of points) {
		layout.x[i] = x - left + DISTANCE / 2;
		layout.y[i] = y - top + DISTANCE / 2;
		const columns = Math.max(1, Math.ceil(Math.sqrt(hosts[i].length)));
		layout.columns[i] = columns;
		hosts[i].forEach((host, k) => {
			layout.x[host] = layout.x[i] + (k % columns) + 0.5 - columns / 2;
			layout.y[host] = layout.y[i] + 1.5 + Math.floor(k / columns);
		});
	}
	layout.width = Math.max(...points.map((it) => layout.x[it.i])) + DISTANCE / 2;
	layout.height = Math.max(...points.map((it) => layout.y[it.i])) + DISTANCE / 2;
}
