// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Where the lines of a chart's grid stand, and what its axis of time says.
//
// Model: pure functions of numbers.  Times are seconds since 1970, UTC.

import {timeOfMs} from "./format.js";

const DAY = 86400;
const STEPS = [
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, DAY,
	2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 364 * DAY,
];

function multiples(step, from, to) {
	const ticks = [];
	for (let k = Math.ceil(from / step); k * step <= to; k++) ticks.push(k * step);
	return ticks;
}

// From 0 to 'most', which is more than 0, 'n' lines at most besides 0: steps of 1, 2, 5 of a
// power of ten.
export function valueTicks(most, n) {
	const power = 10 ** Math.floor(Math.log10(most / n));
	const step = [1, 2, 5, 10].map((it) => it * power).find((it) => most / it <= n);
	return multiples(step, 0, most);
}

// Whole minutes, hours, days between two times, 'n' at most.
export function timeTicks(from, to, n) {
	const step = STEPS.find((it) => (to - from) / it <= n - 1) ?? STEPS.at(-1);
	return multiples(step, from, to);
}

// 09:35; where a day begins, and for days, the day; seconds where lines are closer than a minute.
export function tickText(seconds, step) {
	const text = timeOfMs(seconds * 1000);
	if (step >= DAY || text.endsWith("00:00:00")) return text.slice(5, 10);
	return step < 60 ? text.slice(11) : text.slice(11, 16);
}
