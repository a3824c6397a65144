// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// A node: what it is, its links, alerts about it, its device.

import {badge, facts, h, nameText, section} from "../dom.js";
import {count, NOT_KNOWN, visible} from "../format.js";
import {labelOf} from "../labels.js";
import {sibling} from "../route.js";
import {table} from "../table.js";
import {findingSince, findingText} from "../words.js";
import {eventList} from "./history.js";
import {endLink, isOn, linkColumns, missing, notKept} from "./parts.js";

export const N_EVENTS = 20;

async function loadNode(app, route, signal) {
	const [guid] = route.words;
	const {server, at} = app;
	const ask = (words, more) => server.ask(words, more, signal);
	const {devices, collect} = await app.whenKnown(signal);
	const [nodes, links, alerts, events, device, owner] = await Promise.all([
		ask(["nodes"], {node: guid, at}),
		ask(["links"], {node: guid, brief: true, at}),
		ask(["alerts"], {node: guid, at}),
		ask(["history", guid], {limit: N_EVENTS, at}),
		at || isOn(devices) ? ask(["devices", guid], {at}) : null,
		at || collect?.mode === "local" ? null : ask(["agents", "owner", guid]),
	]);
	return {nodes, links, alerts, events, device, owner};
}

export const node = {
	title: "Node",
	titleOf: (route, nameOf) => visible(nameOf(route.words[0])),
	load: loadNode,

	render(app, route, {nodes, links, alerts, events, device, owner}) {
		if (missing(nodes)) return missing(nodes);
		const it = nodes[0];
		return [
			h("h1", {}, nameText(labelOf(it.guid, it.name))),
			h(
				"p",
				{class: "controls"},
				h(
					"a",
					{
						class: "open",
						href: sibling(route, "fabric", [], {
							select: it.guid,
						}),
					},
					"Show in the picture",
				),
				h(
					"a",
					{
						class: "open",
						href: sibling(route, "history", [], {
							node: it.guid,
						}),
					},
					"Its history",
				),
				h(
					"a",
					{
						class: "open",
						href: sibling(route, "inventory", ["ports"], {
							node: it.guid,
						}),
					},
					"Its ports",
				),
			),
			facts([
				["type", it.type],
				["GUID", h("code", {}, it.guid)],
				["LID", count(it.lid)],
				["ports up", `${count(it.ports_up)} of ${count(it.ports)}`],
				["counters", it.state],
				[
					"ports that answered",
					`${count(it.ports_answered)} of ${count(it.ports_asked)}`,
				],
				it.agent !== undefined && [
					"read by agent",
					it.agent ?? "nobody",
				],
				owner?.agent && ["owner", owner.agent],
			]),
			alertList(route, alerts),
			section(
				"Links",
				missing(links) ??
					table(
						route,
						ownFirst(it.guid, linkColumns(route)),
						links.map((link) => turned(link, it.guid)),
						{
							caption: `Links of ${visible(it.name)}`,
							rowClass: (link) =>
								link.state === "down"
									? "is-down"
									: null,
							empty: "It has no link.",
						},
					),
			),
			deviceSection(device),
			section("Lately", missing(events) ?? eventList(route, events)),
		];
	},
};

// The end at this node stands first.
function turned(link, guid) {
	return link.ends[0].node_guid === guid
		? link
		: {...link, ends: [link.ends[1], link.ends[0]]};
}

function ownFirst(guid, columns) {
	return columns.map((it) =>
		it.name !== "end"
			? it
			: {
					...it,
					title: "Port",
					value: (link) => link.ends[0].port,
				},
	);
}

export function alertList(route, alerts) {
	const active = Array.isArray(alerts?.alerts)
		? alerts.alerts.filter((it) => !it.cleared)
		: [];
	return active.length
		? section(
				"Alerts",
				h(
					"ul",
					{class: "plain"},
					active.map((it) =>
						h(
							"li",
							{},
							badge(
								(
									it.severity ?? "warning"
								).toLowerCase(),
								it.severity,
							),
							" ",
							endLink(route, it.at),
							" ",
							it.findings
								.map((of) => findingText(of) + findingSince(of))
								.join("; "),
							" ",
							h(
								"a",
								{
									href: sibling(
										route,
										"alerts",
										[],
										{alert: it.id},
									),
								},
								`#${it.id}`,
							),
						),
					),
				),
			)
		: null;
}

function deviceSection(device) {
	if (!device || !device.length) return notKept("Device", device);
	return section(
		"Device",
		device.map((it) =>
			facts([
				["firmware", it.firmware ?? NOT_KNOWN],
				["PSID", it.psid ?? NOT_KNOWN],
				["part", it.part ?? NOT_KNOWN],
				["serial number", it.serial ?? NOT_KNOWN],
				[
					"highest temperature",
					it.temperature_c === null
						? NOT_KNOWN
						: `${it.temperature_c} °C`,
				],
				[
					"fans",
					(it.fans ?? [])
						.map((fan) => `${fan.rpm ?? "?"} rpm`)
						.join(", ") || "none told",
				],
				[
					"power supplies",
					(it.power_supplies ?? [])
						.map((supply) => supply.status)
						.join(", ") || "none told",
				],
			]),
		),
	);
}
