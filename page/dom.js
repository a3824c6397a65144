// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Elements made by calls.  Text becomes text nodes alone, so that no name from the fabric is
// ever read as HTML; attributes are of a fixed list, without styles and without handlers.

import {visible} from "./format.js";

const ATTRIBUTES = new Set([
	"id",
	"class",
	"href",
	"type",
	"value",
	"name",
	"for",
	"title",
	"role",
	"scope",
	"colspan",
	"hidden",
	"disabled",
	"checked",
	"selected",
	"placeholder",
	"open",
	"tabindex",
	"min",
	"max",
	"step",
	"list",
	"autocomplete",
	"spellcheck",
	"rel",
	"width",
	"height",
	"inputmode",
	"required",
	"datetime",
	"size",
]);

export function h(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (ATTRIBUTES.has(name) || /^(aria|data)-[a-z-]+$/.test(name))
			setAttribute(element, name, value);
		else throw new Error(`no attribute ${name} here`);
	}
	element.append(
		...children
			.flat(9)
			.filter((it) => it !== null && it !== undefined && it !== false),
	);
	return element;
}

function setAttribute(element, name, value) {
	const text = value === true ? "" : String(value);
	// Addresses are the page's own, whatever stands in a name.
	if (name === "href" && !text.startsWith("#"))
		throw new Error(`no address of the page: ${text}`);
	element.setAttribute(name, text);
}

// A name from the fabric: text of its own direction; where there is little room, its parts stand
// below each other.
export function nameText(name, attributes = {}) {
	const parts = visible(name).split(/(?<=[;/])|(?=[#:])/);
	return h(
		"bdi",
		{class: "name", ...attributes},
		parts.map((it, k) => [k ? h("wbr") : null, it]),
	);
}

export function section(title, ...children) {
	return h("section", {}, h("h2", {}, title), ...children);
}

// [[title, value]] as a list of terms; values are text or elements.
export function facts(rows) {
	return h(
		"dl",
		{class: "facts"},
		rows
			.filter(Boolean)
			.map(([title, value]) =>
				h("div", {}, h("dt", {}, title), h("dd", {}, value)),
			),
	);
}

export function none(text) {
	return h("p", {class: "none"}, text);
}

export function badge(severity, text = severity) {
	return h("span", {class: "badge", "data-severity": severity}, text);
}

// Puts 'element' into 'host' in the place of what is there; what had the focus, and what was
// unfolded, has it again.
export function put(host, element) {
	const active = host.contains(document.activeElement)
		? document.activeElement.dataset.key
		: null;
	const open = new Set(
		[...host.querySelectorAll("details[open][data-key]")].map(
			(it) => it.dataset.key,
		),
	);
	const scrolled = [...host.querySelectorAll(".scroll")].map((it) => it.scrollLeft);
	host.replaceChildren(element);
	for (const it of host.querySelectorAll("details[data-key]"))
		if (open.has(it.dataset.key)) it.open = true;
	host.querySelectorAll(".scroll").forEach((it, i) => (it.scrollLeft = scrolled[i] ?? 0));
	if (active)
		[...host.querySelectorAll("[data-key]")]
			.find((it) => it.dataset.key === active)
			?.focus({preventScroll: true});
}
