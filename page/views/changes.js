// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'diff' says: what is another between two moments, in lists, and marked in the picture.

import {badge, facts, h, none, section} from "../dom.js";
import {counterTotal, plural, time} from "../format.js";
import {changed, moment, sibling} from "../route.js";
import {table} from "../table.js";
import {missing, nodeLink, placeLink, portLink} from "./parts.js";

const DEFAULT = "1d";
const DAY_MS = 86400000;

export const changes = {
	title: "Changes",

	async load(app, route, signal) {
		const status = await app.whenKnown(signal);
		const from = fromOf(route, status);
		if (!status.images?.first) return {from, answer: null};
		const answer = await app.server.ask(
			["diff", from, ...(app.at ? [app.at] : [])],
			{},
			signal,
		);
		return {from, answer};
	},

	render(app, route, {from, answer}) {
		return [
			h("h1", {}, "What changed"),
			form(app, route, from),
			answer
				? (missing(answer) ?? lists(route, from, answer))
				: none("No past is kept: history.dir of triad.conf would."),
		];
	},
};

// What was chosen; else a day, or as long as the past is kept.
function fromOf(route, status) {
	const chosen = moment(route.options.from);
	const first = status.images?.first;
	if (chosen || !first) return chosen ?? DEFAULT;
	const isShort = Date.now() - Date.parse(first) < DAY_MS;
	return isShort ? new Date(Math.ceil(Date.parse(first) / 1000) * 1000).toISOString().slice(0, 19) : DEFAULT;
}

function form(app, route, from) {
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const text = event.target.elements.from.value.trim();
				document.activeElement.blur();
				app.go(changed(route, {from: moment(text) ? text : undefined}));
			},
		},
		h(
			"label",
			{},
			"From ",
			h("input", {
				name: "from",
				value: from,
				title: "2026-01-02T03:04 in UTC, or 2d, 3h, 90m ago",
				"data-key": "from",
				spellcheck: "false",
				size: 20,
			}),
		),
		h("span", {class: "quiet"}, "to ", app.at ?? "now", ", which the bar above chooses"),
		h("button", {type: "submit", "data-key": "show"}, "Show"),
		app.at &&
			h(
				"a",
				{
					class: "open",
					href: sibling({options: {}}, "changes", [], {from: app.at}),
				},
				"From this moment to now",
			),
	);
}

function lists(route, from, it) {
	const n = it.nodes.length + it.links.length;
	return [
		facts([
			["from", time(it.from)],
			["to", time(it.to)],
			it.from_sm !== it.to_sm && ["this SM was", `${it.from_sm}, then ${it.to_sm}`],
		]),
		n
			? h(
					"p",
					{},
					h(
						"a",
						{
							class: "open",
							href: sibling(route, "fabric", [], {changes: from}),
						},
						"Show in the picture",
					),
				)
			: null,
		section("Nodes", nodes(route, it.nodes)),
		section("Links", links(route, it.links)),
		section(
			"Forwarding tables",
			tables(route, "routes", it.routes, "forward otherwise", [
				it.routes_compared,
				it.routes_not_known,
				"switch",
				"switches",
			]),
		),
		section(
			"QoS tables",
			tables(route, "qos", it.qos, "have other SL2VL or VL arbitration tables", [
				it.qos_compared,
				it.qos_not_known,
				"node",
				"nodes",
			]),
		),
		section("Alerts", alerts(route, it.alerts)),
		section("Counters", counters(route, it)),
		rest("Configuration", it.configuration),
	];
}

// Where one of both moments has no tables, it is not known whether they changed.
function tables(route, key, rows, what, [compared, notKnown, one, many]) {
	return [
		rows.length
			? h(
					"details",
					{"data-key": key},
					h("summary", {}, `${plural(rows.length, one, many)} ${what}`),
					h(
						"ul",
						{class: "columns"},
						rows.map((of) =>
							h("li", {}, nodeLink(route, of.node_guid, of.node_name)),
						),
					),
				)
			: compared
				? none(`None is another, of ${plural(compared, one, many)}.`)
				: null,
		notKnown > 0 &&
			none(
				`Not known of ${plural(notKnown, one, many)}: one of the two times has no tables of theirs.`,
			),
		!compared && !notKnown && none(`There is no ${one} to compare.`),
	];
}

function nodes(route, rows) {
	return table(
		route,
		[
			{name: "what", title: "What", value: (it) => it.what, cell: (it) => badge(severityOf(it.what), it.what)},
			{
				name: "node",
				title: "Node",
				value: (it) => it.node_name,
				cell: (it) => nodeLink(route, it.node_guid, it.node_name),
			},
			{name: "type", title: "Type", value: (it) => it.type},
		],
		rows,
		{id: "nodes", caption: "Nodes that came and went", empty: "None came or went."},
	);
}

function severityOf(what) {
	return /left|gone|down|lost/.test(what) ? "warning" : /came|up|back/.test(what) ? "ok" : "none";
}

function links(route, rows) {
	return table(
		route,
		[
			{name: "what", title: "What", value: (it) => it.what, cell: (it) => badge(severityOf(it.what), it.what)},
			{
				name: "end",
				title: "End",
				value: (it) => it.end,
				cell: (it) => placed(route, it.node_guid, it.end, it.port),
			},
			{
				name: "far_end",
				title: "Far end",
				value: (it) => it.far_end,
				cell: (it) => placed(route, it.far_guid, it.far_end, it.far_port),
			},
			{name: "was", title: "Was", value: (it) => it.was},
			{name: "is", title: "Is", value: (it) => it.is},
		],
		rows,
		{id: "links", caption: "Links that are others", empty: "All links are as they were."},
	);
}

// 'end' has the port in it.
function placed(route, guid, end, port) {
	if (!end) return null;
	const suffix = `:${port}`;
	return guid && end.endsWith(suffix)
		? portLink(route, guid, end.slice(0, -suffix.length), port)
		: placeLink(route, end);
}

function alerts(route, rows) {
	return rows.length
		? h(
				"ul",
				{class: "plain"},
				rows.map((it) =>
					h("li", {}, badge(it.what === "cleared" ? "ok" : "warning", it.what), " ",
						placeLink(route, it.at), " ", it.finding ?? ""),
				),
			)
		: none("The same.");
}

function counters(route, it) {
	if (!it.counters_known)
		return none("Not known: counters began anew between the two, or one of them lacks them.");
	return table(
		route,
		[
			{name: "counter", title: "Counter", value: (of) => of.counter},
			{
				name: "grew",
				title: "Grew by",
				number: true,
				value: (of) => of.grew_by,
				cell: (of) => counterTotal(of.counter, of.grew_by),
			},
			{name: "ports", title: "At ports", number: true, value: (of) => of.ports},
			{
				name: "most",
				title: "Most at",
				value: (of) => of.most_name,
				cell: (of) => [
					portLink(route, of.most_guid, of.most_name, of.most_port),
					` ${counterTotal(of.counter, of.most)}`,
				],
			},
		],
		it.counters,
		{id: "counters", caption: "Counters that grew", empty: "None grew."},
	);
}

// What other releases may name otherwise: each row's members as they are.
function rest(title, rows) {
	if (!rows?.length) return null;
	return section(
		title,
		h(
			"ul",
			{class: "plain"},
			rows.map((it) =>
				h(
					"li",
					{},
					typeof it === "object"
						? Object.entries(it)
								.filter(([name, value]) => value !== null && !name.endsWith("guid"))
								.map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`)
								.join(", ")
						: String(it),
				),
			),
		),
	);
}
