// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What Triad keeps from harm, and what it does about it: bad links out of routing, links that go
// down again and again, losses that were routed around, clients whose requests were refused.

import {badge, h, none, section} from "../dom.js";
import {count, ms, NOT_KNOWN} from "../format.js";
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
			column("bounces", "Times", {number: true}),
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
		return PARTS.map(([key]) => {
			const i = used.findIndex(([it]) => it === key);
			return {mode: modeOf(status, key), answer: i < 0 ? null : answers[i]};
		});
	},

	render(app, route, parts) {
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
			h(
				"p",
				{class: "quiet"},
				"What was done is in the ",
				h("a", {href: sibling(route, "history")}, "history"),
				"; what devices have beside what the SM wants, 'triadctl audit' asks them.",
			),
		];
	},
};
