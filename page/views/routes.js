// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'routes' and 'routes check' say: how evenly pairs of hosts lie on the links, and what is
// wrong with the forwarding tables; and who crosses one link ('routes over').

import {badge, facts, h, none, section} from "../dom.js";
import {count, isKnown, plural, time, visible, yesNo} from "../format.js";
import {changed, sibling} from "../route.js";
import {table} from "../table.js";
import {levelName, NOT_IN_ROLE} from "../words.js";
import {bar, fromToColumns, isPlugin, missing, portLink} from "./parts.js";

const N_PAIRS = 100;

export const routes = {
	title: "Routes",

	isMissing: (status) => !isPlugin(status),

	async load(app, route, signal) {
		if (!isPlugin(await app.whenKnown(signal))) return null;
		const {at} = app;
		const {over} = route.options;
		const [spread, check, pairs] = await Promise.all([
			app.server.ask(["routes"], {at}, signal),
			app.server.ask(["routes", "check"], {at}, signal),
			over
				? app.server.ask(["routes", "over", over], {limit: N_PAIRS, at}, signal)
				: null,
		]);
		return {spread, check, pairs};
	},

	render(app, route, answers) {
		if (!answers) return [h("h1", {}, "Routes"), none(NOT_IN_ROLE)];
		const {spread, check, pairs} = answers;
		return [
			h("h1", {}, "Routes"),
			between(app, route),
			over(app, route, pairs),
			section("Whether they are sound", missing(check) ?? verdict(check)),
			section("How pairs of hosts lie on links", missing(spread) ?? spreading(route, spread)),
		];
	},
};

function between(app, route) {
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const {src, dst} = event.target.elements;
				app.go(
					sibling(route, "path", [], {
						src: src.value.trim(),
						dst: dst.value.trim(),
					}),
				);
			},
		},
		["src", "dst"].map((name) =>
			h(
				"label",
				{},
				name === "src" ? "The way from " : "to ",
				h("input", {name, required: true, size: 20, "data-key": name, spellcheck: "false"}),
			),
		),
		h("button", {type: "submit", "data-key": "go"}, "Show"),
	);
}

// [member of the answer, what it counts, whether it was looked at].
const FAULTS = [
	["credit_loops", "credit loops", (it) => it.credit_loops_checked],
	["unreachable_pairs", "pairs that don't reach each other"],
	["forwarding_loops", "LIDs that go in a circle"],
	["dead_port_entries", "LIDs that are sent to dead ports"],
	["unreachable_switches", "switches out of the SM's reach"],
	["down_up_turns", "turns from down to up", (it) => it.down_up_turns_checked],
	["multicast_loops", "multicast trees that loop", (it) => it.multicast_all_checked],
];

function verdict(it) {
	return [
		h(
			"p",
			{},
			badge(it.clean ? "ok" : "critical", it.clean ? "sound" : "not sound"),
			` by the tables of ${it.engine ?? "an engine that is not known"}, for ${count(it.pairs)} pairs.`,
		),
		facts(
			FAULTS.map(([name, title, isChecked]) => [
				title,
				isChecked && !isChecked(it)
					? name === "multicast_loops" && it[name]
						? `at least ${count(it[name])}`
						: "not all looked at"
					: h("span", {class: it[name] ? "bad" : ""}, count(it[name])),
			]).concat([["pairs on a longer path than the shortest", count(it.longer_paths)]]),
		),
		it.credit_loops_not_checked_because &&
			h("p", {class: "quiet"}, `Credit loops: ${it.credit_loops_not_checked_because}.`),
		evidence(it.evidence),
	];
}

// Examples of each kind, as sentences of their members.
function evidence(all) {
	const kinds = Object.entries(all ?? {}).filter(([, rows]) => rows.length);
	if (!kinds.length) return null;
	return h(
		"details",
		{"data-key": "evidence"},
		h("summary", {}, "Examples"),
		kinds.map(([name, rows]) => [
			h("h3", {}, name.replaceAll("_", " ")),
			h(
				"ul",
				{},
				rows.map((it) => h("li", {}, h("code", {}, sentence(it)))),
			),
		]),
	);
}

function sentence(it) {
	if (typeof it !== "object" || it === null) return String(it);
	return Object.entries(it)
		.filter(([name, value]) => isKnown(value) && !name.endsWith("guid"))
		.map(([name, value]) =>
			Array.isArray(value)
				? `${name.replaceAll("_", " ")}: ${value.map(sentence).join(" → ")}`
				: `${name.replaceAll("_", " ")} ${value}`,
		)
		.join(", ");
}

function spreading(route, it) {
	const columns = [
		{
			name: "from",
			title: "From",
			value: (tier) => tier.from,
			cell: (tier) => levelName(tier.from),
		},
		{name: "to", title: "To", value: (tier) => tier.to, cell: (tier) => levelName(tier.to)},
		{name: "links", title: "Links", number: true, value: (tier) => tier.links},
		{
			name: "pairs",
			title: "Pairs",
			number: true,
			value: (tier) => tier.pairs,
			cell: (tier) => count(tier.pairs),
		},
		{
			name: "mean",
			title: "Of a link",
			number: true,
			value: (tier) => tier.mean,
			cell: (tier) => count(Math.round(tier.mean)),
		},
		{
			name: "most",
			title: "Most",
			number: true,
			value: (tier) => tier.most,
			cell: (tier) => count(tier.most),
		},
		{
			name: "imbalance",
			title: "Imbalance",
			number: true,
			value: (tier) => tier.imbalance,
			cell: (tier) => isKnown(tier.imbalance) && tier.imbalance.toFixed(2),
		},
		{name: "unused", title: "Unused", number: true, value: (tier) => tier.unused},
		{
			name: "worst",
			title: "The most at",
			value: (tier) => tier.worst_node_name,
			cell: (tier) =>
				tier.worst_node_name &&
				portLink(route, tier.worst_node_guid, tier.worst_node_name, tier.worst_port),
		},
	];
	return [
		h(
			"p",
			{class: "quiet"},
			`${count(it.arriving_pairs)} of ${plural(it.pairs, "pair")} arrive, over ` +
				`${isKnown(it.mean_links) ? it.mean_links.toFixed(2) : "?"} links on average; ` +
				`a tree: ${yesNo(it.tree)}; checked ${time(it.checked)}.`,
		),
		table(route, columns, it.tiers, {id: "tiers", caption: "Tiers", empty: "No tier."}),
		it.worst_links?.length
			? [
					h("h3", {}, "Links with the most pairs"),
					table(route, worstColumns(route), it.worst_links, {
						id: "worst",
						caption: "Links with the most pairs",
					}),
				]
			: null,
	];
}

function worstColumns(route) {
	return [
		...fromToColumns(route),
		{
			name: "pairs",
			title: "Pairs",
			number: true,
			value: (it) => it.pairs,
			cell: (it) => count(it.pairs),
		},
		{
			name: "of_mean",
			title: "Of the mean",
			number: true,
			value: (it) => it.of_mean,
			cell: (it) => isKnown(it.of_mean) && it.of_mean.toFixed(2),
		},
		{
			name: "use",
			title: "Use",
			number: true,
			value: (it) => it.use_percent,
			cell: (it) => bar(it.use_percent),
		},
		{
			name: "who",
			title: "Who",
			cell: (it) =>
				h(
					"a",
					{
						href: changed(route, {over: `${it.node_guid}:${it.port}`}),
						"data-key": `over ${it.node_guid}:${it.port}`,
						// They stand on top, where the list of links does not move them.
						onclick: () => scrollTo(0, 0),
					},
					"pairs",
				),
		},
	];
}

function over(app, route, it) {
	if (!it) return null;
	const close = h("a", {href: changed(route, {over: undefined}), "data-key": "close"}, "Close");
	// Why there are none names the port, which is a GUID here.
	if (missing(it)) return section("Pairs over a link", missing(it), close);
	const n = it.pairs.length;
	return section(
		`Pairs over ${visible(it.from)} – ${visible(it.to)}`,
		h(
			"p",
			{class: "quiet"},
			n < it.n_pairs ? `The first ${count(n)} of ${count(it.n_pairs)}. ` : `${plural(n, "pair")}. `,
			close,
		),
		n
			? h("ul", {class: "columns"}, it.pairs.map((pair) => h("li", {}, ends(route, pair))))
			: none("None crosses it."),
	);
}

function ends(route, it) {
	return [
		portLink(route, it.source_node_guid, it.source_node_name, it.source_port),
		" → ",
		portLink(
			route,
			it.destination_node_guid,
			it.destination_node_name,
			it.destination_port,
		),
	];
}
