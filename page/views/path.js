// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Why a request for a path gets its answer ('qos explain'), and which way packets take
// ('routes between'): two ends, the rule, the level, every hop.  The first has no past.

import {badge, facts, h, none, section} from "../dom.js";
import {count, isKnown, NOT_KNOWN, plural, yesNo} from "../format.js";
import {changed, sibling} from "../route.js";
import {isWayLost} from "../words.js";
import {bar, isOn, missing, placeLink, portLink, presentOnly} from "./parts.js";

const ENDS = [
	["src", "From"],
	["dst", "To"],
];
const REQUEST = [
	["service-id", "Service-ID"],
	["tclass", "TClass"],
	["qos-class", "QoS class"],
	["pkey", "P_Key"],
	["sl", "SL"],
];

export const path = {
	title: "Path",

	async load(app, route, signal) {
		const {src, dst} = route.options;
		app.store.want(app.at);
		if (!src || !dst) return {};
		const request = Object.fromEntries(
			REQUEST.map(([name]) => [name, route.options[name]]).filter(
				([, it]) => it,
			),
		);
		const {qos} = await app.whenKnown(signal);
		const explained = !isOn(qos)
			? {off: true}
			: await app.server.ask(
					["qos", "explain"],
					{src, dst, ...request},
					signal,
				);
		// Packets go by the SL that the answer gives.
		const sl = request.sl ?? explained.sl ?? undefined;
		return {
			explained,
			routes: await app.server.ask(
				["routes", "between", src, dst],
				{sl, at: app.at},
				signal,
			),
		};
	},

	render(app, route, {explained, routes}) {
		if (isWayLost(routes))
			return [
				h("h1", {}, "Path"),
				form(app, route),
				section("The way of packets", missing(routes), elsewhere(app, route)),
			];
		return [
			h("h1", {}, "Path"),
			form(app, route),
			explained
				? section(
						"The answer to a request for a path",
						presentOnly(app),
						missing(explained) ??
							(explained.off
								? none(
										"Triad answers no requests for paths here; OpenSM does.",
									)
								: answer(route, explained)),
					)
				: null,
			routes
				? section(
						"The way of packets",
						missing(routes) ?? [
							ofThen(app, route, explained),
							ways(route, routes),
						],
					)
				: null,
			!explained &&
				none(
					"Choose two ends: names, GUIDs or LIDs of hosts; NAME:2 is a port.",
				),
		];
	},
};

function form(app, route) {
	const field = ([name, title], rest = {}) =>
		h(
			"label",
			{},
			`${title} `,
			h("input", {
				name,
				value: route.options[name] ?? "",
				"data-key": name,
				spellcheck: "false",
				autocomplete: "off",
				...rest,
			}),
		);
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const {elements} = event.target;
				document.activeElement.blur();
				app.go(
					changed(
						route,
						Object.fromEntries(
							[...ENDS, ...REQUEST].map(([name]) => [
								name,
								elements[name].value.trim(),
							]),
						),
					),
				);
			},
		},
		ENDS.map((it) => field(it, {required: true, size: 24, list: "hosts"})),
		REQUEST.map((it) => field(it, {size: 8})),
		h("button", {type: "submit", "data-key": "go"}, "Explain"),
		hostList(app),
	);
}

// What the browser proposes while somebody types.
function hostList(app) {
	const {fabric} = app.store;
	return h(
		"datalist",
		{id: "hosts"},
		fabric && fabric.names.length < 3000
			? fabric.names
					.filter((_, i) => fabric.types[i])
					.map((name) => h("option", {value: name}))
			: [],
	);
}

function answer(route, it) {
	return [
		facts([
			["from", end(route, it.source)],
			["to", end(route, it.destination)],
			[
				"rule",
				it.matched
					? rule(it.matched)
					: "none matches: the default level",
			],
			["level", it.level ?? "none"],
			["SL", isKnown(it.sl) ? count(it.sl) : NOT_KNOWN],
			["answer", it.answer],
			...pathFacts(it.path),
		]),
		it.nearly?.length
			? h(
					"details",
					{"data-key": "nearly"},
					h(
						"summary",
						{},
						`${plural(it.nearly.length, "rule")} before it did not match, by one condition alone`,
					),
					h(
						"ul",
						{},
						it.nearly.map((near) =>
							h(
								"li",
								{},
								rule(near),
								`: ${near.condition}`,
								near.not_asked_for
									? " (not asked for)"
									: "",
							),
						),
					),
				)
			: null,
		hops(route, "There", it.there, end(route, it.destination)),
		hops(route, "Back", it.back, end(route, it.source)),
	];
}

function rule(it) {
	return `rule ${it.rule}, line ${it.line}${it.use ? `: ${it.use}` : ""}`;
}

function end(route, it) {
	return [
		portLink(route, it.node_guid ?? null, it.node_name, it.port),
		` LID ${count(it.lid)}`,
	];
}

function pathFacts(it) {
	return it
		? [
				["P_Key", `0x${it.pkey.toString(16).padStart(4, "0")}`],
				["MTU", count(it.mtu)],
				["rate", `${it.rate_gbps} Gb/s`],
				["packet lifetime", count(it.packet_lifetime)],
				["reversible", yesNo(it.reversible)],
			]
		: [];
}

// 'last' is where they lead to.
function hops(route, title, list, last) {
	if (!list?.length) return null;
	return [
		h("h3", {}, title),
		h(
			"ol",
			{class: "hops"},
			list.map((it) =>
				h(
					"li",
					{},
					isKnown(it.in_port) && it.in_port
						? h(
								"span",
								{class: "quiet"},
								`in ${it.in_port} `,
							)
						: null,
					portLink(
						route,
						it.node_guid,
						it.node_name,
						it.out_port,
					),
					h(
						"span",
						{class: "quiet"},
						[
							isKnown(it.vl)
								? ` VL ${it.vl}`
								: " VL not known",
							it.mtu ? `, MTU ${it.mtu}` : "",
							it.rate_gbps
								? `, ${it.rate_gbps} Gb/s`
								: "",
							it.rate ? `, ${it.rate}` : "",
							isKnown(it.pairs)
								? `, ${count(it.pairs)} pairs share it`
								: "",
						].join(""),
					),
					isKnown(it.use_percent)
						? [" ", bar(it.use_percent)]
						: null,
				),
			),
			last && h("li", {}, h("span", {class: "quiet"}, "to "), last),
		),
	];
}

// The way of then is known while links and tables are those of now.
function ofThen(app, route, explained) {
	if (!app.at) return null;
	const isGuessed = !route.options.sl && isKnown(explained.sl);
	return h(
		"p",
		{class: "quiet"},
		"Links, LIDs and tables were those of now; how busy links were is of then.",
		isGuessed && " The SL is what a request gets now: what it got then is not kept.",
	);
}

function elsewhere(app, route) {
	const open = (href, text) => h("a", {class: "open", href}, text);
	return h(
		"p",
		{},
		open(
			sibling({options: {}}, "changes", [], {from: app.at}),
			"What changed between then and now",
		),
		" ",
		open(changed(route, {at: undefined}), "The way of now"),
	);
}

function ways(route, it) {
	const marks = (lid) =>
		sibling(route, "fabric", [], {
			path: `${route.options.src},${route.options.dst},${lid}`,
		});
	return it.paths.length
		? it.paths.map((way) =>
				h(
					"div",
					{class: "way"},
					h(
						"h3",
						{},
						"LID ",
						count(way.lid),
						way.sl === null ? "" : `, SL ${way.sl}`,
						" ",
						badge(
							way.arrives ? "ok" : "critical",
							way.arrives ? "arrives" : way.end,
						),
						" ",
						h(
							"a",
							{class: "open", href: marks(way.lid)},
							"Show in the picture",
						),
					),
					hops(route, "", way.hops, way.arrives ? placeLink(route, it.to) : null),
				),
			)
		: none("There is no path.");
}
