// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Which SM is master and may enforce, why, who the members are; and what the port manager
// would do.

import {badge, facts, h, none, section} from "../dom.js";
import {count, ms, NOT_KNOWN, time, yesNo} from "../format.js";
import {table} from "../table.js";
import {isOn, missing, portColumn} from "./parts.js";

const PAGE = 300;

export const election = {
	title: "Election and ports",
	isMissing: (status) => !status.election && !status.ports,

	async load(app, _route, signal) {
		const {at} = app;
		const ask = (words, more) => app.server.ask(words, more, signal);
		const {ports, election: its} = await app.server.get(["status"], {at}, signal);
		const hasPorts = isOn(ports);
		const [it, plan, list, history] = await Promise.all([
			isOn(its) ? ask(["election"], {at}) : {enabled: false},
			hasPorts ? ask(["port", "plan"], at ? {at} : {limit: PAGE}) : null,
			hasPorts ? ask(["port", "list"], {limit: PAGE, at}) : null,
			hasPorts ? ask(["port", "history"], {limit: 50, at}) : null,
		]);
		return {it, ports, plan, list, history};
	},

	render(_app, route, {it, ports, plan, list, history}) {
		return [
			h("h1", {}, "Election and ports"),
			section(
				"Election",
				missing(it) ??
					(it.enabled
						? elected(route, it)
						: none(
								"Off: OpenSM elects the master by itself.",
							)),
			),
			plan
				? section("Plan of ports", missing(plan) ?? planOf(route, plan))
				: section(
						"Ports",
						none(
							`The port manager is ${ports?.state ?? "not here"}.`,
						),
					),
			list &&
				section(
					"Ports",
					missing(list) ??
						portsOf(
							route,
							list.ports,
							"l",
							"No port is expected.",
						),
				),
			history &&
				section(
					"What was done",
					missing(history) ?? done(route, history),
				),
		];
	},
};

function elected(route, it) {
	return [
		facts([
			["state", it.state ?? NOT_KNOWN],
			["master", code(it.master)],
			["has the lease", code(it.holder)],
			["term", count(it.term)],
			[
				"may enforce",
				badge(it.may_enforce ? "ok" : "off", yesNo(it.may_enforce)),
			],
			it.may_enforce && ["for another", ms(it.deadline_ms)],
			it.reasons?.length
				? [
						"why not",
						it.reasons
							.map((word) =>
								word.replaceAll("_", " "),
							)
							.join(", "),
					]
				: null,
			[
				"quorum",
				`${yesNo(it.quorate)}: ${count(it.members_here)} members here, ${count(it.votes_needed)} votes needed`,
			],
			["SM priority", count(it.sm_priority)],
			["external check", it.check],
			it.trouble && ["trouble", it.trouble],
			it.sm_trouble && ["trouble of this SM", it.sm_trouble],
		]),
		table(
			route,
			[
				{
					name: "id",
					title: "Member",
					value: (m) => m.id,
					cell: (m) => [code(m.id), m.self ? " (this one)" : ""],
				},
				{name: "state", title: "State", value: (m) => m.state},
				{
					name: "priority",
					title: "Priority",
					value: (m) => m.priority,
					cell: (m) => m.priority_text ?? count(m.priority),
				},
				{
					name: "able",
					title: "Able",
					value: (m) => (m.able ? 1 : 0),
					cell: (m) => yesNo(m.able),
				},
				{
					name: "vote",
					title: "Vote",
					value: (m) => (m.vote ? 1 : 0),
					cell: (m) => (m.witness ? "witness" : yesNo(m.vote)),
				},
				{
					name: "blacklisted",
					title: "Blacklisted",
					value: (m) => (m.blacklisted ? 1 : 0),
					cell: (m) =>
						m.blacklisted ? badge("warning", "yes") : "no",
				},
				{
					name: "term",
					title: "Term",
					number: true,
					value: (m) => m.term,
				},
				{
					name: "heard",
					title: "Heard",
					number: true,
					value: (m) => m.heard_ms,
					cell: (m) =>
						m.self
							? "–"
							: m.heard_ms === null
								? "never"
								: `${ms(m.heard_ms)} ago`,
				},
			],
			it.members,
			{id: "m", caption: "Members"},
		),
	];
}

function code(guid) {
	return guid ? h("code", {}, guid) : "nobody";
}

function planOf(route, it) {
	return [
		facts([
			["mode", it.mode],
			["generation", count(it.generation)],
			["may act", yesNo(it.may_act)],
			[
				"to disable, enable, test",
				`${count(it.disable)}, ${count(it.enable)}, ${count(it.test)}`,
			],
			["stopped by a guard", count(it.guarded)],
			it.stopped && [
				"stopped",
				"more unapproved items than port.max_actions",
			],
			it.trouble && ["trouble", it.trouble],
		]),
		portsOf(route, it.ports, "p", "All ports are as expected."),
	];
}

function portsOf(route, rows, id, empty) {
	return table(
		route,
		[
			portColumn(route),
			{
				name: "expected",
				title: "Expected",
				value: (it) => it.expected,
			},
			{
				name: "found",
				title: "Found",
				value: (it) => it.found,
				cell: (it) =>
					it.failed ? badge("critical", "failed") : it.found,
			},
			{
				name: "action",
				title: "Action",
				value: (it) => it.action ?? null,
			},
			{
				name: "agenda",
				title: "When",
				value: (it) => it.agenda ?? null,
			},
			{
				name: "guard",
				title: "Guard",
				value: (it) => it.guard?.replaceAll("_", " ") ?? null,
			},
			{
				name: "text",
				title: "Why",
				value: (it) => it.text ?? null,
			},
		],
		rows,
		{id, caption: "Ports", empty},
	);
}

function done(route, rows) {
	return table(
		route,
		[
			{
				name: "time",
				title: "Time",
				value: (it) => it.time,
				cell: (it) => time(it.time),
			},
			portColumn(route),
			{name: "deed", title: "Action", value: (it) => it.deed},
			{
				name: "outcome",
				title: "Outcome",
				value: (it) => it.outcome,
			},
			{
				name: "text",
				title: "Why",
				value: (it) => it.text ?? it.reason ?? null,
			},
			{
				name: "term",
				title: "Term",
				number: true,
				value: (it) => it.term,
			},
			{name: "by", title: "By", cell: (it) => code(it.by)},
		],
		rows,
		{id: "h", caption: "What was done to ports", empty: "Nothing yet."},
	);
}
