// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Levels of a fabric: 0 are hosts, 1 switches with hosts, 2 those above, and so on, as
// 'routes' names them; and pods, which are parts that only the top level connects.
//
// Model: a fabric is a tree when its switches have more than one level and links between
// switches lead from one level to the next, but for a few (isTree).  Pure.

import {isInside, SWITCH, neighbours} from "./model.js";

// Of links between switches, how many may lead elsewhere in what is still drawn as a tree.
const ODD_SHARE = 0.05;

export function findLevels(fabric, lists = neighbours(fabric)) {
	const isSwitch = (i) => fabric.types[i] === SWITCH;
	const n = fabric.names.length;
	const nHosts = new Uint32Array(n);
	for (let i = 0; i < n; i++)
		if (isSwitch(i))
			nHosts[i] = lists[i].filter(
				(it) => !isSwitch(it.far) && !isInside(fabric, it.far),
			).length;
	const level = new Int16Array(n).fill(-1);
	let front = [];
	for (let i = 0; i < n; i++) {
		if (!isSwitch(i)) level[i] = 0;
		else if (nHosts[i]) front.push(i);
	}
	front = front.filter(notSpine(lists, nHosts, front, isSwitch));
	for (const i of front) level[i] = 1;
	climb(level, lists, front, isSwitch);
	// Switches that no host reaches stand with the lowest.
	for (let i = 0; i < n; i++) if (level[i] < 0) level[i] = 1;
	return {level, nHosts, ...judge(fabric, level, isSwitch)};
}

// A spine with storage has few hosts, and its neighbours are those of spines without.
function notSpine(lists, nHosts, front, isSwitch) {
	const mean = front.reduce((sum, i) => sum + nHosts[i], 0) / (front.length || 1);
	const hasBare = (i) => lists[i].some((it) => isSwitch(it.far) && !nHosts[it.far]);
	return (i) => {
		const below = lists[i].filter((it) => isSwitch(it.far));
		return (
			nHosts[i] > mean / 2 ||
			!below.length ||
			!below.every((it) => nHosts[it.far] && hasBare(it.far))
		);
	};
}

function climb(level, lists, front, isSwitch) {
	for (let step = 2; front.length; step++) {
		const next = [];
		for (const i of front)
			for (const {far} of lists[i])
				if (level[far] < 0 && isSwitch(far)) {
					level[far] = step;
					next.push(far);
				}
		front = next;
	}
}

function judge(fabric, level, isSwitch) {
	let between = 0,
		odd = 0,
		top = 0;
	for (let j = 0; j < fabric.n; j++) {
		const {
			a: {[j]: a},
			b: {[j]: b},
		} = fabric;
		if (!isSwitch(a) || !isSwitch(b)) continue;
		between++;
		if (Math.abs(level[a] - level[b]) !== 1) odd++;
	}
	for (const it of level) top = Math.max(top, it);
	return {top, isTree: top <= 1 ? between === 0 : odd <= between * ODD_SHARE};
}

// Numbers each pod: what hangs together below the top level.  With two levels there is one.
export function findPods(fabric, {level, top}, lists = neighbours(fabric)) {
	const pod = new Int32Array(fabric.names.length).fill(-1);
	let n = 0;
	for (let start = 0; start < pod.length; start++) {
		if (
			pod[start] >= 0 ||
			fabric.types[start] !== SWITCH ||
			(top > 2 && level[start] === top)
		)
			continue;
		const stack = [start];
		pod[start] = n;
		while (stack.length) {
			for (const {far} of lists[stack.pop()]) {
				const isIn =
					fabric.types[far] === SWITCH &&
					(top <= 2 || level[far] < top);
				if (pod[far] < 0 && isIn) {
					pod[far] = n;
					stack.push(far);
				}
			}
		}
		n++;
	}
	return {pod, nPods: n};
}
