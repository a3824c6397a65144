// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What stands beside the picture: the legend, and what is chosen with its links.

import {facts, h, nameText, none} from "../dom.js";
import {count, isKnown, NOT_KNOWN, percent, time} from "../format.js";
import {DOWN, isDown, METRICS, rateText, STATES, TYPES} from "../model.js";
import {changed, sibling} from "../route.js";
import {isWayLost, partText} from "../words.js";
import {errorCount, nodeLink, portLink} from "./parts.js";

const FEW = 48;

export function legend(metric, {classes, unknown}, classesOfLinks, states) {
	const {bounds, title, unit} = METRICS[metric];
	const counts = new Map();
	for (const c of classesOfLinks) counts.set(c, (counts.get(c) ?? 0) + 1);
	const text = (c) =>
		metric === "state"
			? states[c]
			: c === 0
				? metric === "errors"
					? "none"
					: `< ${bounds[0]}`
				: c === bounds.length
					? `≥ ${short(bounds.at(-1))}`
					: `${short(bounds[c - 1])}–${short(bounds[c])}`;
	const all =
		metric === "state"
			? states.map((_, c) => c)
			: [...bounds.map((_, c) => c), bounds.length];
	return h(
		"ul",
		{"aria-label": `${title}: colours`},
		h(
			"li",
			{class: "title"},
			title,
			unit && h("span", {class: "quiet"}, ` ${unit}`),
		),
		all.map((c) =>
			h(
				"li",
				{},
				swatch(classes[c]),
				text(c),
				h("span", {class: "quiet"}, ` ${count(counts.get(c) ?? 0)}`),
			),
		),
		metric !== "state" &&
			h(
				"li",
				{},
				swatch(classes[DOWN]),
				"down",
				h("span", {class: "quiet"}, ` ${count(counts.get(DOWN) ?? 0)}`),
			),
		metric !== "state" &&
			h(
				"li",
				{},
				swatch(unknown),
				"not known",
				h("span", {class: "quiet"}, ` ${count(counts.get(-1) ?? 0)}`),
			),
	);
}

function short(n) {
	return n >= 1000 ? `${n / 1000}k` : String(n);
}

function swatch(colour) {
	const it = h("span", {class: "swatch", "aria-hidden": "true"});
	it.style.backgroundColor = colour;
	return it;
}

export function panel(app, route, fabric, lists, i, port, problem) {
	const trail =
		route.options.path &&
		h(
			"p",
			{class: "trail"},
			problem ? `${isWayLost(problem) ? partText(problem) : problem.message} ` : "The way of packets is marked. ",
			h("a", {href: changed(route, {path: undefined})}, "Forget it"),
		);
	if (i < 0)
		return h(
			"div",
			{},
			trail,
			route.options.select
				? none("What was chosen is not in the fabric at this moment.")
				: none(
						"Choose a node or a link in the picture, or find one above.",
					),
		);
	const near = port ? lists[i].find((it) => it.port === Number(port)) : null;
	return h(
		"div",
		{},
		trail,
		near ? linkPanel(route, fabric, i, near) : nodePanel(route, fabric, lists, i),
	);
}

function nodePanel(route, fabric, lists, i) {
	const guid = fabric.guids[i];
	const list = lists[i];
	return h(
		"div",
		{},
		h("h2", {}, nameText(fabric.names[i])),
		facts([
			["type", TYPES[fabric.types[i]]],
			["GUID", h("code", {}, guid)],
			["LID", count(fabric.lids[i])],
			[
				"ports up",
				`${count(fabric.portsUp[i])} of ${count(fabric.ports[i])}`,
			],
			["counters", fabric.states[i]],
		]),
		h(
			"p",
			{},
			h(
				"a",
				{class: "open", href: sibling(route, "node", [guid])},
				"Open the node",
			),
		),
		h(
			"table",
			{class: "small"},
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					["Port", "Far end", "Out", "In", "Errors"].map(
						(it, k) =>
							h(
								"th",
								{
									scope: "col",
									class:
										k > 1
											? "number"
											: k
												? null
												: "number",
								},
								it,
							),
					),
				),
			),
			h(
				"tbody",
				{},
				list.slice(0, FEW).map((it) => row(route, fabric, i, it)),
			),
		),
		list.length > FEW &&
			h(
				"p",
				{class: "more"},
				`${count(list.length - FEW)} more: open the node`,
			),
	);
}

function share(value) {
	return Number.isNaN(value) ? "–" : percent(value);
}

function row(route, fabric, i, it) {
	const isA = fabric.a[it.link] === i && fabric.aPort[it.link] === it.port;
	const [out, back] = isA ? [fabric.aUse, fabric.bUse] : [fabric.bUse, fabric.aUse];
	const errors = fabric.errors[it.link];
	return h(
		"tr",
		{class: fabric.state[it.link] > 2 ? "is-down" : null},
		h(
			"td",
			{class: "number"},
			h(
				"a",
				{
					href: changed(route, {
						select: `${fabric.guids[i]}:${it.port}`,
					}),
				},
				it.port,
			),
		),
		h(
			"td",
			{},
			h(
				"a",
				{href: changed(route, {select: fabric.guids[it.far]})},
				nameText(fabric.names[it.far]),
			),
			`:${it.farPort}`,
		),
		h("td", {class: "number"}, share(out[it.link])),
		h("td", {class: "number"}, share(back[it.link])),
		h("td", {class: "number"}, errorCount(errors) || "–"),
	);
}

function linkPanel(route, fabric, i, it) {
	const j = it.link;
	const isA = fabric.a[j] === i && fabric.aPort[j] === it.port;
	const [out, back] = isA ? [fabric.aUse, fabric.bUse] : [fabric.bUse, fabric.aUse];
	return h(
		"div",
		{},
		h("h2", {}, "Link"),
		facts([
			["end", portLink(route, fabric.guids[i], fabric.names[i], it.port)],
			[
				"far end",
				portLink(
					route,
					fabric.guids[it.far],
					fabric.names[it.far],
					it.farPort,
				),
			],
			["state", STATES[fabric.state[j]]],
			isDown(STATES[fabric.state[j]]) && ["since", time(fabric.lastDowns[j])],
			["rate", rateText(STATES[fabric.state[j]], fabric.rates[j])],
			["out", percent(out[j])],
			["in", percent(back[j])],
			[
				"waiting",
				`${isKnown(fabric.wait[j]) && fabric.waitLeast[j] ? "≥ " : ""}${percent(fabric.wait[j])}`,
			],
			["errors", errorCount(fabric.errors[j]) || NOT_KNOWN],
			["downs", count(fabric.downs[j])],
		]),
		h(
			"p",
			{},
			nodeLink(route, fabric.guids[i], fabric.names[i]),
			" – ",
			nodeLink(route, fabric.guids[it.far], fabric.names[it.far]),
		),
	);
}
