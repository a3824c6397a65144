// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What Triad keeps from harm, and what it does about it: bad links out of routing, links that go
// down again and again, losses that were routed around, clients whose requests were refused; and
// what the last audit found, which asks no device: an audit is started by triadctl alone.

import {badge, facts, h, none, section} from "../dom.js";
import {ago, count, isKnown, ms, NOT_KNOWN, plural, span, time, visible} from "../format.js";
import {sibling} from "../route.js";
import {table} from "../table.js";
import {
	column,
	isPlugin,
	missing,
	nodeLink,
	portColumn,
	presentOnly,
	timeColumn,
} from "./parts.js";

const ends = (route) => [
	portColumn(route),
	portColumn(route, {
		name: "far_end",
		title: "Far end",
		guid: "far_guid",
		node: "far_name",
		port: "far_port",
	}),
];

export const healColumns = (route) => [
	...ends(route),
	column("state", "State"),
	column("taken", "Taken", {number: true}),
	timeColumn("since", "Since"),
	timeColumn("until", "Until"),
	column("what", "What"),
];

const OUTCOMES = {done: "ok", failed: "warning", "left to OpenSM": "warning"};

// [key of triad.conf that is "off" where it isn't used, command, title, what none means, columns].
const PARTS = [
	["heal.mode", ["heal"], "Bad links out of routing, or on probation", "None is.", healColumns],
	[
		"damp.mode",
		["damp"],
		"Links that go down again and again",
		"None does.",
		(route) => [
			...ends(route),
			column("state", "State"),
			column("bounces", "Times", {
				number: true,
				hint: "How often a switch was seen to lose it lately, but not together with other links of a node; two within half a second are one. Links has how often it went down in all",
			}),
			timeColumn("last", "Last"),
			timeColumn("since", "Held since"),
			timeColumn("until", "Until"),
		],
	],
	[
		"repair.mode",
		["repair", "history"],
		"Links and switches that were lost, and routed around",
		"None was lost since OpenSM started.",
		(route) => [
			timeColumn("at", "At"),
			column("outcome", "Outcome", {
				cell: (it) => badge(OUTCOMES[it.outcome] ?? "none", it.outcome),
			}),
			...ends(route),
			column("links", "Links", {number: true}),
			column("crossing_pairs", "Pairs", {number: true, cell: (it) => count(it.crossing_pairs)}),
			column("lost_pairs", "Without a way", {
				number: true,
				cell: (it) => h("span", {class: it.lost_pairs ? "bad" : ""}, count(it.lost_pairs)),
			}),
			column("ended_ms", "Took", {number: true, cell: (it) => it.ended_ms && ms(it.ended_ms)}),
			column("why", "Why"),
		],
	],
	[
		"shield.mode",
		["shield"],
		"Clients whose requests to the SA were refused",
		"None was refused.",
		(route) => [
			column("node_name", "Client", {
				name: "node",
				cell: (it) => nodeLink(route, it.node_guid, it.node_name),
			}),
			column("lid", "LID", {number: true}),
			column("requests", "Requests", {number: true, cell: (it) => count(it.requests)}),
			column("refused", "Refused", {number: true, cell: (it) => count(it.refused)}),
			column("reason", "The last one"),
		],
	],
];

const N_DIFFERENCES = 1000;

const differenceColumns = (route) => [
	column("id", "ID", {cell: (it) => h("code", {}, it.id)}),
	portColumn(route),
	column("table", "Table"),
	column("object", "Object", {cell: (it) => visible(it.object)}),
	column("wanted", "OpenSM wants"),
	column("found", "It has"),
	timeColumn("since", "Since"),
];

// Nothing that differs is only good news where all was read.
function auditBadge(it) {
	if (it.differ) return badge("warning", plural(it.differ, "difference"));
	return it.differ === 0 && !it.partial && it.blocks_unknown === 0
		? badge("ok", "none differs")
		: badge("unknown", NOT_KNOWN);
}

function auditFacts(it) {
	return facts([
		["verdict", auditBadge(it)],
		["ended", `${time(it.ended)} UTC, ${ago(it.ended, Date.now())}`],
		["for", visible(it.by)],
		["took", span(it.seconds)],
		["blocks read", count(it.blocks)],
		[
			"not known",
			it.blocks_unknown || it.silent_devices || it.partial
				? `${count(it.blocks_unknown)} blocks${it.partial ? " and more" : ""}; ${plural(it.silent_devices, "device")} without an answer`
				: "nothing of that",
		],
		[
			"by itself",
			it.period_seconds
				? `each ${span(it.period_seconds)}${it.failed ? `; ${count(it.failed)} came to no end` : ""}`
				: "never (audit.period = 0)",
		],
	]);
}

function audit(route, it) {
	const command = (text) => h("code", {}, text);
	return section(
		"What devices have beside what OpenSM wants, by the last audit",
		missing(it) ?? [
			isKnown(it.ended)
				? auditFacts(it)
				: none("Not known: no audit of all devices has ended here."),
			isKnown(it.ended) &&
				table(route, differenceColumns(route), it.differences, {
					id: "audit",
					caption:
						it.differences.length < it.differ
							? `The first ${count(it.differences.length)} of ${count(it.differ)} differences`
							: "What differs",
					empty: it.partial || it.blocks_unknown ? "Of what was read, none." : "None.",
				}),
		],
		h(
			"p",
			{class: "quiet"},
			"An audit sends SMPs to each device, so the page starts none: type ",
			command("triadctl audit"),
			", or set ",
			command("audit.period"),
			". ",
			command("triadctl audit repair ID"),
			" writes what is wanted, where audit.repair allows it.",
		),
	);
}

function modeOf(status, key) {
	const {values} = status.configuration ?? {};
	return values ? (values[key] ?? "off") : NOT_KNOWN;
}

export const guards = {
	title: "Guards",

	isMissing: (status) => !isPlugin(status),

	async load(app, _route, signal) {
		const status = await app.whenKnown(signal);
		const used = isPlugin(status)
			? PARTS.filter(([key]) => modeOf(status, key) !== "off")
			: [];
		const answers = await Promise.all(
			used.map(([, command]) => app.server.ask(command, {}, signal)),
		);
		const parts = PARTS.map(([key]) => {
			const i = used.findIndex(([it]) => it === key);
			return {mode: modeOf(status, key), answer: i < 0 ? null : answers[i]};
		});
		const last =
			isPlugin(status) &&
			(await app.server.ask(["audit", "last"], {limit: N_DIFFERENCES}, signal));
		return {parts, last};
	},

	render(app, route, {parts, last}) {
		return [
			h("h1", {}, "Guards"),
			presentOnly(app),
			PARTS.map(([key, , title, empty, columns], i) =>
				section(
					[title, " ", h("small", {}, `${key} = ${parts[i].mode}`)],
					parts[i].answer
						? (missing(parts[i].answer) ??
								table(route, columns(route), parts[i].answer, {
									id: key.replace(".", ""),
									caption: title,
									empty,
								}))
						: none("It is off."),
				),
			),
			last && audit(route, last),
			h(
				"p",
				{class: "quiet"},
				"What was done is in the ",
				h("a", {href: sibling(route, "history")}, "history"),
				".",
			),
		];
	},
};
