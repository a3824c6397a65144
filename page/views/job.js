// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What 'job' says of a set of hosts, as Slurm writes it, or of a job by its number, for whose hosts
// triadd asks Slurm: the links that they use, their share of each, errors, waits and congestion there.

import {facts, h, none, section} from "../dom.js";
import {bits, count, isKnown, plural, visible} from "../format.js";
import {changed, sibling} from "../route.js";
import {table} from "../table.js";
import {
	bar,
	errorsByEnd,
	fromToColumns,
	isPlugin,
	missing,
	placeLink,
	portLink,
	waitBar,
} from "./parts.js";

const N_LINKS = 1000;
const N_NAMES = 24;
// Slurm is asked about one job at a time, and answers in seconds.
const AGAIN_MS = 2000;
const N_AGAIN = 4;

export const job = {
	title: "Job",
	titleOf: (route) => (route.options.slurm ? `Job ${visible(route.options.slurm)}` : null),

	isMissing: (status) => !isPlugin(status),

	async load(app, route, signal) {
		const {hosts, slurm} = route.options;
		const status = await app.whenKnown(signal);
		return {
			asksSlurm: Boolean(status.configuration?.values?.["web.squeue"]),
			...((hosts || slurm) &&
				isPlugin(status) &&
				(await ask(
					app,
					{
						...(slurm ? {slurm} : {nodes: hosts}),
						limit: N_LINKS,
						at: app.at,
					},
					signal,
				))),
		};
	},

	render(app, route, {asksSlurm, answer, message}) {
		return [
			h(
				"h1",
				{},
				route.options.slurm
					? `The fabric of job ${visible(route.options.slurm)}`
					: "The fabric of a job",
			),
			form(app, route),
			answer ? (missing(answer) ?? result(route, answer, message)) : hint(asksSlurm),
		];
	},
};

// As tell() of the server, but asks again while others ask Slurm.
async function ask(app, options, signal) {
	let said = await app.server.tell(["job"], options, signal);
	for (let n = 0; n < N_AGAIN && options.slurm && said.answer.status === 503; n++) {
		await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
		said = await app.server.tell(["job"], options, signal);
	}
	return said;
}

function hint(asksSlurm) {
	return none(
		`Hosts as Slurm lists them: node[01-16,20]; ${
			asksSlurm
				? "or a job's number, for which Slurm is asked."
				: "'squeue -h -o %N -j JOBID' prints a job's. Where web.squeue of triad.conf is set, a job's number will do."
		}`,
	);
}

function form(app, route) {
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const text = event.target.elements.hosts.value.trim();
				const isNumber = /^\d+$/.test(text);
				document.activeElement.blur();
				app.go(
					changed(route, {
						hosts: isNumber ? undefined : text,
						slurm: isNumber ? text : undefined,
					}),
				);
			},
		},
		h(
			"label",
			{},
			"Hosts, or a job's number ",
			h("input", {
				name: "hosts",
				required: true,
				size: 40,
				value: route.options.slurm ?? route.options.hosts ?? "",
				placeholder: "node[01-16,20]",
				"data-key": "hosts",
				spellcheck: "false",
			}),
		),
		h("button", {type: "submit", "data-key": "show"}, "Show"),
	);
}

// Only of a job by its number is there something to say.
function result(route, it, message) {
	return [
		route.options.slurm &&
			message &&
			h("p", {}, visible(message)),
		facts([
			["hosts", count(it.hosts)],
			["their ports", count(it.host_ports)],
			["below", plural(it.host_switches, "switch", "switches")],
			["pairs", `${count(it.arriving_pairs)} of ${count(it.pairs)} arrive`],
			[
				"links",
				`${count(it.links_used)}; ${isKnown(it.mean_links) ? it.mean_links.toFixed(1) : "?"} on a path, ${count(it.most_links)} at most`,
			],
		]),
		it.unknown_hosts?.length
			? h(
					"p",
					{class: "bad"},
					`Not in the fabric: ${listed(it.unknown_hosts)}`,
				)
			: null,
		it.shared_names?.length
			? h(
					"p",
					{class: "could"},
					`Several nodes bear the name, and all count: ${listed(it.shared_names)}`,
				)
			: null,
		section("Alerts there", alerts(route, it.alerts)),
		section("Congestion there", congestion(route, it.congestion)),
		section(
			it.links.length < it.links_used
				? `Its links, the first ${count(it.links.length)} of ${count(it.links_used)}`
				: "Its links",
			table(route, columns(route), it.links, {
				id: "links",
				caption: "Links that the hosts use, the most used first",
				empty: "They use none.",
			}),
		),
	];
}

function listed(names) {
	const text = names.slice(0, N_NAMES).map(visible).join(", ");
	return names.length > N_NAMES ? `${text} and ${count(names.length - N_NAMES)} more` : text;
}

function alerts(route, rows) {
	return rows?.length
		? h(
				"ul",
				{class: "plain"},
				rows.map((it) =>
					h(
						"li",
						{},
						h(
							"a",
							{href: sibling(route, "alerts", [], {alert: it.id})},
							`Alert ${it.id}`,
						),
						" ",
						placeLink(route, it.at),
						` ${it.what}`,
					),
				),
			)
		: none("None.");
}

function congestion(route, rows) {
	return rows?.length
		? h(
				"ul",
				{class: "plain"},
				rows.map((it) =>
					h(
						"li",
						{},
						it.node_guid
							? portLink(route, it.node_guid, it.node_name, it.port)
							: placeLink(route, it.at ?? it.root),
						` ${[it.kind, it.part, isKnown(it.loss_gbps) ? bits(it.loss_gbps * 1e9) : null].filter(Boolean).join(", ")}`,
					),
				),
			)
		: none("None, as far as waits are known.");
}

function columns(route) {
	return [
		...fromToColumns(route),
		{
			name: "pairs",
			title: "Its pairs",
			number: true,
			value: (it) => it.pairs,
			cell: (it) => count(it.pairs),
		},
		{
			name: "share",
			title: "Of all there",
			number: true,
			value: (it) => it.share_percent,
			cell: (it) => bar(it.share_percent),
		},
		{
			name: "use",
			title: "Use",
			number: true,
			value: (it) => it.use_percent,
			cell: (it) => bar(it.use_percent),
		},
		{
			name: "wait",
			title: "Wait",
			number: true,
			value: (it) => it.wait_percent,
			cell: (it) => waitBar(it.wait_percent, it.wait_at_least),
		},
		{
			name: "errors",
			title: "Errors",
			number: true,
			value: (it) => it.errors,
			cell: (it) =>
				errorsByEnd([
					{
						guid: it.node_guid,
						name: it.node_name,
						port: it.port,
						n: it.port_errors,
					},
					{
						guid: it.to_node_guid,
						name: it.to_node_name,
						port: it.to_port,
						n: it.to_port_errors,
					},
				]),
		},
	];
}
