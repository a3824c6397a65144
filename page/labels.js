// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What nodes are called where their names are not unique: the name, '#' and the last digits of
// the GUID, as triadctl shows them, and as a node can be named everywhere.

const DIGITS = 6;

// The labels of nodes by their names and GUIDs ("0x..."), as ib/node_label.h makes them.
export function labelsOf(names, guids) {
	const byName = count(names, (name) => name);
	const end = (guid) => guid.slice(2).padStart(16, "0").slice(-DIGITS);
	const both = (name, i) => `${end(guids[i])}${name}`;
	const byBoth = count(names, both);
	return names.map((name, i) => {
		if (name && byName.get(name) === 1) return name;
		return byBoth.get(both(name, i)) === 1
			? `${name}#${end(guids[i])}`
			: `${name}#${guids[i].slice(2).padStart(16, "0")}`;
	});
}

function count(names, key) {
	const counts = new Map();
	names.forEach((name, i) => {
		const it = key(name, i);
		counts.set(it, (counts.get(it) ?? 0) + 1);
	});
	return counts;
}

// Labels that differ from their names, by GUID, of the fabric that was loaded last.
let known = new Map();

export function takeLabels(fabric) {
	known = new Map();
	fabric.guids.forEach((guid, i) => {
		if (fabric.names[i].includes("#")) known.set(guid, fabric.names[i]);
	});
}

// The label of a node that a row names; its name while the fabric is not loaded.
export function labelOf(guid, name) {
	const label = known.get(guid);
	return label?.slice(0, label.lastIndexOf("#")) === name ? label : name;
}

// What of a label tells it apart in so many characters: its end, from "…" on; or its number; or the
// last digits of the GUID.  "": there is no room, or nothing that tells.
export function shortName(name, room) {
	if (name.length <= room) return name;
	const mark = name.lastIndexOf("#");
	if (mark >= 0) return room >= 3 ? name.slice(-Math.min(room, name.length - mark - 1)) : "";
	const number = /(\d+)\D*$/.exec(name)?.[1];
	const tail = `…${name.slice(-Math.max(1, room - 1))}`;
	if (number && room >= 5 && tail.includes(number)) return tail;
	const digits = number?.replace(/^0+(?=\d)/, "");
	return digits && digits.length <= room ? digits : "";
}
