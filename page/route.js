// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The page's addresses: what is behind the # says which view is shown, of what, and when.
//
//     #/fabric?colour=errors&select=0x0002c90300001234:3&at=2026-01-02T03:04:05
//     #/port/0x0002c90300001234/3
//
// Model: a route is {view, words, options}; options are strings.  Pure, and the inverse of
// each other: parse(format(route)) is the route.  What can't be read becomes the start view.

export const START = "health";

export function parse(hash) {
	const text = hash.replace(/^#?\/?/, "");
	const mark = text.indexOf("?");
	const path = mark < 0 ? text : text.slice(0, mark);
	const words = path.split("/").filter(Boolean).map(decode);
	const options = Object.create(null);
	if (mark >= 0)
		for (const [name, value] of new URLSearchParams(text.slice(mark + 1)))
			options[name] = value;
	return {view: words[0] ?? START, words: words.slice(1), options};
}

function decode(word) {
	try {
		return decodeURIComponent(word);
	} catch {
		return word;
	}
}

export function format({view, words = [], options = {}}) {
	const path = [view, ...words].map((word) => encodeURIComponent(word)).join("/");
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(options))
		if (value !== undefined && value !== null && value !== "")
			query.set(name, value);
	const text = query.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
	return `#/${path}${text ? `?${text}` : ""}`;
}

// Another view at the same moment.
export function sibling(route, view, words = [], options = {}) {
	return format({view, words, options: {...options, at: route.options.at}});
}

// The same view with other options; undefined takes one away.
export function changed(route, options) {
	return format({...route, options: {...route.options, ...options}});
}

// A moment as --at takes it, or null: "2026-01-02T03:04:05", or so long ago.
export function moment(text) {
	return /^(\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?|\d{1,9}[dhms])$/.test(text ?? "")
		? text
		: null;
}

// The address of a command of Triad: its words and options (command/resource.h).
export function resource(words, options = {}) {
	const path = words.map((word) => encodeURIComponent(word)).join("/");
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(options))
		if (value !== undefined && value !== null && value !== false)
			query.set(name, value === true ? "true" : value);
	const text = query.toString();
	return `api/v1/${path}${text ? `?${text}` : ""}`;
}
