// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// A curve of how fast counters grew, by uPlot.  uPlot sets styles through the object model
// alone, as the Content-Security-Policy allows.

import {h} from "./dom.js";
import {counterRate, timeOfMs} from "./format.js";
import {colours} from "./theme.js";
import uPlot from "./vendor/uplot.js";

const HEIGHT = 180;

// 09:35; where a day begins, the day; seconds where ticks are less than a minute apart.
function tickText(seconds, k, ticks) {
	const text = timeOfMs(seconds * 1000);
	if (text.endsWith("00:00:00") || (k === 0 && seconds - ticks.at(-1) < -86400))
		return text.slice(5, 10);
	return ticks.length > 1 && ticks[1] - ticks[0] < 60
		? text.slice(11)
		: text.slice(11, 16);
}

// 'series': [{label, counter, points}], each of the points of 'perf history'.
export function chart(series, note) {
	const host = h("div", {class: "chart", role: "img", "aria-label": note});
	const [text, grid, ...lines] = colours("quiet", "line", "curve", "curve-2");
	const times = [
		...new Set(
			series.flatMap((it) =>
				it.points.map((point) => Date.parse(point.time) / 1000),
			),
		),
	].sort((a, b) => a - b);
	const column = (points) => {
		const at = new Map(
			points.map((it) => [Date.parse(it.time) / 1000, it.per_second]),
		);
		return times.map((it) => at.get(it) ?? null);
	};
	const axis = {
		stroke: text,
		grid: {stroke: grid, width: 1},
		ticks: {stroke: grid, width: 1},
		font: "11px system-ui",
	};
	const plot = new uPlot(
		{
			width: 640,
			height: HEIGHT,
			tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
			legend: {show: true, live: true},
			cursor: {drag: {x: true, y: false}},
			axes: [
				{...axis, space: 80, values: (_, ticks) => ticks.map(tickText)},
				{
					...axis,
					size: 90,
					values: (_, ticks) =>
						ticks.map((it) =>
							counterRate(series[0].counter, it),
						),
				},
			],
			series: [
				{
					label: "UTC",
					value: (_, it) =>
						it === null || it === undefined
							? ""
							: timeOfMs(it * 1000),
				},
				...series.map((it, k) => ({
					label: it.label,
					stroke: lines[k % lines.length],
					width: 1.5,
					dash: k ? [6, 3] : undefined,
					points: {show: it.points.length < 80, size: 4},
					value: (_, rate) =>
						rate === null || rate === undefined
							? "–"
							: counterRate(it.counter, rate),
				})),
			],
			scales: {
				y: {range: (_, least, most) => [0, most > 0 ? most * 1.05 : 1]},
			},
		},
		[times, ...series.map((it) => column(it.points))],
		host,
	);
	new ResizeObserver(
		() =>
			host.clientWidth &&
			plot.setSize({width: host.clientWidth, height: HEIGHT}),
	).observe(host);
	return host;
}
