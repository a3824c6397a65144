// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'history' says: what happened in the fabric, the last first.

import {badge, h, none} from "../dom.js";
import {count, isKnown, time} from "../format.js";
import {changed} from "../route.js";
import {eventName, eventSeverity} from "../words.js";
import {nodeField, options, portLink} from "./parts.js";

const PAGE = 200,
	MOST = 10000;
const SINCE = [
	["1h", "the last hour"],
	["24h", "24 hours"],
	["7d", "7 days"],
	["30d", "30 days"],
	["", "all that is kept"],
];

export function eventList(route, events) {
	if (!events.length) return none("Nothing happened, as far as is known.");
	return h(
		"ol",
		{class: "events"},
		events.map((it) =>
			h(
				"li",
				{},
				h(
					"a",
					{
						class: "time",
						href: changed(route, {
							at: it.time?.slice(0, 19),
						}),
						title: "Show the page as of then",
					},
					h("time", {datetime: it.time}, time(it.time)),
				),
				h(
					"span",
					{class: "event"},
					badge(eventSeverity(it.event), eventName(it.event)),
				),
				h("span", {class: "what"}, where(route, it), details(it)),
			),
		),
	);
}

function where(route, it) {
	if (!it.node_guid && !it.node_name) return null;
	return [
		portLink(route, it.node_guid, it.node_name, it.port),
		it.remote_guid || it.remote_name
			? [
					" – ",
					portLink(
						route,
						it.remote_guid,
						it.remote_name,
						it.remote_port,
					),
				]
			: null,
		" ",
	];
}

function details(it) {
	const parts = [];
	if (isKnown(it.count) && it.count > 1) parts.push(`${count(it.count)}×`);
	if (it.text) parts.push(it.text);
	return parts.join(" ");
}

export const history = {
	title: "History",

	load(app, route, signal) {
		return app.server.get(
			["history", ...(route.options.node ? [route.options.node] : [])],
			{
				since: route.options.since,
				limit: route.options.limit ?? PAGE,
				at: app.at,
			},
			signal,
		);
	},

	render(app, route, events) {
		return [
			h("h1", {}, "History"),
			h(
				"form",
				{
					class: "controls",
					onsubmit: (event) => {
						event.preventDefault();
						const fields = event.target.elements;
						app.go(
							changed(route, {
								node: fields.node.value.trim(),
								since: fields.since.value,
							}),
						);
					},
				},
				nodeField(route),
				h(
					"label",
					{},
					"Since ",
					h(
						"select",
						{
							name: "since",
							"data-key": "since",
							onchange: (event) =>
								event.target.form.requestSubmit(),
						},
						options(SINCE, route.options.since ?? ""),
					),
				),
				h("button", {type: "submit", "data-key": "show"}, "Show"),
			),
			eventList(route, events),
			events.length >= Number(route.options.limit ?? PAGE) &&
				h(
					"p",
					{class: "more"},
					`The last ${count(events.length)}. `,
					h(
						"a",
						{
							href: changed(route, {
								limit: Math.min(
									MOST,
									events.length * 4,
								),
							}),
						},
						"More",
					),
				),
		];
	},
};
