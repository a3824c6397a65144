// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'alerts' says: what is wrong, since when, why, and what to do; and what is silenced.

import {badge, facts, h, none, section} from "../dom.js";
import {ago, count, plural, time} from "../format.js";
import {changed} from "../route.js";
import {table} from "../table.js";
import {findingSince, findingText, reportText} from "../words.js";
import {endLink, missing} from "./parts.js";

export const alerts = {
	title: "Alerts",

	async load(app, route, signal) {
		const [answer, silences] = await Promise.all([
			app.server.get(
				["alerts"],
				{
					all: route.options.all === "1",
					node: route.options.node || undefined,
					at: app.at,
				},
				signal,
			),
			app.server.ask(["silences"], {at: app.at}, signal),
		]);
		return {answer, silences};
	},

	render(app, route, {answer, silences}) {
		const isAll = route.options.all === "1";
		return [
			h("h1", {}, "Alerts"),
			h(
				"p",
				{class: "controls"},
				summary(answer),
				" ",
				h(
					"a",
					{
						class: "toggle",
						role: "button",
						"aria-pressed": String(isAll),
						"data-key": "all",
						href: changed(route, {
							all: isAll ? undefined : "1",
						}),
					},
					"Cleared ones, too",
				),
			),
			answer.alerts.length
				? answer.alerts.map((it) => card(route, it))
				: none("There is no alert."),
			answer.not_kept
				? h(
						"p",
						{class: "more"},
						`${plural(answer.not_kept, "alert")} more were not kept: too many at once.`,
					)
				: null,
			answer.explained
				? h(
						"p",
						{class: "quiet"},
						`${plural(answer.explained, "port")} wait because of a root of congestion: no alerts of their own.`,
					)
				: null,
			silenced(app, route, silences),
		];
	},
};

function summary(answer) {
	const parts = [`${count(answer.active)} active`];
	if (answer.silenced) parts.push(`${count(answer.silenced)} of these silenced`);
	return `${parts.join(", ")}; ${count(answer.raised)} raised and ${count(answer.cleared)} cleared since the start.`;
}

function card(route, it) {
	const severity = it.cleared ? "off" : (it.severity ?? "warning").toLowerCase();
	const isChosen = route.options.alert === String(it.id);
	return h(
		"article",
		{class: `alert${isChosen ? " chosen" : ""}`, "data-severity": severity},
		h(
			"header",
			{},
			badge(severity, it.cleared ? "cleared" : it.severity),
			" ",
			it.silence && [badge("off", "silenced"), " "],
			h(
				"strong",
				{},
				endLink(route, it.at),
				it.far_end ? [" – ", endLink(route, it.far_end)] : "",
			),
			" ",
			h(
				"a",
				{
					class: "quiet",
					href: changed(route, {alert: it.id}),
					"data-key": `alert ${it.id}`,
				},
				`#${it.id}`,
			),
		),
		h(
			"ul",
			{},
			it.findings.map((finding) =>
				h(
					"li",
					{class: finding.under_since ? "ended" : null},
					findingText(finding),
					h("span", {class: "quiet"}, findingSince(finding)),
				),
			),
		),
		it.more
			? h(
					"p",
					{class: "quiet"},
					`${plural(it.more, "counter")} more over their thresholds`,
				)
			: null,
		it.sm && h("p", {}, `The SM reported: ${reportText(it.sm)}`),
		it.advice && h("p", {class: "advice"}, it.advice),
		facts([
			["raised", `${time(it.raised)} (${ago(it.raised, Date.now())})`],
			it.cleared && ["cleared", time(it.cleared)],
			it.nodes_gone && ["nodes gone", count(it.nodes_gone)],
			it.links_gone && ["links gone", count(it.links_gone)],
			it.silence && ["silenced until", time(it.silence.until)],
		]),
	);
}

function silenced(app, route, silences) {
	if (!Array.isArray(silences)) return section("Silences", missing(silences));
	return silences.length
		? section(
				"Silences",
				table(
					route,
					[
						{
							name: "id",
							title: "ID",
							number: true,
							value: (it) => it.id,
						},
						{
							name: "place",
							title: "What",
							value: (it) => it.place,
							cell: (it) => h("bdi", {}, it.place),
						},
						{
							name: "until",
							title: "Until",
							value: (it) => it.until,
							cell: (it) => time(it.until),
						},
						{
							name: "in_force",
							title: "In force",
							value: (it) =>
								it.in_force ? "yes" : "later",
						},
						{
							name: "alerts",
							title: "Alerts",
							number: true,
							value: (it) => it.alerts,
						},
						{name: "by", title: "By", value: (it) => it.by},
						{
							name: "reason",
							title: "Why",
							value: (it) => it.reason,
						},
					],
					silences,
					{id: "s", caption: "Silences"},
				),
			)
		: null;
}
