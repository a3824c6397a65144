// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// QoS: whether Triad answers requests for paths, and the QoS tables of ports: as the policy
// says, as the SM knows them.

import {badge, facts, h, none, section} from "../dom.js";
import {count, visible} from "../format.js";
import {changed} from "../route.js";
import {table} from "../table.js";
import {isOn, missing, nodeField, nodeLink, portColumn} from "./parts.js";

const PAGE = 300;

// 'qos tables' asks the ports by MADs: once for each time that somebody wants it, and never
// because a view is shown again.
const asked = {key: null, rows: null};

async function askPorts(app, route, signal) {
	const {node, ask} = route.options;
	const {at} = app;
	if (!ask) return null;
	const key = `${ask} ${node} ${at}`;
	if (asked.key !== key) {
		asked.rows = await app.server.ask(
			["qos", "tables"],
			{node: node || undefined, limit: PAGE, at},
			signal,
		);
		asked.key = key;
	}
	return asked.rows;
}

export const qos = {
	title: "QoS",
	isMissing: (status) => !status.qos,

	async load(app, route, signal) {
		const ask = (words, more) => app.server.ask(words, more, signal);
		const {at} = app;
		const status = await app.server.get(["status"], {at}, signal);
		const hasTables = isOn(status.qos_tables),
			hasRequests = isOn(status.qos);
		const [plan, rows, nodes, clients] = await Promise.all([
			hasTables ? ask(["qos", "plan"], at ? {at} : {limit: PAGE}) : null,
			hasTables ? askPorts(app, route, signal) : null,
			status.qos?.policy_loaded
				? ask(["qos", "nodes"], at ? {at} : {limit: PAGE})
				: null,
			hasRequests ? ask(["qos", "clients"], {at}) : null,
		]);
		return {
			qos: status.qos,
			tables: status.qos_tables,
			hasTables,
			plan,
			rows,
			nodes,
			clients,
		};
	},

	render(app, route, data) {
		const {hasTables, plan, rows, nodes, clients} = data;
		return [
			h("h1", {}, "QoS"),
			state(data),
			plan && planSection(route, plan),
			hasTables &&
				section(
					"Tables of ports",
					filter(app, route),
					rows && (missing(rows) ?? tablesOf(route, rows)),
				),
			clients &&
				section(
					"Who asks most for paths",
					missing(clients) ?? clientsOf(route, clients),
				),
			nodes &&
				section(
					"Nodes in no port group of the policy",
					missing(nodes) ?? nodesOf(route, nodes),
				),
		];
	},
};

function state({qos: it, tables}) {
	if (!it) return none("This process has no QoS: OpenSM with the plugin has.");
	return facts([
		["requests for paths", it.state],
		["policy", it.policy ? h("code", {}, visible(it.policy)) : "none"],
		it.policy && [
			"rules, levels, groups",
			`${count(it.rules)}, ${count(it.levels)}, ${count(it.groups)}`,
		],
		(isOn(it) || it.received > 0) && ["answered", `${count(it.answered)} of ${count(it.received)}`],
		["tables", tables?.state ?? "not known"],
		isOn(tables) && [
			"tables that differ",
			`${count(tables.different)} at ${count(tables.different_ports)} ports`,
		],
		it.problem && ["trouble", it.problem],
		tables?.problem && ["trouble of tables", tables.problem],
	]);
}

function planSection(route, plan) {
	if (missing(plan)) return section("Plan", missing(plan));
	return section(
		"Plan",
		h(
			"p",
			{},
			`${count(plan.changed)} of ${count(plan.tables)} tables would change, at ${count(plan.changed_ports)} of ${count(plan.ports)} ports, by ${count(plan.smps)} SMPs. Credit loops: ${plan.credit}.`,
		),
		(plan.findings ?? []).length
			? h(
					"ul",
					{},
					plan.findings.map((it) =>
						h(
							"li",
							{},
							badge(
								it.error
									? "critical"
									: "warning",
								it.error ? "mistake" : "note",
							),
							" ",
							it.text,
						),
					),
				)
			: null,
		(plan.changes ?? []).length
			? table(
					route,
					[
						portColumn(route),
						{
							name: "table",
							title: "Table",
							value: (it) => it.table,
							cell: tableName,
						},
						{
							name: "from",
							title: "Now",
							cell: (it) =>
								h("code", {}, it.from ?? "–"),
						},
						{
							name: "to",
							title: "Then",
							cell: (it) =>
								h("code", {}, it.to ?? "–"),
						},
						{
							name: "line",
							title: "Line",
							number: true,
							value: (it) => it.line,
							cell: (it) => it.line || "OpenSM's",
						},
					],
					plan.changes,
					{id: "plan", caption: "Tables that would change"},
				)
			: null,
	);
}

function tableName(it) {
	return it.in_first === undefined
		? it.table
		: `${it.table} in ${it.in_first}${it.in_last === it.in_first ? "" : `–${it.in_last}`}`;
}

function filter(app, route) {
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				document.activeElement.blur();
				app.go(
					changed(route, {
						node: event.target.elements.node.value.trim(),
						ask: Date.now(),
					}),
				);
			},
		},
		nodeField(route),
		h(
			"button",
			{type: "submit", "data-key": "show"},
			app.at ? "Show the tables" : "Ask the ports",
		),
	);
}

function tablesOf(route, rows) {
	return [
		table(
			route,
			[
				portColumn(route),
				{
					name: "table",
					title: "Table",
					value: (it) => it.table,
					cell: tableName,
				},
				{
					name: "policy",
					title: "Desired",
					cell: (it) => h("code", {}, it.policy ?? "–"),
				},
				{
					name: "sm",
					title: "As the SM knows it",
					cell: (it) =>
						it.sm === it.policy
							? "the same"
							: h("code", {}, it.sm ?? "–"),
				},
				{
					name: "answers",
					title: "As the port answers",
					cell: (it) =>
						it.port_answers === null
							? "not queried"
							: it.port_answers === it.policy
								? "the same"
								: h(
										"code",
										{},
										it.port_answers,
									),
				},
				{
					name: "agrees",
					title: "Agrees",
					value: (it) => (it.agrees ? 1 : 0),
					cell: (it) =>
						badge(
							it.agrees ? "ok" : "warning",
							it.agrees ? "yes" : "no",
						),
				},
			],
			rows,
			{id: "t", caption: "QoS tables", empty: "No port has desired tables."},
		),
		rows.length >= PAGE &&
			h(
				"p",
				{class: "more"},
				`The first ${count(PAGE)}: name a node to see others.`,
			),
	];
}

function clientsOf(route, rows) {
	return table(
		route,
		[
			{
				name: "node",
				title: "Node",
				value: (it) => it.node_name,
				cell: (it) =>
					nodeLink(route, it.node_guid, it.node_name ?? "–"),
			},
			{
				name: "lid",
				title: "LID",
				number: true,
				value: (it) => it.lid,
			},
			{
				name: "requests",
				title: "Requests",
				number: true,
				value: (it) => it.requests,
				cell: (it) => count(it.requests),
			},
			{
				name: "without_path",
				title: "Without a path",
				number: true,
				value: (it) => it.without_path,
				cell: (it) => count(it.without_path),
			},
		],
		rows,
		{id: "c", caption: "Who asks for paths", empty: "Nobody yet."},
	);
}

function nodesOf(route, rows) {
	return rows.length
		? h(
				"ul",
				{class: "columns"},
				rows.map((it) =>
					h(
						"li",
						{},
						nodeLink(route, it.node_guid, it.node_name),
					),
				),
			)
		: none("None.");
}
