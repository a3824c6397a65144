// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Curves of how fast counters grew, on a canvas.  What is not known is a gap.  The pointer, or the
// arrow keys, choose a moment whose values stand below; a stretch that is dragged over is shown
// alone, until Escape or a double click.

import {tickText, timeTicks, valueTicks} from "./axis.js";
import {h} from "./dom.js";
import {counterRate, timeOfMs} from "./format.js";
import {colours} from "./theme.js";

const HEIGHT = 180,
	LEFT = 90,
	RIGHT = 8,
	TOP = 8,
	BOTTOM = 22;
const DASHES = [[], [6, 3]];
// Fewer points are drawn as such, too; a drag is at least so wide.
const FEW = 80,
	DRAG = 5;

// 'series': [{label, counter, points}], each of the points of 'perf history'.
export function chart(series, note) {
	return new Chart(series, note).host;
}

class Chart {
	#series;
	#times; // seconds, of all points
	#from;
	#to;
	#chosen = -1; // an index of #times
	#dragged = null; // where a drag began, in the canvas
	#width = 640;
	#canvas;
	#values;

	constructor(series, note) {
		this.#series = series.map(({label, counter, points}) => ({
			label,
			counter,
			at: new Map(
				points.map((it) => [Date.parse(it.time) / 1000, it.per_second]),
			),
		}));
		this.#times = [...new Set(this.#series.flatMap((it) => [...it.at.keys()]))].sort(
			(a, b) => a - b,
		);
		this.#showAll();
		this.#canvas = h("canvas", {
			role: "img",
			tabindex: 0,
			"aria-label": `${note}; arrow keys choose a moment`,
			onpointermove: (event) => this.#move(event),
			onpointerdown: (event) => (this.#dragged = event.offsetX),
			onpointerup: (event) => this.#drop(event),
			onpointerleave: () => this.#choose(-1),
			ondblclick: () => this.#all(),
			onkeydown: (event) => this.#press(event),
		});
		this.#values = h("p", {class: "chart-values", role: "status"});
		this.host = h("div", {class: "chart"}, this.#canvas, this.#values);
		new ResizeObserver(() => {
			if (!this.host.clientWidth) return;
			this.#width = this.host.clientWidth;
			this.#draw();
		}).observe(this.host);
		this.#choose(-1);
	}

	#showAll() {
		this.#from = this.#times[0];
		this.#to = Math.max(this.#times.at(-1), this.#from + 1);
	}

	#all() {
		this.#showAll();
		this.#draw();
	}

	get #shown() {
		return this.#times.filter((it) => it >= this.#from && it <= this.#to);
	}

	#x(time) {
		return (
			LEFT +
			((time - this.#from) / (this.#to - this.#from)) *
				(this.#width - LEFT - RIGHT)
		);
	}

	#timeAt(x) {
		const share = (x - LEFT) / (this.#width - LEFT - RIGHT);
		return this.#from + share * (this.#to - this.#from);
	}

	// --- the pointer and keys ---

	#move({offsetX}) {
		const time = this.#timeAt(offsetX);
		const nearest = this.#shown.reduce(
			(best, it) => (Math.abs(it - time) < Math.abs(best - time) ? it : best),
			Infinity,
		);
		this.#choose(this.#times.indexOf(nearest));
	}

	#drop({offsetX}) {
		const [from, to] = [this.#dragged ?? offsetX, offsetX].sort((a, b) => a - b);
		this.#dragged = null;
		if (to - from < DRAG) return;
		this.#from = this.#timeAt(Math.max(from, LEFT));
		this.#to = this.#timeAt(Math.min(to, this.#width - RIGHT));
		this.#draw();
	}

	#press(event) {
		const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
		if (event.key === "Escape") this.#all();
		else if (step) {
			const old = this.#chosen < 0 && step < 0 ? this.#times.length : this.#chosen;
			const last = this.#times.length - 1;
			this.#choose(Math.min(Math.max(old + step, 0), last));
		} else return;
		event.preventDefault();
	}

	#choose(chosen) {
		this.#chosen = chosen;
		const time = this.#times[chosen];
		const isChosen = time !== undefined;
		this.#values.replaceChildren(
			...this.#series.map(({label, counter, at}, k) =>
				h(
					"span",
					{},
					h("i", {class: k ? "second" : "first"}),
					isChosen ? `${label} ${counterRate(counter, at.get(time))}` : label,
				),
			),
			isChosen ? `${timeOfMs(time * 1000)} UTC` : "",
		);
		this.#draw();
	}

	// --- drawing ---

	#draw() {
		const context = this.#canvas.getContext("2d");
		this.#canvas.width = this.#width * devicePixelRatio;
		this.#canvas.height = HEIGHT * devicePixelRatio;
		context.scale(devicePixelRatio, devicePixelRatio);
		const [text, grid, ...lines] = colours("quiet", "line", "curve", "curve-2");
		const most = Math.max(
			0,
			...this.#shown.flatMap((time) =>
				this.#series.map((it) => it.at.get(time) ?? 0),
			),
		);
		const top = most > 0 ? most * 1.05 : 1;
		const y = (value) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
		Object.assign(context, {font: "11px system-ui", fillStyle: text, lineWidth: 1});
		this.#drawAxes(context, grid, top, y);
		context.save();
		context.beginPath();
		context.rect(LEFT, 0, this.#width - LEFT, HEIGHT);
		context.clip();
		this.#series.forEach((it, k) => {
			context.strokeStyle = context.fillStyle = lines[k % lines.length];
			context.setLineDash(DASHES[k % DASHES.length]);
			this.#drawCurve(context, it.at, y);
		});
		context.restore();
		if (this.#chosen >= 0) {
			context.strokeStyle = text;
			drawLine(context, this.#x(this.#times[this.#chosen]), TOP, null, HEIGHT - BOTTOM);
		}
	}

	#drawAxes(context, grid, top, y) {
		const times = timeTicks(this.#from, this.#to, Math.max(2, this.#width / 80));
		const step = times.length > 1 ? times[1] - times[0] : 1;
		context.strokeStyle = grid;
		context.textAlign = "right";
		context.textBaseline = "middle";
		for (const value of valueTicks(top, 4)) {
			drawLine(context, LEFT, y(value), this.#width - RIGHT, null);
			context.fillText(
				counterRate(this.#series[0].counter, value),
				LEFT - 6,
				y(value),
			);
		}
		context.textAlign = "center";
		for (const time of times) {
			drawLine(context, this.#x(time), TOP, null, HEIGHT - BOTTOM);
			context.fillText(tickText(time, step), this.#x(time), HEIGHT - BOTTOM / 2);
		}
	}

	#drawCurve(context, at, y) {
		let isDown = false; // the pen
		context.lineWidth = 1.5;
		context.beginPath();
		for (const [time, value] of at) {
			if (value === null) {
				isDown = false;
				continue;
			}
			context[isDown ? "lineTo" : "moveTo"](this.#x(time), y(value));
			isDown = true;
		}
		context.stroke();
		if (this.#shown.length < FEW)
			for (const [time, value] of at)
				if (value !== null)
					context.fillRect(this.#x(time) - 2, y(value) - 2, 4, 4);
	}
}

// To 'right' or, with null, to 'bottom'.
function drawLine(context, x, y, right, bottom) {
	context.beginPath();
	context.moveTo(x, y);
	context.lineTo(right ?? x, bottom ?? y);
	context.stroke();
}
