// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Nodes grouped by what their names begin with: racks, islands, kinds of switches.  Pure.

import {compareNames} from "./format.js";
import {coreName} from "./labels.js";

// What the names of a group have in common: the core of a name (labels.js) without the number at
// its end: "rack3-node12 HCA-1" is of "rack3-node".  A name that is a number alone is its own.
export function groupOf(name) {
	const core = coreName(name);
	return core.replace(/#[0-9a-f]+$|\/U\d+$/, "").replace(/\d+$/, "") || core;
}

// [{group, rows}], in the order of their names; 'nameOf' gives a row's.
export function grouped(rows, nameOf) {
	const groups = new Map();
	for (const row of rows) {
		const group = groupOf(nameOf(row) ?? "");
		if (!groups.has(group)) groups.set(group, []);
		groups.get(group).push(row);
	}
	return [...groups]
		.map(([group, of]) => ({group, rows: of}))
		.sort((a, b) => compareNames(a.group, b.group));
}

// [{value, rows}] of what valueOf() gives for the rows, the most frequent first.
export function valuesOf(rows, valueOf) {
	const values = new Map();
	for (const row of rows) {
		const value = valueOf(row);
		if (!values.has(value)) values.set(value, []);
		values.get(value).push(row);
	}
	return [...values]
		.map(([value, of]) => ({value, rows: of}))
		.sort((a, b) => b.rows.length - a.rows.length);
}
