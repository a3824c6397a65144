// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'congestion' says: where it begins, who waits because of that, and since when.

import {h, none, section} from "../dom.js";
import {bits, count, plural, time} from "../format.js";
import {changed} from "../route.js";
import {table} from "../table.js";
import {column, few, isPlugin, missing, portColumn, portLink} from "./parts.js";

const TITLE = "Where congestion begins";
// Of roots, and of the hosts and ports of each: at first, which are all roots, and when somebody
// wants all.
const SOME = 64,
	ALL = 10000;

// {off}: it is not looked for; null: this Triad explains none.  An image has what was answered
// by default.
export async function loadRoots(app, route, status, signal) {
	if (!isPlugin(status)) return null;
	if (!app.at && !status.configuration?.values?.["congestion.enabled"]) return {off: true};
	const limit = route.options.waiting === "all" ? ALL : SOME;
	return app.server.ask(["congestion"], app.at ? {at: app.at} : {limit}, signal);
}

export function rootsSection(route, it) {
	if (it.off) return section(TITLE, none("Not looked for: congestion.enabled of triad.conf is false."));
	if (missing(it)) return section(TITLE, missing(it));
	if (it.waiting_ports === null)
		return section(TITLE, none("Not known yet: a port's waits are known after two readings."));
	const remarks = remarksOf(it);
	if (!it.roots.length)
		return section(
			TITLE,
			none(`${isAllKnown(it) ? "Nowhere" : "Nowhere, as far as is known"}: ${remarks}.`),
		);
	const isCut = it.roots.some((root) => nHosts(root) > root.hosts.length);
	return section(
		TITLE,
		h("p", {}, `${remarks}.`),
		table(route, columns(route), it.roots, {id: "roots", caption: TITLE}),
		isCut &&
			!route.options.waiting &&
			!route.options.at &&
			h(
				"p",
				{class: "more"},
				`Of each root the first ${count(SOME)} hosts are here. `,
				h(
					"a",
					{href: changed(route, {waiting: "all"}), "data-key": "waiting"},
					"Ask for all",
				),
			),
	);
}

function isAllKnown(it) {
	return it.known_ports >= it.linked_ports;
}

// How many ports wait, and what is not known of that.
function remarksOf(it) {
	const n = it.waiting_ports;
	return [
		`${plural(n, "port")} ${n === 1 ? "waits" : "wait"}`,
		!isAllKnown(it) &&
			`of ${count(it.known_ports)} of ${count(it.linked_ports)} whose waits are known`,
		it.unexplained_ports &&
			`${count(it.unexplained_ports)} of them because of none that was found`,
		it.more_roots && `${plural(it.more_roots, "root")} that cost less are not listed`,
		it.too_many_pairs && "who sends to whom is not estimated, as too many hosts send",
	]
		.filter(Boolean)
		.join("; ");
}

function columns(route) {
	return [
		portColumn(route, {name: "root", title: "Root"}),
		column("vl", "VL", {number: true, wide: true}),
		column("kind", "Kind"),
		{
			name: "hosts",
			title: "Who waits",
			value: nHosts,
			cell: (root) =>
				few(
					root.hosts,
					(it) => [
						portLink(route, it.node_guid, it.node_name, it.port),
						h("span", {class: "quiet"}, ` ${it.role}`),
					],
					{n: nHosts(root), key: `hosts ${keyOf(root)}`},
				),
		},
		column("loss_gbps", "Costs at most", {
			number: true,
			cell: (root) => bits(root.loss_gbps * 1e9),
		}),
		column("since", "Since", {cell: since}),
		column("waiting_ports", "Ports wait", {
			number: true,
			cell: (root) =>
				few(
					root.waiting,
					(it) => portLink(route, it.node_guid, it.node_name, it.port),
					{
						n: root.waiting_ports,
						first: 0,
						more: count,
						key: `ports ${keyOf(root)}`,
					},
				),
		}),
		column("contributors", "Contributors", {number: true, wide: true}),
		column("victims", "Victims", {number: true, wide: true}),
		column("undecided", "Undecided", {number: true, wide: true}),
		column("advice", "What to do"),
	];
}

function since(root) {
	const isLate = root.since_at_least;
	return [
		isLate && "at least since ",
		h(
			"span",
			{
				class: "nowrap",
				title: isLate ? "When its port was read first, it was there." : null,
			},
			time(root.since),
		),
	];
}

function nHosts(root) {
	return root.contributors + root.victims + root.undecided;
}

function keyOf(root) {
	return `${root.node_guid} ${root.port} ${root.vl}`;
}
