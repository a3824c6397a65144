// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What of a fabric is drawn at a scale: boxes of switches, cells of hosts, lines of links; or
// pods in one piece, with one line for all their links.  Pure: a list of shapes with their
// places in the window, which picture.js draws and asks what is at a point.
//
// Model: detail grows with the scale.
//     pods      a tree in which switches are smaller than FOLD pixels, unless 'fold' is "none"
//     switches  each of them; hosts as cells below
//     names     where there is room
// What is in the worst classes is drawn whatever is folded: a link that is down must not
// vanish because the fabric is large.

import {SWITCH} from "./model.js";

const FOLD = 7; // pixels of a switch below which pods are folded
const MARKED = 400; // links of the worst classes that are drawn over folded pods
const CROWDED = 600; // links above which those that leave the window are cut short
const STUB = 26; // pixels that are left of them
const PARALLEL = 3; // pixels from one parallel cable to the next
const PARALLELS = 18; // and of all of them
const SWITCH_HEIGHT = 14;
const GRID_ROWS = 6;
const TAG = 12; // pixels from what is tagged to the middle of the tag

export class Scene {
	constructor(fabric, layout) {
		this.fabric = fabric;
		this.layout = layout;
		this.switches = [];
		this.hosts = [];
		for (let i = 0; i < fabric.names.length; i++)
			(fabric.types[i] === SWITCH ? this.switches : this.hosts).push(i);
		this.#bundle();
		this.#findParallels();
	}

	// Cables between the same two nodes stand beside each other, so that one that is down is seen,
	// and those that are not.
	#findParallels() {
		const {fabric} = this;
		const pairs = new Map();
		this.shift = new Float32Array(fabric.n);
		for (let j = 0; j < fabric.n; j++) {
			const [a, b] = [fabric.a[j], fabric.b[j]];
			const key = a < b ? `${a} ${b}` : `${b} ${a}`;
			if (!pairs.has(key)) pairs.set(key, []);
			pairs.get(key).push(j);
		}
		for (const links of pairs.values())
			links.forEach((j, k) => (this.shift[j] = shiftOf(k, links.length)));
	}

	// Another fabric that is connected alike, with new numbers.
	renew(fabric) {
		this.fabric = fabric;
	}

	// Links between pods and the top, or another pod: by the pair, for what is folded.
	#bundle() {
		const {fabric, layout} = this;
		this.bundles = [];
		this.inPod = layout.pods.map(() => []);
		this.hostLink = new Int32Array(fabric.names.length).fill(-1);
		if (!layout.pod) layout.pod = new Int32Array(fabric.names.length).fill(-1);
		const byPair = new Map(),
			order = new Map(layout.pods.map((it, k) => [it.id, k]));
		for (let j = 0; j < fabric.n; j++) {
			const a = fabric.a[j],
				b = fabric.b[j];
			for (const [host, other] of [
				[a, b],
				[b, a],
			])
				if (layout.home[host] === other) this.hostLink[host] = j;
			if (fabric.types[a] !== SWITCH || fabric.types[b] !== SWITCH) continue;
			const p = order.get(layout.pod[a]) ?? -1,
				q = order.get(layout.pod[b]) ?? -1;
			if (p === q && p >= 0) this.inPod[p].push(j);
			else
				pushTo(byPair, `${Math.min(p, q)} ${Math.max(p, q)}`, j, {
					p: Math.max(p, q),
					q: Math.min(p, q),
				});
		}
		this.bundles = [...byPair.values()];
	}

	isFolded(viewport, fold) {
		const {layout} = this;
		if (!layout.isTree || layout.pods.length < 2 || fold === "none") return false;
		return fold === "pods" || this.switchWidth(viewport) < FOLD;
	}

	// Where there is room for boxes of a width that fits names, they have it.
	switchWidth(viewport) {
		const {layout} = this;
		if (!layout.isTree) return Math.max(5, Math.min(26, viewport.scale * 5));
		const lowest = (this.lowestWidth ??= this.#lowestWidth());
		return Math.min(110, lowest * viewport.scale);
	}

	#lowestWidth() {
		const {layout} = this;
		const n = [0, 0];
		let least = Infinity;
		for (const i of this.switches) {
			if (layout.level[i] === 1) least = Math.min(least, layout.columns[i]);
			n[layout.level[i] === 1 ? 0 : 1]++;
		}
		const gap = layout.isFew ? 1.5 : 0.2;
		return Number.isFinite(least) ? least + gap : layout.width / Math.max(1, n[1]);
	}

	box(viewport, i) {
		const {layout} = this;
		const room =
			layout.isTree && layout.level[i] !== 1 ? this.roomAbove(i) : Infinity;
		const width = Math.max(
			2,
			Math.min(this.switchWidth(viewport), room * viewport.scale * 0.85, 110),
		);
		const height = layout.isTree
			? SWITCH_HEIGHT
			: Math.max(5, Math.min(SWITCH_HEIGHT, width * 0.7));
		const x = viewport.px(layout.x[i]),
			y = viewport.py(layout.y[i]);
		return {
			x: x - width / 2,
			y: y - height / 2,
			width,
			height,
			middle: x,
			centre: y,
		};
	}

	// How far switches of a tier above stand apart.
	roomAbove(i) {
		const {layout} = this;
		this.rooms ??= new Map();
		const key = `${layout.pod[i]} ${layout.level[i]}`;
		if (!this.rooms.has(key)) {
			const all = this.switches.filter(
				(it) =>
					layout.level[it] === layout.level[i] &&
					layout.pod[it] === layout.pod[i],
			);
			const pod = layout.pods.find((it) => it.id === layout.pod[i]);
			this.rooms.set(
				key,
				(pod ? pod.width : layout.width) / Math.max(1, all.length),
			);
		}
		return this.rooms.get(key);
	}

	// The cell of a host: {x, y, size}.
	cell(viewport, i) {
		const {layout} = this;
		const home = layout.home[i];
		if (!layout.isTree) {
			const size = Math.max(1, viewport.scale * 0.8),
				x = viewport.px(layout.x[i]) - size / 2;
			if (home < 0)
				return {
					x,
					y: viewport.py(layout.y[i]) - size / 2,
					size,
					height: size,
				};
			const {y, height} = this.box(viewport, home);
			const row = Math.floor(layout.slot[i] / layout.columns[home]);
			return {
				x,
				y: y + height + 3 + row * Math.max(2, viewport.scale),
				size,
				height: size,
			};
		}
		const size = Math.min(16, Math.max(1, viewport.scale * 0.8));
		const x = viewport.px(layout.x[i]) - size / 2;
		if (layout.isFew || home < 0)
			return {x, y: viewport.py(0) - size / 2, size, height: size};
		const row = Math.floor(layout.slot[i] / layout.columns[home]);
		const height = Math.min(9, size < 3 ? 7 : size);
		const top = this.box(viewport, home).y + SWITCH_HEIGHT + 4;
		return {x, y: top + row * (height + 1), size, height};
	}

	// Down to where a host's name may reach: no other tier is below it.
	endBelow(viewport, i) {
		const {layout} = this;
		const home = layout.home[i];
		return home < 0 || layout.isFew || layout.level[home] <= 1
			? viewport.height
			: viewport.py(layout.level[home] - 1) - SWITCH_HEIGHT;
	}

	// The middle of a node's tag, where it covers no switch: above a switch, below the hosts of one.
	tagY(viewport, i) {
		const {layout, fabric} = this;
		if (fabric.types[i] === SWITCH) return this.box(viewport, i).y - TAG;
		const {y, height} = this.cell(viewport, i);
		const home = layout.home[i];
		if (!layout.isTree) return y + height + TAG;
		if (layout.isFew || home < 0) return y - TAG;
		const rows = Math.ceil(layout.nHosts[home] / layout.columns[home]);
		const first = this.box(viewport, home).y + SWITCH_HEIGHT + 4;
		return first + rows * (height + 1) + TAG;
	}

	// The band of a folded pod.
	podBox(viewport, k) {
		const {x, width, switches} = this.layout.pods[k];
		const top = Math.max(...switches.map((i) => this.layout.level[i]));
		const y = viewport.py(top) - 12,
			bottom = viewport.py(1) + 16 + GRID_ROWS * 8 + 4;
		return {
			x: viewport.px(x),
			y,
			width: width * viewport.scale,
			height: bottom - y,
			top: viewport.py(top),
		};
	}

	visibleX(viewport, margin = 100) {
		return [viewport.toX(-margin), viewport.toX(viewport.width + margin)];
	}

	// Links to draw one by one, as indices.  'classes' are those of the metric.
	links(viewport, fold, classes, worst) {
		const {fabric, layout} = this;
		const isFolded = this.isFolded(viewport, fold);
		const [left, right] = this.visibleX(viewport, 0);
		const list = [];
		for (let j = 0; j < fabric.n; j++) {
			const a = fabric.a[j],
				b = fabric.b[j];
			const isHost = fabric.types[a] !== SWITCH || fabric.types[b] !== SWITCH;
			if (isHost && layout.isTree && !layout.isFew) continue; // its cell stands for it
			if (isFolded && (classes[j] < worst || list.length >= MARKED)) continue;
			const x0 = Math.min(layout.x[a], layout.x[b]),
				x1 = Math.max(layout.x[a], layout.x[b]);
			if (x1 < left || x0 > right) continue;
			list.push(j);
		}
		this.isCrowded = list.length > CROWDED;
		return this.isCrowded
			? list.filter(
					(j) =>
						this.#isSeen(viewport, fabric.a[j]) ||
						this.#isSeen(viewport, fabric.b[j]),
				)
			: list;
	}

	#isSeen(viewport, i) {
		const x = viewport.px(this.layout.x[i]),
			y = this.layout.isTree ? 0 : viewport.py(this.layout.y[i]);
		return (
			x > -60 &&
			x < viewport.width + 60 &&
			y > -60 &&
			y < viewport.height + 60
		);
	}

	// What is at a point: {node}, {link}, {pod} or null.
	at(viewport, fold, px, py, links) {
		const isFolded = this.isFolded(viewport, fold);
		const [left, right] = [viewport.toX(px) - 200, viewport.toX(px) + 200];
		const near = (i) => this.layout.x[i] > left && this.layout.x[i] < right;
		for (const i of this.switches)
			if (
				near(i) &&
				!(isFolded && this.layout.pod[i] >= 0) &&
				isIn(this.box(viewport, i), px, py, 2)
			)
				return {node: i};
		for (const i of this.hosts)
			if (near(i)) {
				const {x, y, size, height} = this.cell(viewport, i);
				if (isIn({x, y, width: size, height}, px, py, 1))
					return {node: i};
			}
		const link = this.#linkAt(viewport, px, py, links);
		if (link >= 0) return {link};
		if (isFolded)
			for (let k = 0; k < this.layout.pods.length; k++)
				if (isIn(this.podBox(viewport, k), px, py, 0)) return {pod: k};
		return null;
	}

	#linkAt(viewport, px, py, links) {
		let best = 25,
			found = -1;
		for (const j of links) {
			const [x0, y0, x1, y1] = this.line(viewport, j);
			const square = distance(px, py, x0, y0, x1, y1);
			if (square < best) {
				best = square;
				found = j;
			}
		}
		return found;
	}

	// From end to end.  Of many, one that leaves the window is a stub at the end that is seen,
	// because where it goes can't be seen, and it would hide what can.
	line(viewport, j, isWhole = false) {
		const {
			fabric: {a, b},
			layout,
		} = this;
		const shift = this.shift[j];
		const line = [
			viewport.px(layout.x[a[j]]) + shift,
			this.#endY(viewport, a[j]),
			viewport.px(layout.x[b[j]]) + shift,
			this.#endY(viewport, b[j]),
		];
		if (isWhole || !this.isCrowded) return line;
		const isSeen = [this.#isSeen(viewport, a[j]), this.#isSeen(viewport, b[j])];
		return isSeen[0] === isSeen[1]
			? line
			: stub(isSeen[0] ? line : [line[2], line[3], line[0], line[1]]);
	}

	#endY(viewport, i) {
		const {layout, fabric} = this;
		if (
			fabric.types[i] === SWITCH ||
			(layout.isTree ? layout.isFew : layout.home[i] < 0)
		)
			return viewport.py(layout.y[i]);
		const {y, height} = this.cell(viewport, i);
		return y + height / 2;
	}
}

// Of the k-th of n parallel cables, in pixels to the side.
export function shiftOf(k, n) {
	return (k - (n - 1) / 2) * Math.min(PARALLEL, PARALLELS / n);
}

function pushTo(map, key, value, rest) {
	const it = map.get(key) ?? {...rest, links: []};
	it.links.push(value);
	map.set(key, it);
}

function isIn(box, px, py, margin) {
	return (
		px >= box.x - margin &&
		px <= box.x + box.width + margin &&
		py >= box.y - margin &&
		py <= box.y + box.height + margin
	);
}

function stub([x0, y0, x1, y1]) {
	const dx = x1 - x0,
		dy = y1 - y0,
		height = Math.sign(dy) * STUB;
	// As steep as can be told apart, however far the other end is.
	const width = Math.max(
		-STUB,
		Math.min(STUB, (dx * Math.abs(height)) / (Math.abs(dy) || 1)),
	);
	return [x0, y0, x0 + width, y0 + height];
}

// The square of a point's distance from a line's piece.
function distance(px, py, x0, y0, x1, y1) {
	const dx = x1 - x0,
		dy = y1 - y0;
	const t = Math.max(
		0,
		Math.min(1, ((px - x0) * dx + (py - y0) * dy) / (dx * dx + dy * dy || 1)),
	);
	return (px - x0 - t * dx) ** 2 + (py - y0 - t * dy) ** 2;
}
