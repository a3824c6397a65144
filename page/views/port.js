// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// One port: its link, counters, curves, details, cable, alerts.

import {chart} from "../chart.js";
import {badge, facts, h, none, section} from "../dom.js";
import {ago, count, counterTotal, isData, isError, isKnown, NOT_KNOWN, place, time, visible, yesNo} from "../format.js";
import {rateText, riseOf} from "../model.js";
import {changed, sibling} from "../route.js";
import {fromPast} from "../spark.js";
import {table} from "../table.js";
import {eventList} from "./history.js";
import {alertList, N_EVENTS} from "./node.js";
import {
	bar,
	endLink,
	isOn,
	missing,
	nodeLink,
	notKept,
	options,
	portLink,
	stateBadge,
} from "./parts.js";

// Of how long it is looked up when a counter rose.
const ROSE_IN = "7d";
const CURVES = [["PortXmitData", "PortRcvData"], ["PortXmitWait"]];
const SINCE = [
	["1h", "1 hour"],
	["6h", "6 hours"],
	["24h", "24 hours"],
	["7d", "7 days"],
	["30d", "30 days"],
];

async function loadPort(app, route, signal) {
	const [guid, number] = route.words,
		{server, at} = app;
	const where = `${guid}:${number}`,
		since = at ? undefined : (route.options.since ?? "1h");
	const ask = (words, more) => server.ask(words, more, signal);
	const {devices, images} = await app.whenKnown(signal);
	const curves = !images?.first
		? []
		: [...CURVES, ...(route.options.curve ? [[route.options.curve]] : [])];
	const [rows, links, alerts, events, details, ber, cable, ...points] = await Promise.all(
		[
			ask(["perf", "show"], {node: where, at}),
			ask(["links"], {node: where, brief: true, at}),
			ask(["alerts"], {node: where, at}),
			ask(["history", where], {limit: N_EVENTS, at}),
			ask(["perf", "details"], {node: where, at}),
			ask(["perf", "ber"], {node: where, all: true, at}),
			at || isOn(devices) ? ask(["cables", where], {at}) : null,
			...curves
				.flat()
				.map((counter) =>
					ask(["perf", "history", where, counter], {since, at}),
				),
		],
	);
	let k = 0;
	return {
		rows,
		links,
		alerts,
		events,
		details,
		ber,
		cable,
		curves: curves.map((counters) =>
			counters.map((counter) => ({counter, answer: points[k++]})),
		),
	};
}

export const port = {
	title: "Port",
	titleOf: ({words: [node, number]}, nameOf) => place(nameOf(node), number),
	load: loadPort,

	render(app, route, data) {
		const row = Array.isArray(data.rows) ? data.rows[0] : null;
		const link = Array.isArray(data.links) ? data.links[0] : null;
		if (!row && !link)
			return (
				missing(data.rows) ??
				none("Counters are not read of this port at this moment.")
			);
		const guid = row?.node_guid ?? route.words[0],
			name = row?.node_name ?? guid,
			number = route.words[1];
		return [
			h("h1", {}, nodeLink(route, guid, name), `:${number}`),
			h(
				"p",
				{class: "controls"},
				h(
					"a",
					{
						class: "open",
						href: sibling(route, "fabric", [], {
							select: `${guid}:${number}`,
						}),
					},
					"Show in the picture",
				),
				h(
					"a",
					{
						class: "open",
						href: sibling(route, "history", [], {
							node: `${guid}:${number}`,
						}),
					},
					"Its history",
				),
				!app.missing.has("routes") &&
					h(
						"a",
						{
							class: "open",
							href: sibling(route, "routes", [], {
								over: `${guid}:${number}`,
							}),
						},
						"Pairs over it",
					),
				h(
					"label",
					{},
					"Curves of ",
					h(
						"select",
						{
							"data-key": "since",
							disabled: Boolean(app.at),
							onchange: (event) =>
								app.go(
									changed(route, {
										since: event
											.target
											.value,
									}),
								),
						},
						options(SINCE, route.options.since ?? "1h"),
					),
				),
			),
			linkFacts(route, row, link, guid),
			alertList(route, data.alerts),
			section(
				app.at ? "The hour before" : "How fast",
				data.curves.length
					? data.curves.map((it) => curve(it))
					: none(
							"No past is kept: history.dir of triad.conf would.",
						),
			),
			row ? countersSection(app, route, row) : null,
			detailsSection(app, data.details),
			berSection(app, data.ber),
			cableSection(data.cable),
			section(
				"Lately",
				missing(data.events) ?? eventList(route, data.events),
			),
		];
	},
};

function linkFacts(route, row, link, guid) {
	const own = link && (link.ends[0].node_guid === guid ? 0 : 1);
	const [here, far] = link ? [link.ends[own], link.ends[1 - own]] : [];
	return facts([
		["state", stateBadge(link?.state ?? row.state, link?.slow, link?.port_state)],
		[
			"far end",
			far
				? endLink(route, far)
				: row?.remote_guid
					? portLink(
							route,
							row.remote_guid,
							row.remote_name,
							row.remote_port,
						)
					: NOT_KNOWN,
		],
		link && [
			"rate",
			[rateText(link.state, link.rate), link.slow ? ` (should run at ${link.expected_rate})` : ""],
		],
		link && ["out", bar(here.use_percent) ?? NOT_KNOWN],
		link && ["in", bar(far.use_percent) ?? NOT_KNOWN],
		link && ["waiting", bar(here.wait_percent, "wait") ?? NOT_KNOWN],
		link && [
			"downs",
			`${count(link.downs)}${link.last_down ? `, the last ${time(link.last_down)}` : ""}`,
		],
		row && ["LID", count(row.lid)],
		row && [
			"last read",
			row.last_read
				? `${time(row.last_read)} (${ago(row.last_read, Date.now())})`
				: "never",
		],
		row && [
			"answered when last asked",
			row.skipped
				? "not asked"
				: isKnown(row.answered)
					? yesNo(row.answered)
					: "not asked yet",
		],
	]);
}

function curve(series) {
	const names = series.map((it) => it.counter).join(", ");
	const has = series.filter((it) =>
		it.answer.points?.some((point) => point.per_second !== null),
	);
	const problem = series.find((it) => it.answer instanceof Error);
	if (!has.length)
		return h(
			"p",
			{class: "none"},
			`${names}: ${problem ? problem.answer.message : "nothing is known of this time"}`,
		);
	return h(
		"figure",
		{},
		h("figcaption", {}, names),
		chart(
			has.map((it) => ({
				label: it.counter,
				counter: it.counter,
				points: it.answer.points,
			})),
			`${names} over time`,
		),
	);
}

// When an error counter rose, as images have it.
function rose(app, row, counter) {
	return fromPast(app, row.node_guid, row.port, counter, ROSE_IN, (answer) => {
		const rise = answer.points && riseOf(answer.points);
		if (rise === undefined)
			return h("span", {class: "unknown", title: answer.message ?? ""}, "not kept");
		return riseText(rise, answer.points);
	});
}

function riseText(rise, points) {
	if (!rise) {
		// The first point has no rate.
		const hasGaps = points.slice(1).some((it) => it.per_second === null);
		return `not since ${time(points[0].time)}${hasGaps ? ", as far as is known" : ""}`;
	}
	const begin = rise.isAtLeast
		? `at least since ${time(rise.to)}`
		: `since between ${time(rise.from)} and ${time(rise.to)}`;
	return rise.last === points.at(-1).time ? begin : `${begin}, until ${time(rise.last)}`;
}

function countersSection(app, route, row) {
	const resets = row.resets ?? {};
	return section(
		"Counters",
		table(
			route,
			[
				{name: "counter", title: "Counter", value: (it) => it[0]},
				{
					name: "total",
					title: "Total",
					number: true,
					value: (it) => it[1],
					cell: (it) =>
						h(
							"span",
							{
								title: `${it[1]}${isData(it[0]) ? " words of 4 octets" : ""}`,
								class: it[1] && isError(it[0]) ? "bad" : null,
							},
							counterTotal(it[0], it[1]),
						),
				},
				app.status?.images?.first && {
					name: "rose",
					title: "Rose, of the last week",
					cell: (it) =>
						it[1] && isError(it[0]) ? rose(app, row, it[0]) : h("span", {}),
				},
				{
					name: "curve",
					title: "",
					cell: (it) =>
						h(
							"a",
							{
								href: changed(route, {
									curve: it[0],
								}),
								"data-key": `curve ${it[0]}`,
							},
							"curve",
						),
				},
			],
			Object.entries(row.counters),
			{caption: "Counters"},
		),
		h(
			"p",
			{class: "quiet"},
			`Hardware was reset by Triad ${count(resets.by_triad?.count ?? 0)} times, by others ${count(resets.by_others?.count ?? 0)} times.`,
		),
	);
}

// 'titles' of columns; rows of cells.  Columns from 'firstNumber' on have numbers.
function smallTable(titles, rows, firstNumber = titles.length) {
	const kind = (k) => (k < firstNumber ? null : "number");
	return h(
		"div",
		{class: "scroll"},
		h(
			"table",
			{class: "small"},
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					titles.map((it, k) =>
						h("th", {scope: "col", class: kind(k)}, it),
					),
				),
			),
			h(
				"tbody",
				{},
				rows.map((cells) =>
					h(
						"tr",
						{},
						cells.map((it, k) =>
							h("td", {class: kind(k)}, it),
						),
					),
				),
			),
		),
	);
}

function detailsSection(app, details) {
	if (!Array.isArray(details)) return notKept("Details", details);
	if (!details.length)
		return app.at
			? section(
					"Details",
					none(
						"None with errors were known then; others are not kept.",
					),
				)
			: null;
	const rate = (it) => (it === null ? "–" : Number(it.toPrecision(3)));
	return section(
		"Details",
		smallTable(
			["Attribute", "Counter", "Total", "Per second"],
			details.map((it) => [
				it.attribute,
				it.counter,
				[count(it.total), it.at_maximum ? "+" : ""],
				rate(it.rate_per_s),
			]),
			2,
		),
	);
}

function berSection(app, ber) {
	if (!Array.isArray(ber)) return notKept("Bit error rates", ber);
	if (!ber.length)
		return app.at
			? section(
					"Bit error rates",
					none(
						"None with errors was known then; others are not kept.",
					),
				)
			: null;
	const power = (it) => (it === 0 ? "0" : it === null ? NOT_KNOWN : it.toExponential(1));
	const verdict = (it) => badge({worse: "warning", good: "ok"}[it] ?? "none", it);
	return section(
		"Bit error rates",
		smallTable(
			["Kind", "Rate", "Between (95 %)", "Target", "Verdict"],
			ber.map((it) => [
				it.kind,
				power(it.ber),
				`${power(it.low)} – ${power(it.high)}`,
				power(it.target),
				verdict(it.verdict),
			]),
		),
	);
}

function cableSection(cables) {
	const it = Array.isArray(cables) ? cables[0] : null;
	if (!it) return notKept("Cable", cables);
	return section(
		"Cable",
		facts([
			["module", it.module],
			["vendor", it.vendor ?? NOT_KNOWN],
			["part", it.part ?? NOT_KNOWN],
			["serial number", it.serial ?? NOT_KNOWN],
			["length", it.length_m === null ? NOT_KNOWN : `${it.length_m} m`],
			[
				"temperature",
				it.temperature_c === null
					? NOT_KNOWN
					: `${it.temperature_c} °C`,
			],
			[
				"weakest light received",
				it.least_rx_dbm === null ? NOT_KNOWN : `${it.least_rx_dbm} dBm`,
			],
		]),
	);
}
