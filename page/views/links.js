// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'links' says: each cable once, the worst on top, and what 'heal' does with bad ones; the
// traffic of the fabric by tier, and the busiest and the worst ports with curves.

import {h, none, section} from "../dom.js";
import {count, counterRate, NOT_KNOWN, plural, time} from "../format.js";
import {changed} from "../route.js";
import {alertsSince, isDown, unreadLinks} from "../model.js";
import {sparkline} from "../spark.js";
import {table} from "../table.js";
import {noneBadText} from "../words.js";
import {loadRoots, rootsSection} from "./congestion.js";
import {healColumns} from "./guards.js";
import {column, isPlugin, linkColumns, missing, options, portLink} from "./parts.js";
import {loadTiers, tiersSection} from "./traffic.js";

const PAGE = 500,
	MOST = 10000;
const FILTERS = [
	["down", "Down"],
	["slow", "Slow"],
	["errors", "With errors"],
	["flapped", "Flapped"],
	["held", "Held"],
];
const BY = [
	["", "worst first"],
	["PortXmitData", "PortXmitData"],
	["PortXmitWait", "PortXmitWait"],
	["SymbolErrorCounter", "SymbolErrorCounter"],
	["PortRcvErrors", "PortRcvErrors"],
	["PortXmitDiscards", "PortXmitDiscards"],
	["LinkDownedCounter", "LinkDownedCounter"],
];

export const links = {
	title: "Links",

	async load(app, route, signal) {
		const {node, by, limit = PAGE} = route.options;
		const filters = Object.fromEntries(
			FILTERS.map(([name]) => [name, route.options[name] === "1"]),
		);
		const rows = await app.server.get(
			["links"],
			{
				...filters,
				node: node || undefined,
				by: by || undefined,
				limit,
				brief: true,
				at: app.at,
			},
			signal,
		);
		const alerts = await app.server.ask(["alerts"], {at: app.at}, signal);
		const healed =
			!app.at && heals(await app.whenKnown(signal))
				? await app.server.ask(["heal"], {}, signal)
				: null;
		return {rows, healed, alerts};
	},

	render(app, route, {rows, healed, alerts}) {
		const limit = Number(route.options.limit ?? PAGE);
		const since = alertsSince(alerts.alerts ?? []);
		const isWorstFirst = ![...FILTERS.map(([name]) => name), "by"].some(
			(it) => route.options[it],
		);
		const noneBad = isWorstFirst && noneBadText(rows);
		return [
			h("h1", {}, "Links"),
			controls(app, route),
			noneBad && h("p", {class: "quiet"}, noneBad),
			table(route, linkColumns(route, [alertColumn(since)], (it) => sinceOf(since, it)), rows, {
				caption: "Links",
				rowClass: (it) => (isDown(it.state) ? "is-down" : null),
				empty: "No link is like that.",
			}),
			rows.length >= limit &&
				h(
					"p",
					{class: "more"},
					`Of more links, the first ${count(limit)} are here. `,
					h(
						"a",
						{
							href: changed(route, {
								limit: Math.min(
									MOST,
									limit * 4,
								),
							}),
							"data-key": "more",
						},
						"Ask for more",
					),
				),
			healed && healing(route, healed),
		];
	},
};

// Since when what an alert found at an end is there.
function alertColumn(since) {
	return column("alert", "Alert since", {
		wide: true,
		value: (it) => sinceOf(since, it),
		cell: (it) => {
			const at = sinceOf(since, it);
			return at && h("span", {class: "nowrap"}, time(at));
		},
	});
}

function sinceOf(since, link) {
	const times = link.ends.map((end) => since.get(`${end.node_guid}:${end.port}`));
	return times.filter(Boolean).sort()[0] ?? null;
}

// Only the plugin heals.
function heals(status) {
	return Boolean(
		isPlugin(status) && (status.configuration?.values?.["heal.mode"] ?? "off") !== "off",
	);
}

function healing(route, rows) {
	const title = "Bad links that are out of routing, or on probation";
	return section(
		title,
		missing(rows) ??
			table(route, healColumns(route), rows, {
				id: "healed",
				caption: title,
				empty: "None.",
			}),
	);
}

function controls(app, route) {
	const toggle = ([name, title]) => {
		const is = route.options[name] === "1";
		return h(
			"a",
			{
				class: "toggle",
				role: "button",
				"aria-pressed": String(is),
				"data-key": name,
				href: changed(route, {[name]: is ? undefined : "1"}),
			},
			title,
		);
	};
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const {node, by} = event.target.elements;
				app.go(changed(route, {node: node.value.trim(), by: by.value}));
			},
		},
		h(
			"span",
			{
				class: "group",
				role: "group",
				"aria-label": "Only those that fit any of",
			},
			FILTERS.map(toggle),
		),
		h(
			"label",
			{},
			"Node ",
			h("input", {
				name: "node",
				value: route.options.node ?? "",
				placeholder: "all, or leaf-*",
				"data-key": "node",
				spellcheck: "false",
			}),
		),
		h(
			"label",
			{},
			"Order ",
			h(
				"select",
				{
					name: "by",
					"data-key": "by",
					onchange: (event) => event.target.form.requestSubmit(),
				},
				options(BY, route.options.by ?? ""),
			),
		),
		h("button", {type: "submit", "data-key": "show"}, "Show"),
	);
}

// --- the busiest and the worst ---

const TOPS = [
	["PortXmitData", "Busiest"],
	["PortXmitWait", "Waiting most"],
	["SymbolErrorCounter", "Symbol errors"],
	["PortRcvErrors", "Receive errors"],
	["PortXmitDiscards", "Discards"],
	["LinkDownedCounter", "Links that go down"],
];
const N_TOP = 10;

export const busiest = {
	title: "Traffic",

	async load(app, route, signal) {
		const by = route.options.by ?? "PortXmitData";
		app.store.want(app.at);
		const status = await app.whenKnown(signal);
		const names =
			route.options.all === "1"
				? TOPS.map(([name]) => name)
				: [...new Set([by, "PortXmitWait"])];
		const answers = await Promise.all(
			names.map((name) =>
				app.server.ask(
					["perf", "top"],
					{by: name, limit: N_TOP, at: app.at},
					signal,
				),
			),
		);
		const roots = await loadRoots(app, route, status, signal);
		const tiers = await loadTiers(app, route, spanOf(route), signal);
		return {tops: names.map((name, i) => [name, answers[i]]), roots, tiers};
	},

	render(app, route, {tops, roots, tiers}) {
		return [
			h("h1", {}, "Traffic"),
			tiersSection(route, tiers, spanOf(route)),
			h(
				"p",
				{class: "controls"},
				h(
					"span",
					{
						class: "group",
						role: "group",
						"aria-label": "By what",
					},
					TOPS.map(([name, title]) =>
						h(
							"a",
							{
								class: "toggle",
								role: "button",
								"data-key": name,
								"aria-pressed": String(
									name ===
										(route.options
											.by ??
											"PortXmitData"),
								),
								title: name,
								href: changed(route, {
									by: name,
								}),
							},
							title,
						),
					),
				),
				h(
					"a",
					{
						class: "toggle",
						role: "button",
						"data-key": "day",
						"aria-pressed": String(isDay(route)),
						href: changed(route, {span: isDay(route) ? undefined : "1d"}),
					},
					"Curves of a day",
				),
			),
			tops.map(([name, rows]) => top(app, route, name, rows)),
			roots && rootsSection(route, roots),
		];
	},
};

function top(app, route, counter, rows) {
	const title = TOPS.find(([name]) => name === counter)?.[1] ?? counter;
	const growing = Array.isArray(rows) ? rows.filter((it) => it.rate) : [];
	return h(
		"section",
		{},
		h("h2", {}, title, " ", h("small", {}, counter)),
		missing(rows) ??
			table(
				route,
				[
					{
						name: "port",
						title: "Port",
						cell: (it) =>
							portLink(
								route,
								it.node_guid,
								it.node_name,
								it.port,
							),
					},
					{
						name: "far",
						title: "Far end",
						cell: (it) =>
							portLink(
								route,
								it.remote_guid,
								it.remote_name,
								it.remote_port,
							),
					},
					{
						name: "rate",
						title: "Now",
						number: true,
						cell: (it) => counterRate(counter, it.rate),
					},
					{
						name: "hour",
						title: isDay(route) ? "The day before" : "The hour before",
						class: "spark",
						cell: (it) =>
							sparkline(
								app,
								it.node_guid,
								it.port,
								counter,
								spanOf(route),
							),
					},
				],
				growing,
				{
					id: counter,
					caption: `${title}, by ${counter}`,
					empty: nothing(rows, app.store.fabric, counter),
				},
			),
	);
}

function isDay(route) {
	return route.options.span === "1d";
}

function spanOf(route) {
	return isDay(route) ? "1d" : "1h";
}

function nothing(rows, fabric, counter) {
	if (!rows.length) return "No port is known to have it.";
	if (rows[0].rate === null) return `Rates are ${NOT_KNOWN} before the second sweep.`;
	if (!fabric) return "It grows nowhere, as far as is known.";
	const n = unreadLinks(fabric, counter);
	return n
		? `It grows nowhere, as far as is known: of ${plural(n, "link")} it is ${NOT_KNOWN} at one end at least.`
		: "It grows nowhere.";
}
