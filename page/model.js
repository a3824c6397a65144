// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The fabric as the page holds it: columns made of what 'nodes' and 'links' say.
//
// Model: node i has names[i] (its label), guids[i], ...; link j leads from a[j] (port aPort[j]) to b[j].
// use, wait: percent, at either end; NaN: not known.  waitLeast: the wait is at least that.  errors:
// totals of both ends; NaN: not known.  Nodes that only links name (a cable that is down, with an end that has left) are added, state "gone".
//
// Pure.  Typed arrays, so that a worker can hand them over without a copy.

import {isKnown, percent} from "./format.js";
import {labelsOf} from "./labels.js";

export const TYPES = ["switch", "ca", "router"];
export const SWITCH = 0;

// Classes of links by their state, the worst last.
export const STATES = ["active", "slow", "not active", "unreachable", "down"];

export function makeFabric(nodes, links) {
	const fabric = {
		names: [],
		guids: [],
		types: [],
		lids: [],
		states: [],
		ports: [],
		portsUp: [],
	};
	const index = new Map();
	for (const node of nodes) addNode(fabric, index, node.guid, node.name, node.type, node);
	const n = links.length;
	Object.assign(fabric, {
		n,
		a: new Int32Array(n),
		b: new Int32Array(n),
		aPort: new Uint8Array(n),
		bPort: new Uint8Array(n),
		aUse: new Float32Array(n),
		bUse: new Float32Array(n),
		wait: new Float32Array(n),
		waitLeast: new Uint8Array(n),
		errors: new Float64Array(n),
		state: new Uint8Array(n),
		downs: new Uint32Array(n),
		held: new Uint8Array(n), // out of routing
		bps: new Float64Array(n),
		rates: [],
		lastDowns: [],
	});
	links.forEach((link, j) => addLink(fabric, index, link, j));
	fabric.types = Uint8Array.from(fabric.types);
	fabric.names = labelsOf(fabric.names, fabric.guids);
	return fabric;
}

function addNode(fabric, index, guid, name, type, node) {
	const i = fabric.guids.length;
	index.set(guid, i);
	fabric.guids.push(guid);
	fabric.names.push(name);
	fabric.types.push(Math.max(0, TYPES.indexOf(type)));
	fabric.lids.push(node?.lid ?? null);
	fabric.states.push(node?.state ?? "gone");
	fabric.ports.push(node?.ports ?? null);
	fabric.portsUp.push(node?.ports_up ?? null);
	return i;
}

function addLink(fabric, index, link, j) {
	const [a, b] = link.ends;
	fabric.a[j] = endNode(fabric, index, a);
	fabric.b[j] = endNode(fabric, index, b);
	fabric.aPort[j] = a.port;
	fabric.bPort[j] = b.port;
	fabric.aUse[j] = a.use_percent ?? NaN;
	fabric.bUse[j] = b.use_percent ?? NaN;
	const {wait, isLeast} = waitOf(link);
	fabric.wait[j] = wait;
	fabric.waitLeast[j] = isLeast;
	fabric.errors[j] = errorsOf(link);
	fabric.state[j] = stateOf(link);
	fabric.downs[j] = link.downs ?? 0;
	fabric.held[j] = link.held;
	fabric.bps[j] = link.rate_bps ?? NaN;
	fabric.rates.push(link.rate);
	fabric.lastDowns.push(link.last_down);
}

function endNode(fabric, index, end) {
	return (
		index.get(end.node_guid) ??
		addNode(fabric, index, end.node_guid, end.node_name, end.node_type, null)
	);
}

// The greater of two that may be unknown.
export function worse(a, b) {
	const known = [a, b].filter(isKnown);
	return known.length ? Math.max(...known) : NaN;
}

// The longer wait of a link's ends; of one end alone it is the least, and 0 there says nothing.
export function waitOf({ends}) {
	const isLeast = ends.some((it) => it.wait_at_least || !isKnown(it.wait_percent));
	const wait = worse(ends[0].wait_percent, ends[1].wait_percent);
	return {wait: isLeast && wait === 0 ? NaN : wait, isLeast};
}

// Errors that an end counted.
export function errorsAt({errors}) {
	return errors ? Object.values(errors).reduce((sum, n) => sum + n, 0) : NaN;
}

// Errors of both ends; none at one end says nothing of the other.
export function errorsOf({ends}) {
	const [a, b] = ends.map(errorsAt);
	return (a || 0) + (b || 0) || a + b;
}

export function isDown(state) {
	return state === "down" || state === "unreachable";
}

// The rate of a link, or what it was while it was up.
export function rateText(state, rate) {
	return isDown(state) && rate !== "-" ? `was ${rate}` : rate;
}

function stateOf(link) {
	if (isDown(link.state)) return STATES.indexOf(link.state);
	if (link.state !== "active") return 2;
	return link.slow ? 1 : 0;
}

// Whether a node is an aggregation node inside a switch, which is a CA and no host; told by its name,
// as the SM's side does.
export function isInside(fabric, i) {
	return fabric.types[i] !== SWITCH && fabric.names[i].includes("Aggregation Node");
}

// [{link, node, port, far, farPort}] of each node, by port.
export function neighbours(fabric) {
	const lists = fabric.names.map(() => []);
	for (let j = 0; j < fabric.n; j++) {
		lists[fabric.a[j]].push({
			link: j,
			far: fabric.b[j],
			port: fabric.aPort[j],
			farPort: fabric.bPort[j],
		});
		lists[fabric.b[j]].push({
			link: j,
			far: fabric.a[j],
			port: fabric.bPort[j],
			farPort: fabric.aPort[j],
		});
	}
	for (const list of lists) list.sort((x, y) => x.port - y.port);
	return lists;
}

// --- what a colour says ---

// Bounds of classes: a value is in class c when it is >= bounds[c - 1].  Class 0 is the
// least; -1 means not known.
export const METRICS = {
	use: {title: "Utilisation", unit: "%", bounds: [1, 10, 25, 50, 75, 90]},
	wait: {title: "Congestion", unit: "% of time waiting", bounds: [0.1, 1, 2, 5, 10, 25]},
	errors: {
		title: "Errors",
		unit: "errors since Triad began",
		bounds: [1, 10, 100, 1000, 10000, 100000],
	},
	state: {title: "State", unit: "", bounds: [1, 2, 3, 4]},
};

function valueOf(fabric, metric, j) {
	switch (metric) {
		case "use":
			return worse(fabric.aUse[j], fabric.bUse[j]);
		case "wait":
			return fabric.wait[j];
		case "errors":
			return fabric.errors[j];
		default:
			return fabric.state[j];
	}
}

// The class behind the last one of numbers: a link that is down has none, and must be seen.
export const DOWN = 7;

export function classesOf(fabric, metric) {
	const {bounds} = METRICS[metric];
	return Int8Array.from({length: fabric.n}, (_, j) => {
		const value = valueOf(fabric, metric, j);
		if (metric !== "state" && fabric.state[j] >= 3) return DOWN;
		if (Number.isNaN(value)) return -1;
		let c = 0;
		while (c < bounds.length && value >= bounds[c]) c++;
		return c;
	});
}

// From these classes on there is trouble.
export const TROUBLE = {state: 1, errors: 2, wait: 3};

// The metric by which a fabric is coloured unless somebody chooses: the first that shows trouble,
// or what the links carry.
export function tellingMetric(fabric) {
	const metrics = Object.keys(TROUBLE);
	return (
		metrics.find((it) => classesOf(fabric, it).some((c) => c !== DOWN && c >= TROUBLE[it])) ??
		"use"
	);
}

// What flows between levels of switches and hosts: [{low, high, links, inside, known, up, down,
// capacity, unknown}], in bits per second, of links that may carry data, as 'perf tiers' counts them;
// the sums are of 'known' ones, of which both ends were read.  'inside': of 'links', those to
// aggregation nodes.  'level' as of tiers.js.
export function trafficByTier(fabric, level) {
	const tiers = new Map();
	for (let j = 0; j < fabric.n; j++) {
		if (fabric.state[j] >= 3 || fabric.held[j]) continue;
		const [a, b] = [level[fabric.a[j]], level[fabric.b[j]]];
		const [low, high] = a <= b ? [a, b] : [b, a];
		const key = `${low} ${high}`;
		if (!tiers.has(key))
			tiers.set(key, {
				low,
				high,
				links: 0,
				inside: 0,
				known: 0,
				up: 0,
				down: 0,
				capacity: 0,
				unknown: 0,
			});
		const tier = tiers.get(key);
		tier.links++;
		if (isInside(fabric, fabric.a[j]) || isInside(fabric, fabric.b[j])) tier.inside++;
		const bps = fabric.bps[j];
		const [out, back] = [fabric.aUse[j], fabric.bUse[j]];
		if ([bps, out, back].some(Number.isNaN)) {
			tier.unknown++;
			continue;
		}
		tier.known++;
		tier.capacity += bps;
		tier.up += ((a <= b ? out : back) / 100) * bps;
		tier.down += ((a <= b ? back : out) / 100) * bps;
	}
	return [...tiers.values()].sort((x, y) => x.low - y.low || x.high - y.high);
}

// Of how many links the rate of a counter is not known at one end at least, which may not answer, or
// lack PortXmitWait.
export function unreadLinks(fabric, counter) {
	let n = 0;
	for (let j = 0; j < fabric.n; j++) {
		if (fabric.state[j] >= 3 || fabric.held[j]) continue;
		if (counter === "PortXmitWait") n += fabric.waitLeast[j];
		else n += Number.isNaN(fabric.aUse[j]) || Number.isNaN(fabric.bUse[j]) ? 1 : 0;
	}
	return n;
}

// Of the rows of 'perf tiers', for each tier: what a chart draws, how much that is in all, and of which
// share of its links.
export function tierCurves(rows) {
	const times = [...new Set(rows.map((it) => it.time))];
	const tiers = new Map();
	for (const it of rows) {
		const key = `${it.low} ${it.high}`;
		if (!tiers.has(key)) tiers.set(key, {low: it.low, high: it.high, at: new Map()});
		tiers.get(key).at.set(it.time, it);
	}
	return [...tiers.values()]
		.sort((x, y) => x.low - y.low || x.high - y.high)
		.map(({low, high, at}) => ({
			low,
			high,
			series: ["up", "down"].map((label) => ({
				label,
				// Its points are words of four octets.
				counter: "PortXmitData",
				points: times.map((time) => {
					const bps = at.get(time)?.[`${label}_bps`] ?? null;
					return {time, per_second: bps === null ? null : bps / 32};
				}),
			})),
			...amountOf([...at.values()]),
			share: shareOf([...at.values()]),
		}));
}

// How much flowed, in octets, and in how many seconds: of the times of which it is known.
function amountOf(rows) {
	const amount = {up: 0, down: 0, seconds: 0};
	for (const it of rows.filter((row) => row.up_bps !== null)) {
		const seconds = (Date.parse(it.time) - Date.parse(it.since)) / 1000;
		amount.up += (it.up_bps / 8) * seconds;
		amount.down += (it.down_bps / 8) * seconds;
		amount.seconds += seconds;
	}
	return amount;
}

// "all links", "87 to 100 % of its links"; null: of no link is it known at any time.
function shareOf(rows) {
	const shares = rows
		.filter((it) => it.known_links)
		.map((it) => Math.floor((100 * it.known_links) / it.links));
	if (!shares.length) return null;
	const [least, most] = [Math.min(...shares), Math.max(...shares)];
	if (least === 100) return "all links";
	return `${least === most ? "" : `${least} to `}${percent(most)} of its links`;
}

// When a counter rose last, and since when without a pause, by the points of 'perf history':
// {from, to, isAtLeast, last}: it began to rise between 'from' and 'to', and did until 'last'.
// null: it did not rise in this time; undefined: nothing is known of it.
export function riseOf(points) {
	const known = points.filter((it) => it.per_second !== null);
	if (!known.length) return undefined;
	let i = points.findLastIndex((it) => it.per_second > 0);
	if (i < 0) return null;
	const last = points[i].time;
	while (points[i - 1]?.per_second > 0) i--;
	// Of what is before a gap, or before the first point, nothing is known.
	return {
		from: points[i - 1]?.time ?? points[i].time,
		to: points[i].time,
		isAtLeast: (points[i - 1]?.per_second ?? null) === null,
		last,
	};
}

// Since when ports have alerts that are active, of whatever they found: "0x...:3" to the first time.
export function alertsSince(alerts) {
	const since = new Map();
	for (const alert of alerts)
		for (const it of alert.cleared ? [] : alert.findings) {
			const place = `${it.node_guid}:${it.port}`;
			const before = since.get(place);
			if (it.since && !(before <= it.since)) since.set(place, it.since);
		}
	return since;
}

// --- search ---

// The nodes whose name, GUID or LID fits, the best first, 'limit' at most.
export function search(fabric, text, limit = 20) {
	const words = text.trim().toLowerCase();
	if (!words) return [];
	const found = [];
	for (let i = 0; i < fabric.names.length; i++) {
		const rank = rankOf(fabric, i, words);
		if (rank < 4) found.push([rank, i]);
	}
	found.sort((x, y) => x[0] - y[0] || collate(fabric.names[x[1]], fabric.names[y[1]]));
	return found.slice(0, limit).map(([, i]) => i);
}

const collate = new Intl.Collator("en", {numeric: true}).compare;

function rankOf(fabric, i, text) {
	const name = fabric.names[i].toLowerCase();
	if (name === text || fabric.guids[i] === text || String(fabric.lids[i]) === text)
		return 0;
	if (name.startsWith(text)) return 1;
	if (name.includes(text)) return 2;
	return fabric.guids[i].includes(text) && text.length > 3 ? 3 : 4;
}
