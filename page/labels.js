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

// The label of a node that a row names; its name while the fabric is not loaded, and its GUID where
// the row knows no name.
export function labelOf(guid, name) {
	const label = known.get(guid);
	return label?.slice(0, label.lastIndexOf("#")) === name ? label : (name ?? guid);
}

// What a name has beside what all of its kind have: "MF0;sw-07:MQM8700/U1" and
// "MF0;sw-07:CS8500/L16/U2", as managed switches call themselves, are sw-07 and sw-07/L16/U2; of a
// host it is the first word, which is the host's name.
export function coreName(name) {
	const managed = /^MF0;(.+):[^:/]+((?:\/[^/]+)*?)(?:\/U1)?$/.exec(name);
	return managed ? managed[1] + managed[2] : name.replace(/ .*$/, "");
}

// What of a label tells it apart in so many characters: its core, or the end of that, from "…" on;
// where names are not unique, '#' and the last digits of the GUID.  "": there is no room, or nothing
// that tells.
export function shortName(name, room) {
	if (name.length <= room) return name;
	const mark = name.lastIndexOf("#");
	const text = mark >= 0 ? name.slice(mark) : coreName(name);
	if (text.length <= room) return text;
	if (room < 3) return "";
	if (mark >= 0) return `…${name.slice(1 - room)}`;
	const tail = `…${text.slice(1 - room)}`;
	// Of a chip the board, too.
	const chip = /[^/]+\/U\d+$/.exec(text)?.[0];
	if (chip) return tail.includes(chip) ? tail : "";
	const number = /(\d+)\D*$/.exec(text)?.[1];
	if (number && tail.includes(number)) return tail;
	const digits = number?.replace(/^0+(?=\d)/, "");
	return digits && digits.length < room ? `…${digits}` : "";
}
