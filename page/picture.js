// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Draws a scene into a canvas.
//
// Model: one pass a frame; lines of one colour are one path, so that ten thousand cost what
// some dozen do.  Colours come from the style sheet, in classes of the metric.

import {visible} from "./format.js";
import {shortName} from "./labels.js";
import {DOWN, SWITCH} from "./model.js";
import {colours} from "./theme.js";

const FONT = "11px system-ui, sans-serif";
const CHARACTER = 6.4; // pixels, about
const WIDE_CHARACTER = 7; // of names that are mostly capitals and digits
const MANY_NAMES = 80; // switches in sight that still have room for theirs
const ROOMY = 30; // characters of a name where there is room
const MOST_OF_NAME = 16; // characters of a host's
const TAG_HEIGHT = 20;
const MOST_TAGS = 12;
const MOST_OF_TAG = 20; // characters of a name over the picture
const APART = 55; // pixels between hosts of no tree from which on their names have room
const LEAN = Math.PI / 3; // of names of hosts, to the right
const BAR = 14; // below the top tier, where folded pods are connected

export function palette(metric) {
	const names =
		metric === "state"
			? ["state-0", "state-1", "state-2", "state-3", "state-4"]
			: [
					...Array.from(
						{length: DOWN},
						(_, c) =>
							`${metric === "use" ? "use" : "bad"}-${c}`,
					),
					"state-4",
				];
	const [unknown, text, quiet, box, line, paper, chosen, ...classes] = colours(
		"unknown",
		"text",
		"quiet",
		"box",
		"line",
		"paper",
		"chosen",
		...names,
	);
	return {unknown, text, quiet, box, line, paper, chosen, classes};
}

export class Picture {
	constructor(canvas) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d");
		this.drawn = []; // links that were drawn one by one
	}

	// 'state': {fold, classes, palette, worst, chosen: {nodes, links}, path}
	draw(scene, viewport, state) {
		const ratio = devicePixelRatio;
		const {context, canvas} = this;
		const width = Math.round(viewport.width * ratio),
			height = Math.round(viewport.height * ratio);
		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, viewport.width, viewport.height);
		context.font = FONT;
		Object.assign(this, {scene, viewport, state});
		const isFolded = scene.isFolded(viewport, state.fold);
		if (isFolded) this.#bundles();
		this.drawn = scene.links(viewport, state.fold, state.classes, state.worst);
		this.#halo();
		if (!isFolded) this.#lines(this.drawn);
		this.#hosts();
		this.#switches(isFolded);
		if (isFolded) {
			this.#halo();
			this.#lines([...this.drawn, ...state.chosen.links]);
			this.#podNames();
		}
		this.#chosen();
	}

	#colourOf(c) {
		return c < 0 ? this.state.palette.unknown : this.state.palette.classes[c];
	}

	#lines(links) {
		const {context, scene, viewport, state} = this;
		const byClass = new Map();
		for (const j of links) {
			const c = state.classes[j];
			if (!byClass.has(c)) byClass.set(c, []);
			byClass.get(c).push(j);
		}
		for (const c of [...byClass.keys()].sort((x, y) => x - y)) {
			const isBad = c >= state.worst;
			context.strokeStyle = this.#colourOf(c);
			context.lineWidth = isBad ? 2.5 : links.length > 3000 ? 0.6 : 1.2;
			context.setLineDash(state.dash?.[c] ?? (c < 0 ? [2, 3] : []));
			context.beginPath();
			for (const j of byClass.get(c)) {
				const [x0, y0, x1, y1] = scene.line(viewport, j);
				context.moveTo(x0, y0);
				context.lineTo(x1, y1);
			}
			context.stroke();
		}
		context.setLineDash([]);
	}

	// All links of a pod to the tier above as one line: as wide as they are many, in the colour
	// of the worst class that a tenth of them has.
	#bundles() {
		const {context, scene, viewport, state} = this;
		const most = Math.max(...scene.bundles.map((it) => it.links.length), 1);
		for (const {p, q, links} of scene.bundles) {
			const from = scene.podBox(viewport, p);
			const to = q >= 0 ? scene.podBox(viewport, q) : null;
			// The top tier is one bar: a line straight up stands for the links to all of it.
			const x1 = to ? to.x + to.width / 2 : from.x + from.width / 2;
			context.strokeStyle = this.#colourOf(typical(links, state.classes));
			context.lineWidth = 1.5 + (5 * links.length) / most;
			context.beginPath();
			context.moveTo(from.x + from.width / 2, from.y);
			context.lineTo(x1, to ? to.y : viewport.py(scene.layout.top) + BAR);
			context.stroke();
		}
		context.fillStyle = state.palette.line;
		context.fillRect(
			viewport.px(0),
			viewport.py(scene.layout.top) + BAR - 2,
			scene.layout.width * viewport.scale,
			3,
		);
		scene.layout.pods.forEach((_, k) => {
			const box = scene.podBox(viewport, k);
			context.fillStyle = state.palette.box;
			context.strokeStyle = state.palette.line;
			context.lineWidth = 1;
			context.fillRect(box.x, box.y, box.width, box.height);
			context.strokeRect(box.x, box.y, box.width, box.height);
			this.#band(box, scene.inPod[k]);
		});
	}

	// How the links inside of a folded pod are spread over the classes, as a stack.
	#band(box, links) {
		const {context, viewport, state} = this;
		const counts = new Map();
		for (const j of links)
			counts.set(state.classes[j], (counts.get(state.classes[j]) ?? 0) + 1);
		const bottom = viewport.py(1) - 10,
			height = bottom - box.top - 14;
		let y = bottom;
		for (const c of [...counts.keys()].sort((a, b) => a - b)) {
			const part = (height * counts.get(c)) / links.length;
			context.fillStyle = this.#colourOf(c);
			context.fillRect(
				box.x + box.width * 0.2,
				y - part,
				box.width * 0.6,
				Math.max(1, part - 0.5),
			);
			y -= part;
		}
	}

	#switches(isFolded) {
		const {
			context,
			scene,
			viewport,
			state: {palette},
		} = this;
		const {layout, fabric} = scene;
		const [left, right] = scene.visibleX(viewport);
		context.lineWidth = 1;
		context.textAlign = "center";
		context.textBaseline = "middle";
		const seen = scene.switches.filter(
			(i) => layout.x[i] >= left && layout.x[i] <= right,
		);
		this.isRoomy = viewport.scale > 4 || seen.length <= MANY_NAMES;
		for (const i of seen) {
			const box = scene.box(viewport, i);
			context.fillStyle =
				fabric.states[i] === "answers" ||
				fabric.states[i] === "not asked"
					? palette.box
					: palette.paper;
			context.strokeStyle =
				fabric.states[i] === "gone" || fabric.states[i] === "unanswered"
					? palette.classes.at(-1)
					: palette.text;
			context.beginPath();
			context.rect(box.x, box.y, box.width, box.height);
			context.fill();
			if (box.width > 4) context.stroke();
			else {
				context.fillStyle = palette.quiet;
				context.fillRect(
					box.x,
					box.y,
					Math.max(1, box.width - 0.5),
					box.height,
				);
			}
			if (!isFolded) this.#name(i, box);
		}
	}

	#name(i, box) {
		const {
			context,
			scene,
			viewport,
			state: {palette},
		} = this;
		const name = visible(scene.fabric.names[i]);
		if (!scene.layout.isTree) {
			if (this.isRoomy) this.#plate(shortName(name, ROOMY), box.middle, box.y - 9);
		} else if (name.length * CHARACTER <= box.width - 4) {
			context.fillStyle = palette.text;
			context.fillText(name, box.middle, box.centre);
		} else if (scene.layout.level[i] > 0) {
			const text = shortName(name, Math.floor((box.width - 4) / WIDE_CHARACTER));
			context.fillStyle = palette.text;
			if (text) context.fillText(text, box.middle, box.centre);
		}
	}

	// A text on paper, so that it can be read over lines and cells.
	#plate(text, x, y) {
		const {
			context,
			state: {palette},
		} = this;
		const half = context.measureText(text).width / 2 + 2;
		context.fillStyle = palette.paper;
		context.fillRect(x - half, y - 7, half * 2, 13);
		context.fillStyle = palette.text;
		context.fillText(text, x, y);
	}

	#hosts() {
		const {context, scene, viewport, state} = this;
		const {layout} = scene;
		const [left, right] = scene.visibleX(viewport);
		const byClass = new Map();
		for (const i of scene.hosts) {
			if (layout.x[i] < left || layout.x[i] > right) continue;
			const link = scene.hostLink[i];
			const c = link < 0 ? -1 : state.classes[link];
			if (!byClass.has(c)) byClass.set(c, []);
			byClass.get(c).push(i);
		}
		for (const c of [...byClass.keys()].sort((x, y) => x - y)) {
			context.fillStyle = this.#colourOf(c);
			context.beginPath();
			for (const i of byClass.get(c)) {
				const {x, y, size, height} = scene.cell(viewport, i);
				const grown = c >= state.worst && size < 4 ? 4 - size : 0;
				context.rect(x - grown / 2, y, size + grown, height);
			}
			context.fill();
		}
		if (layout.isFew || !layout.isTree || viewport.scale > 22)
			this.#hostNames(left, right);
	}

	#hostNames(left, right) {
		const {
			context,
			scene,
			viewport,
			state: {palette},
		} = this;
		const {layout, fabric} = scene;
		if (viewport.scale < (layout.isTree ? 13 : APART)) return;
		context.textAlign = layout.isTree ? "left" : "center";
		context.textBaseline = "middle";
		context.fillStyle = palette.quiet;
		for (const i of scene.hosts) {
			if (
				layout.x[i] < left ||
				layout.x[i] > right ||
				(!layout.isFew &&
					layout.isTree &&
					layout.home[i] >= 0 &&
					layout.slot[i] + layout.columns[layout.home[i]] <
						layout.nHosts[layout.home[i]])
			)
				continue;
			const {x, y, size, height} = scene.cell(viewport, i);
			const name = visible(fabric.names[i]);
			if (!layout.isTree) {
				const room = Math.floor((viewport.scale - 4) / CHARACTER);
				context.fillText(
					shortName(name, room),
					x + size / 2,
					y + height + viewport.scale / 10,
				);
				continue;
			}
			const top = y + height + 5;
			const room = Math.floor(
				(scene.endBelow(viewport, i) - top - 6) / (Math.sin(LEAN) * CHARACTER),
			);
			context.save();
			context.translate(x + size / 2, top);
			context.rotate(LEAN);
			context.fillText(shortName(name, Math.min(MOST_OF_NAME, room)), 0, 0);
			context.restore();
		}
	}

	#podNames() {
		const {
			context,
			scene,
			viewport,
			state: {palette},
		} = this;
		const {layout} = scene;
		context.textAlign = "center";
		context.textBaseline = "top";
		context.fillStyle = palette.text;
		let last = -Infinity;
		layout.pods.forEach((pod, k) => {
			const box = scene.podBox(viewport, k);
			const text = `${k + 1}`;
			const middle = box.x + box.width / 2,
				half = (text.length * CHARACTER) / 2 + 2;
			if (middle - half > last) {
				context.fillText(text, middle, box.y + box.height + 3);
				last = middle + half;
			}
		});
		context.fillStyle = palette.quiet;
		context.textAlign = "left";
		context.fillText(
			`Pods ${layout.pods.length ? `1–${layout.pods.length}` : ""}: zoom in, or click, to unfold`,
			10,
			viewport.height - 16,
		);
	}

	// Behind the lines of what is chosen, so that their own colour is seen.
	#halo() {
		const {context, scene, viewport, state} = this;
		context.strokeStyle = state.palette.chosen;
		context.lineWidth = 6;
		context.beginPath();
		for (const j of state.chosen.links) {
			const [x0, y0, x1, y1] = scene.line(viewport, j, true);
			context.moveTo(x0, y0);
			context.lineTo(x1, y1);
		}
		context.stroke();
	}

	#chosen() {
		const {context, scene, viewport, state} = this;
		const {nodes} = state.chosen;
		this.tags = [];
		context.strokeStyle = state.palette.chosen;
		context.lineWidth = 2.5;
		for (const i of nodes) {
			const isSwitch = scene.fabric.types[i] === SWITCH;
			const box = isSwitch ? scene.box(viewport, i) : scene.cell(viewport, i);
			const width = box.width ?? box.size;
			context.strokeRect(box.x - 3, box.y - 3, width + 6, box.height + 6);
			const isNamed =
				isSwitch &&
				visible(scene.fabric.names[i]).length * CHARACTER <= width - 4;
			if (nodes.length <= MOST_TAGS && !isNamed) {
				context.font = `bold ${FONT}`;
				this.#tag(
					shortName(visible(scene.fabric.names[i]), MOST_OF_TAG),
					box.x + width / 2,
					scene.tagY(viewport, i),
				);
				context.font = FONT;
			}
		}
	}

	// A name over whatever is there, inside of the window.
	#tag(text, x, y) {
		const {
			context,
			viewport,
			state: {palette},
		} = this;
		const half = context.measureText(text).width / 2 + 4;
		const middle = Math.max(half + 2, Math.min(viewport.width - half - 2, x));
		// Tags stand below each other rather than over each other.
		const covers = (it) =>
			Math.abs(it.y - y) < TAG_HEIGHT && Math.abs(it.middle - middle) < it.half + half;
		for (let k = 0; k < MOST_TAGS && this.tags.some(covers); k++) y += TAG_HEIGHT;
		this.tags.push({middle, half, y});
		context.fillStyle = palette.paper;
		context.fillRect(middle - half, y - 8, half * 2, 16);
		context.strokeRect(middle - half, y - 8, half * 2, 16);
		context.fillStyle = palette.text;
		context.textAlign = "center";
		context.textBaseline = "middle";
		context.fillText(text, middle, y);
	}
}

// The worst class that at least a tenth has.
function typical(links, classes) {
	const counts = new Array(DOWN + 2).fill(0);
	for (const j of links) counts[classes[j] + 1]++;
	let n = 0;
	for (let c = DOWN + 1; c >= 0; c--) {
		n += counts[c];
		if (n * 10 >= links.length) return c - 1;
	}
	return -1;
}
