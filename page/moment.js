// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Moments of the past, and where they stand on the slider.  Pure.

// The slider has this many steps from the first image to now.
export const STEPS = 1000;

// Where a moment stands on the slider: recent times have more room, as they are asked for most.
export function stepOf(ageS, oldestS) {
	return Math.round(
		STEPS * (1 - Math.log1p(Math.max(0, ageS)) / Math.log1p(Math.max(1, oldestS))),
	);
}

export function ageOf(step, oldestS) {
	return Math.expm1((1 - step / STEPS) * Math.log1p(Math.max(1, oldestS)));
}

// What --at means, as milliseconds since 1970; null: not understood.
export function msOf(at, nowMs) {
	const ago = /^(\d+)([dhms])$/.exec(at ?? "");
	if (ago) return nowMs - ago[1] * {d: 86400e3, h: 3600e3, m: 60e3, s: 1e3}[ago[2]];
	const ms = Date.parse(/T/.test(at) ? `${at}Z` : `${at}T00:00Z`);
	return Number.isNaN(ms) ? null : ms;
}

// The moment so long ("1h", "1d") before 'at', as --since takes it; undefined: not understood.
export function beforeOf(at, span, nowMs) {
	const ms = msOf(at, nowMs);
	return ms === null ? undefined : new Date(msOf(span, ms)).toISOString().slice(0, 19);
}
