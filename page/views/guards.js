// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What Triad keeps from harm, and what it does about it: bad links out of routing, links that go
// down again and again, losses that were routed around, clients whose requests were refused.

import {badge, h, none, section} from "../dom.js";
import {count, ms, NOT_KNOWN, time} from "../format.js";
import {sibling} from "../route.js";
import {table} from "../table.js";
import {isPlugin, missing, nodeLink, portLink, presentOnly} from "./parts.js";

const port = (route, title, guid, name, number) => ({
	name: title.toLowerCase().replace(" ", "_"),
	title,
	value: (it) => it[name],
	cell: (it) => portLink(route, it[guid], it[name], it[number]),
});
const text = (name, title, rest = {}) => ({name, title, value: (it) => it[name], ...rest});
const when = (name, title) =>
	text(name, title, {cell: (it) => it[name] && h("span", {class: "nowrap"}, time(it[name]))});

export const healColumns = (route) => [
	port(route, "Port", "node_guid", "node_name", "port"),
	port(route, "Far end", "far_guid", "far_name", "far_port"),
	text("state", "State"),
	text("taken", "Taken", {number: true}),
	when("since", "Since"),
	when("until", "Until"),
	text("what", "What"),
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
			port(route, "Port", "node_guid", "node_name", "port"),
			port(route, "Far end", "far_guid", "far_name", "far_port"),
			text("state", "State"),
			text("bounces", "Times", {number: true}),
			when("last", "Last"),
			when("since", "Held since"),
			when("until", "Until"),
		],
	],
	[
		"repair.mode",
		["repair", "history"],
		"Links and switches that were lost, and routed around",
		"None was lost since OpenSM started.",
		(route) => [
			when("at", "At"),
			text("outcome", "Outcome", {
				cell: (it) => badge(OUTCOMES[it.outcome] ?? "none", it.outcome),
			}),
			port(route, "Port", "node_guid", "node_name", "port"),
			port(route, "Far end", "far_guid", "far_name", "far_port"),
			text("links", "Links", {number: true}),
			text("crossing_pairs", "Pairs", {number: true, cell: (it) => count(it.crossing_pairs)}),
			text("lost_pairs", "Without a way", {
				number: true,
				cell: (it) => h("span", {class: it.lost_pairs ? "bad" : ""}, count(it.lost_pairs)),
			}),
			text("ended_ms", "Took", {number: true, cell: (it) => it.ended_ms && ms(it.ended_ms)}),
			text("why", "Why"),
		],
	],
	[
		"shield.mode",
		["shield"],
		"Clients whose requests to the SA were refused",
		"None was refused.",
		(route) => [
			{
				name: "node",
				title: "Client",
				value: (it) => it.node_name,
				cell: (it) => nodeLink(route, it.node_guid, it.node_name),
			},
			text("lid", "LID", {number: true}),
			text("requests", "Requests", {number: true, cell: (it) => count(it.requests)}),
			text("refused", "Refused", {number: true, cell: (it) => count(it.refused)}),
			text("reason", "The last one"),
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
