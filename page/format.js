// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// How numbers, times and names are written on the page: as triadctl writes them.
//
// Model: pure functions of values as Triad's JSON has them.  null, undefined and NaN mean
// that Triad does not know; the page says so and never shows 0 in their place.

export const NOT_KNOWN = "not known";

// Characters that control a terminal, have no width or turn the direction of text: Unicode's
// categories Cc, Cf, Zl, Zp, and surrogates without a mate.
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

export function isKnown(value) {
	return value !== null && value !== undefined && !Number.isNaN(value);
}

// A name from the fabric as text that can't disturb what stands around it.
export function visible(name) {
	return String(name).replace(UNSHOWABLE, (character) => {
		const code = character.codePointAt(0).toString(16).padStart(4, "0");
		return `\\u{${code}}`;
	});
}

// A whole number in groups of three digits: 12 345 678.
export function count(value) {
	if (!isKnown(value)) return NOT_KNOWN;
	return String(Math.trunc(value)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

const SCALES = [
	[1e18, "E"],
	[1e15, "P"],
	[1e12, "T"],
	[1e9, "G"],
	[1e6, "M"],
	[1e3, "k"],
];

function scaled(value, unit) {
	for (const [factor, letter] of SCALES)
		if (Math.abs(value) >= factor)
			return `${digits(value / factor)} ${letter}${unit}`;
	return `${digits(value)}${unit ? ` ${unit}` : ""}`;
}

// Three digits that count.
function digits(value) {
	const size = Math.abs(value);
	if (Number.isInteger(value) && size < 1000) return String(value);
	return value.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0);
}

export function bits(perSecond) {
	return isKnown(perSecond) ? scaled(perSecond, "b/s") : NOT_KNOWN;
}

export function octets(value) {
	return isKnown(value) ? scaled(value, "B") : NOT_KNOWN;
}

// 1 decimal under 10 %, none above, as triadctl.
export function percent(value) {
	return isKnown(value) ? `${value.toFixed(value < 10 ? 1 : 0)}\u202f%` : NOT_KNOWN;
}

// Counters of data count words of four octets.
const WORDS = new Set(["PortXmitData", "PortRcvData", "PortMultiCastXmitData"]);

export function isData(counter) {
	return WORDS.has(counter);
}

export function isError(counter) {
	return /Err|Down|Discard|Overrun|Dropped|Integrity/.test(counter);
}

export function counterTotal(counter, value) {
	return isData(counter) && isKnown(value) ? octets(value * 4) : count(value);
}

export function counterRate(counter, perSecond) {
	if (!isKnown(perSecond)) return NOT_KNOWN;
	if (isData(counter)) return bits(perSecond * 32);
	const unit = counter.endsWith("XmitWait") ? " ticks" : "";
	return `${scaled(perSecond, "").trim()}${unit}/s`;
}

// "2026-01-02T03:04:05.678Z" as "2026-01-02 03:04:05"; times are UTC, as in triadctl.
export function time(text) {
	return text ? text.slice(0, 19).replace("T", " ") : NOT_KNOWN;
}

export function timeOfMs(ms) {
	return time(new Date(ms).toISOString());
}

const SPANS = [
	[86400, "d"],
	[3600, "h"],
	[60, "min"],
	[1, "s"],
];

// 75 is "1 min 15 s": two units at most.
export function span(seconds) {
	if (!isKnown(seconds)) return NOT_KNOWN;
	let rest = Math.max(0, Math.round(seconds));
	const first = SPANS.findIndex(([size]) => rest >= size);
	if (first < 0) return "0 s";
	const parts = [];
	for (const [size, unit] of SPANS.slice(first, first + 2)) {
		const n = Math.floor(rest / size);
		if (n) parts.push(`${n} ${unit}`);
		rest -= n * size;
	}
	return parts.join(" ");
}

export function ago(text, nowMs) {
	const ms = Date.parse(text);
	return Number.isNaN(ms) ? NOT_KNOWN : `${span((nowMs - ms) / 1000)} ago`;
}

export function ms(value) {
	return !isKnown(value)
		? NOT_KNOWN
		: value < 10000
			? `${count(value)} ms`
			: span(value / 1000);
}

export function plural(n, one, many = `${one}s`) {
	return `${count(n)} ${n === 1 ? one : many}`;
}

export function yesNo(value) {
	return isKnown(value) ? (value ? "yes" : "no") : NOT_KNOWN;
}

export function place(name, port) {
	return isKnown(port) ? `${visible(name)}:${port}` : visible(name);
}

// Numbers inside of names count as people count: host-2 before host-10.
const collator = new Intl.Collator("en", {numeric: true, sensitivity: "base"});

export function compareNames(a, b) {
	return collator.compare(a, b);
}
