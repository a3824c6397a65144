// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What flows between hosts and the levels of switches: now, of the fabric that the page has, and
// over time ('perf tiers'), which is asked for when somebody wants it.

import {chart} from "../chart.js";
import {h, none, section} from "../dom.js";
import {bits, count, NOT_KNOWN, octets, percent, plural, span} from "../format.js";
import {tierCurves, trafficByTier} from "../model.js";
import {beforeOf} from "../moment.js";
import {changed} from "../route.js";
import {askKept} from "../spark.js";
import {table} from "../table.js";
import {tierName} from "../words.js";
import {column, missing} from "./parts.js";

const TITLE = "All of the fabric, by tier";

// 'length' is as --since has it.
export async function loadTiers(app, route, length) {
	const {fabric, layout} = app.store;
	const isKept = Boolean(app.status?.images?.first);
	const wants = isKept && route.options.curves === "1";
	return {
		now: fabric && layout?.level ? trafficByTier(fabric, layout.level) : null,
		isKept,
		past: wants
			? await askKept(app, ["perf", "tiers"], {
					since: app.at ? beforeOf(app.at, length, Date.now()) : length,
					at: app.at,
				})
			: null,
	};
}

export function tiersSection(route, {now, isKept, past}, length) {
	return section(
		TITLE,
		now ? tableOf(route, now) : none("The fabric is being asked for."),
		isKept &&
			h(
				"p",
				{class: "controls"},
				h(
					"a",
					{
						class: "toggle",
						role: "button",
						"data-key": "curves",
						"aria-pressed": String(Boolean(past)),
						href: changed(route, {curves: past ? undefined : "1"}),
					},
					`Its ${length === "1d" ? "day" : "hour"} as curves`,
				),
			),
		past && (missing(past) ?? tierCurves(past).map(curve)),
	);
}

function tableOf(route, tiers) {
	const sum = (name, title) =>
		column(name, title, {
			number: true,
			cell: (it) =>
				it.known
					? h(
							"span",
							{},
							bits(it[name]),
							it.capacity
								? h(
										"span",
										{class: "quiet"},
										` ${percent((100 * it[name]) / it.capacity)}`,
									)
								: "",
						)
					: it.unknown
						? NOT_KNOWN
						: "–",
		});
	return table(
		route,
		[
			{
				name: "tier",
				title: "Between",
				value: (it) => it.low * 100 + it.high,
				cell: (it) => [
					tierName(it),
					it.inside > 0 &&
						it.inside < it.links &&
						h(
							"span",
							{class: "quiet"},
							` (${count(it.inside)} to aggregation nodes in switches)`,
						),
				],
			},
			column("links", "Links", {number: true}),
			sum("up", "Up"),
			sum("down", "Down"),
			column("unknown", "Not known of", {
				number: true,
				cell: (it) => (it.unknown ? plural(it.unknown, "link") : "none"),
			}),
		],
		tiers,
		{id: "tiers", caption: TITLE, empty: "There is no link."},
	);
}

// --- over time ---

function curve(tier) {
	const name = tierName(tier);
	if (!tier.share)
		return none(`${name}: nothing is known of this time.`);
	return h(
		"figure",
		{},
		h(
			"figcaption",
			{},
			name,
			" ",
			h(
				"small",
				{},
				`${octets(tier.up)} up, ${octets(tier.down)} down in ${span(tier.seconds)}; sum of ${tier.share}`,
			),
		),
		chart(tier.series, `What flowed between ${name}, a sum of ${tier.share}`),
	);
}
