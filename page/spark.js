// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Small curves of an hour or a day, beside numbers: drawn when they come into sight, asked for two at a
// time, kept for a minute.

import {h} from "./dom.js";
import {counterRate, NOT_KNOWN} from "./format.js";
import {beforeOf} from "./moment.js";
import {colour} from "./theme.js";

const WIDTH = 140,
	HEIGHT = 22;
const KEEP_MS = 60000,
	MOST = 400,
	AT_ONCE = 2;

const kept = new Map(); // {ms, promise} by what was asked
const waiting = [];
let nAsked = 0;

function next() {
	if (nAsked >= AT_ONCE || !waiting.length) return;
	nAsked++;
	const {run, resolve} = waiting.shift();
	run()
		.then(resolve)
		.finally(() => {
			nAsked--;
			next();
		});
}

// The answer, or a Problem: of the past, which costs Triad something to read.
export function askKept(app, words, options) {
	const key = JSON.stringify([words, options]);
	const old = kept.get(key);
	if (old && performance.now() - old.ms < KEEP_MS) return old.promise;
	const promise = new Promise((resolve) =>
		waiting.push({resolve, run: () => app.server.ask(words, options)}),
	);
	kept.delete(key);
	kept.set(key, {ms: performance.now(), promise});
	if (kept.size > MOST) kept.delete(kept.keys().next().value);
	next();
	return promise;
}

function pointsOf(app, guid, port, counter, since) {
	return askKept(app, ["perf", "history", `${guid}:${port}`, counter], {
		since: app.at ? beforeOf(app.at, since, Date.now()) : since,
		at: app.at,
	});
}

// Calls run() once, when the element comes into sight.
function whenSeen(element, run) {
	const observer = new IntersectionObserver(([entry]) => {
		if (!entry.isIntersecting) return;
		observer.disconnect();
		run();
	});
	observer.observe(element);
}

// What fill(answer) makes of the past of a port's counter, once it is in sight.
export function fromPast(app, guid, port, counter, since, fill) {
	const host = h("span", {class: "quiet", title: "asking for the past"}, "…");
	whenSeen(host, async () => {
		host.replaceChildren(fill(await pointsOf(app, guid, port, counter, since)));
		host.title = "";
	});
	return host;
}

export function sparkline(app, guid, port, counter, since = "1h") {
	if (!app.status?.images?.first) return h("span", {class: "unknown"}, "not kept");
	return fromPast(app, guid, port, counter, since, (answer) =>
		answer.points?.some((it) => it.per_second !== null)
			? draw(answer.points, counter)
			: h("span", {class: "unknown", title: answer.message ?? ""}, NOT_KNOWN),
	);
}

function draw(points, counter) {
	const canvas = h("canvas", {
		class: "sparkline",
		width: WIDTH * devicePixelRatio,
		height: HEIGHT * devicePixelRatio,
		role: "img",
	});
	const context = canvas.getContext("2d");
	context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
	const values = points.map((it) => it.per_second);
	const most = Math.max(...values.filter((it) => it !== null));
	const begin = Date.parse(points[0].time),
		length = Math.max(1, Date.parse(points.at(-1).time) - begin);
	context.strokeStyle = colour("curve");
	context.lineWidth = 1.3;
	context.beginPath();
	let isDown = false; // the pen
	points.forEach((it, i) => {
		if (values[i] === null) {
			isDown = false;
			return;
		}
		const x = 1 + ((Date.parse(it.time) - begin) / length) * (WIDTH - 2);
		const y = HEIGHT - 2 - (most ? values[i] / most : 0) * (HEIGHT - 4);
		// One between others that are not known is a dash.
		if (!isDown) context.moveTo(x - 1, y);
		context.lineTo(x, y);
		isDown = true;
	});
	context.stroke();
	const text = `the most was ${counterRate(counter, most)}`;
	canvas.setAttribute("aria-label", text);
	canvas.title = text;
	return canvas;
}
