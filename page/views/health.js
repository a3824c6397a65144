// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'health' says: the verdict, what is wrong, a line for each part; and the alerts and the
// last events, so that one look is enough.

import {badge, h, none, section} from "../dom.js";
import {ago, count, plural, time} from "../format.js";
import {sibling} from "../route.js";
import {eventList} from "./history.js";
import {missing, placeLink} from "./parts.js";

const N_EVENTS = 8;

export const health = {
	title: "Health",

	async load(app, _route, signal) {
		const {server, at} = app;
		const [answer, events] = await Promise.all([
			server.get(["health"], {at}, signal),
			server.ask(["history"], {limit: N_EVENTS, at}, signal),
		]);
		return {health: answer, events};
	},

	render(_app, route, {health: answer, events}) {
		return [
			head(answer),
			findings(route, answer),
			parts(answer),
			section(
				"Lately",
				missing(events) ?? eventList(route, events),
				h(
					"p",
					{},
					h(
						"a",
						{href: sibling(route, "history")},
						"All of the history",
					),
				),
			),
		];
	},
};

function head(answer) {
	const counts = [
		answer.critical && `${count(answer.critical)} critical`,
		answer.warnings && plural(answer.warnings, "warning"),
		answer.unknown && `${count(answer.unknown)} unknown`,
	].filter(Boolean);
	return h(
		"div",
		{class: "headline"},
		h("h1", {}, badge(answer.verdict.toLowerCase(), answer.verdict)),
		h("p", {}, counts.length ? counts.join(", ") : "Nothing is wrong."),
	);
}

function findings(route, answer) {
	if (!answer.findings.length) return null;
	return section(
		"Findings",
		h(
			"ol",
			{class: "findings"},
			answer.findings.map((it) =>
				h(
					"li",
					{"data-severity": it.severity.toLowerCase()},
					h(
						"div",
						{class: "where"},
						badge(it.severity.toLowerCase(), it.severity),
						" ",
						isPart(answer, it.at)
							? it.at
							: placeLink(route, it.at),
						it.far_end
							? [" – ", placeLink(route, it.far_end)]
							: "",
					),
					h(
						"div",
						{class: "what"},
						it.what,
						it.since &&
							h(
								"span",
								{
									class: "quiet",
									title: `${time(it.since)} UTC`,
								},
								` since ${time(it.since)} (${ago(it.since, Date.now())})`,
							),
					),
					it.advice && h("div", {class: "advice"}, it.advice),
					it.alert &&
						h(
							"div",
							{},
							h(
								"a",
								{
									href: sibling(
										route,
										"alerts",
										[],
										{
											alert: it.alert,
										},
									),
								},
								`Alert ${it.alert}`,
							),
						),
				),
			),
		),
		answer.more
			? h(
					"p",
					{class: "more"},
					`${plural(answer.more, "more finding")}: `,
					h("a", {href: sibling(route, "alerts")}, "alerts"),
				)
			: null,
	);
}

// A finding about a part of Triad has its name in the place of a node's.
function isPart(answer, at) {
	return (
		answer.parts.some((it) => it.part === at || it.title === at) ||
		!/[:\d]/.test(at ?? "")
	);
}

function parts(answer) {
	return section(
		"Parts",
		answer.parts.length
			? h(
					"table",
					{class: "parts"},
					h(
						"tbody",
						{},
						answer.parts.map((it) =>
							h(
								"tr",
								{class: it.off ? "off" : null},
								h(
									"th",
									{scope: "row"},
									it.part.replaceAll(
										"_",
										" ",
									),
								),
								h(
									"td",
									{},
									it.off
										? badge(
												"off",
												"off",
											)
										: badge(
												(
													it.severity ??
													"ok"
												).toLowerCase(),
												it.severity ??
													"OK",
											),
								),
								h("td", {}, it.text),
							),
						),
					),
				)
			: none("No part says anything."),
	);
}
