// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'agents' says: who reads counters, and how each of them does.

import {badge, facts, h, none} from "../dom.js";
import {count, ms, octets} from "../format.js";
import {table} from "../table.js";
import {missing} from "./parts.js";

const SEVERITIES = {
	alive: "ok",
	draining: "warning",
	silent: "warning",
	foreign: "warning",
	dead: "critical",
};

export const agents = {
	title: "Agents",
	isMissing: (status) => status.collect?.mode === "local",

	async load(app, _route, signal) {
		const {collect} = await app.whenKnown(signal);
		return collect?.mode === "local"
			? {isAlone: true}
			: {answer: await app.server.ask(["agents"], {at: app.at}, signal)};
	},

	render(app, route, {answer, isAlone}) {
		if (isAlone)
			return [
				h("h1", {}, "Agents"),
				none("None: all counters are read here."),
			];
		return [
			h("h1", {}, "Agents"),
			missing(answer) ?? [
				facts([
					["nodes", count(answer.nodes)],
					[
						"nodes that nobody reads",
						count(answer.nodes_without_owner),
					],
					[
						"nodes without a common partition",
						count(answer.nodes_apart),
					],
					["nodes not seen", count(answer.nodes_not_seen)],
				]),
				table(
					route,
					[
						{
							name: "name",
							title: "Agent",
							value: (it) => it.name,
							cell: (it) => [
								h("bdi", {}, it.name),
								it.self ? " (this one)" : "",
							],
						},
						{
							name: "state",
							title: "State",
							value: (it) => it.state,
							cell: (it) =>
								badge(
									SEVERITIES[it.state] ??
										"none",
									it.state,
								),
						},
						{
							name: "nodes",
							title: "Nodes",
							number: true,
							value: (it) => it.nodes_owned,
							cell: (it) => count(it.nodes_owned),
						},
						{
							name: "ports",
							title: "Ports",
							number: true,
							value: (it) => it.ports,
							cell: (it) => count(it.ports),
						},
						{
							name: "unanswered",
							title: "Unanswered",
							number: true,
							value: (it) => it.ports_unanswered,
							cell: (it) =>
								count(it.ports_unanswered),
						},
						{
							name: "lag",
							title: "Age",
							number: true,
							value: (it) => it.lag_ms,
							cell: (it) =>
								it.lag_ms === null
									? null
									: ms(it.lag_ms),
						},
						{
							name: "octets",
							title: "Reports",
							number: true,
							value: (it) => it.octets_per_s,
							cell: (it) =>
								it.octets_per_s === null
									? null
									: `${octets(it.octets_per_s)}/s`,
						},
						{
							name: "address",
							title: "Address",
							value: (it) => it.address,
						},
						{
							name: "guid",
							title: "GUID",
							value: (it) => it.guid,
							cell: (it) => h("code", {}, it.guid),
						},
					],
					answer.agents,
					{caption: "Agents", empty: "There is no agent."},
				),
			],
		];
	},
};
