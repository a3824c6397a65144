// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What is there: nodes, ports, cables and modules, firmware and serial numbers; filtered, in
// groups by names, with the columns that somebody wants, and as CSV.  A group says which of it are
// not as the others: 'in' of an address is a group, 'only' a column and its value there.

import {csvOf, download, filtered} from "../csv.js";
import {h, none} from "../dom.js";
import {count, isKnown, plural, span, timeOfMs, visible} from "../format.js";
import {grouped, groupOf, valuesOf} from "../groups.js";
import {labelOf} from "../labels.js";
import {changed, sibling} from "../route.js";
import {sorted} from "../sort.js";
import {table} from "../table.js";
import {column, missing, nodeLink, portColumn, portLink, timeColumn} from "./parts.js";

const NOT_KNOWN_WORDS = "not known";
const MOST_VALUES = 8; // of a column, in the row of a group
const FEW_ODD = 3; // that are named there

const number = (name, title, rest = {}) => column(name, title, {number: true, ...rest});

const nameColumn = (route) => ({
	name: "name",
	title: "Node",
	value: (it) => labelOf(it.guid ?? it.node_guid, it.name ?? it.node_name),
	cell: (it) => nodeLink(route, it.guid ?? it.node_guid, it.name ?? it.node_name),
});
const farColumn = (route, guid, name, port) => ({
	name: "far_end",
	title: "Far end",
	value: (it) =>
		it[name] && `${labelOf(it[guid], it[name])}${isKnown(it[port]) ? `:${it[port]}` : ""}`,
	cell: (it) => it[name] && portLink(route, it[guid], it[name], it[port]),
});

// 'few' are the columns that are shown unless others are chosen.
const KINDS = {
	nodes: {
		title: "Nodes",
		command: ["nodes"],
		few: ["name", "type", "state", "ports_up", "ports", "guid"],
		nameOf: (it) => it.name,
		columns: (route) => [
			nameColumn(route),
			column("type", "Type"),
			column("state", "State"),
			number("ports_up", "Ports up"),
			number("ports", "Ports"),
			column("guid", "GUID", {wide: true}),
			number("lid", "LID", {wide: true}),
			column("agent", "Agent", {wide: true}),
		],
	},
	ports: {
		title: "Ports",
		command: ["ports"],
		few: ["port", "state", "rate", "far_end", "last_down"],
		nameOf: (it) => it.node_name,
		states: ["free", "disabled", "polling", "training", "silent", "init", "active"],
		columns: (route) => [
			{
				...portColumn(route),
				value: (it) => `${labelOf(it.node_guid, it.node_name)}:${it.port}`,
			},
			column("state", "State"),
			column("rate", "Rate"),
			{
				...farColumn(route, "far_guid", "far_name", "far_port"),
				cell: (it) =>
					it.far_name && [
						portLink(route, it.far_guid, it.far_name, it.far_port),
						it.far_end_is_past ? " (was)" : "",
					],
			},
			timeColumn("last_down", "Last down"),
			column("node_type", "Type", {wide: true}),
			number("lid", "LID", {wide: true}),
			column("port_guid", "Port GUID", {wide: true}),
			column("node_guid", "Node GUID", {wide: true}),
		],
	},
	cables: {
		title: "Cables and modules",
		command: ["cables"],
		needs: "devices.enabled",
		few: ["port", "module", "vendor", "part", "serial", "length_m", "temperature_c"],
		nameOf: (it) => it.node_name,
		columns: (route) => [
			{
				...portColumn(route),
				value: (it) => `${labelOf(it.node_guid, it.node_name)}:${it.port}`,
			},
			farColumn(route, null, "remote_node_name", "remote_port"),
			column("module", "Plug"),
			column("identifier", "Form"),
			column("technology", "Technology"),
			column("vendor", "Vendor"),
			column("part", "Part"),
			column("serial", "Serial"),
			column("revision", "Revision", {wide: true}),
			column("date", "Made", {wide: true}),
			number("length_m", "Metres"),
			number("temperature_c", "°C"),
			number("least_rx_dbm", "Least light, dBm", {wide: true}),
			timeColumn("last_read", "Read"),
		],
	},
	devices: {
		title: "Devices",
		command: ["devices"],
		needs: "devices.enabled",
		few: ["name", "product", "firmware", "serial", "temperature_c", "state"],
		nameOf: (it) => it.node_name,
		columns: (route) => [
			nameColumn(route),
			column("node_type", "Type"),
			column("product", "Product"),
			column("firmware", "Firmware"),
			column("psid", "PSID"),
			column("part", "Part"),
			column("serial", "Serial"),
			column("hardware_revision", "Revision", {wide: true}),
			number("temperature_c", "°C"),
			number("uptime_s", "Up for", {cell: (it) => isKnown(it.uptime_s) && span(it.uptime_s)}),
			column("state", "State"),
			timeColumn("last_read", "Read"),
			column("node_guid", "GUID", {wide: true}),
		],
	},
};

function valueOf(status, key) {
	return status.configuration?.values?.[key];
}

function kindOf(route) {
	return KINDS[route.words[0]] ? route.words[0] : "nodes";
}

function chosenColumns(route, kind, all) {
	const names = route.options.cols?.split(",") ?? kind.few;
	const some = all.filter((it) => names.includes(it.name));
	return some.length ? some : all;
}

export const inventory = {
	title: "Inventory",
	isStill: true, // all ports of a large fabric are half a megabyte

	async load(app, route, signal) {
		const {node, state} = route.options;
		const name = kindOf(route);
		// What is not read is not asked for.
		if (!app.at && KINDS[name].needs && !valueOf(await app.whenKnown(signal), KINDS[name].needs))
			return {answer: [], ms: Date.now()};
		const answer = await app.server.ask(
			KINDS[name].command,
			{
				at: app.at,
				node: name === "ports" ? node || undefined : undefined,
				state: name === "ports" ? state || undefined : undefined,
			},
			signal,
		);
		return {answer, ms: Date.now()};
	},

	render(app, route, {answer, ms}) {
		const name = kindOf(route);
		const kind = KINDS[name];
		const all = kind.columns(route);
		const columns = chosenColumns(route, kind, all);
		const order = route.options.sort ?? columns[0].name;
		const rows = Array.isArray(answer)
			? sorted(chosenRows(route, kind, filtered(answer, all, route.options.find)), columns, order)
			: [];
		return [
			h("h1", {}, "Inventory"),
			tabs(route, name),
			controls(app, route, kind, () =>
				download(`triad-${name}.csv`, csvOf(columns, rows)),
			),
			columnChoice(route, kind, all, columns),
			missing(answer) ?? [
				h(
					"p",
					{class: "quiet"},
					rows.length === answer.length
						? plural(rows.length, "row")
						: `${plural(rows.length, "row")} of ${count(answer.length)}`,
					name === "ports" && route.options.node ? ofNode(route, answer) : "",
					ofGroup(route, all),
					app.at ? "" : `, asked for at ${timeOfMs(ms).slice(11)} UTC`,
				),
				route.options.group === "1"
					? groupTable(route, kind, rows)
					: table(route, columns, rows, {
							caption: kind.title,
							empty: answer.length
								? "Nothing fits the filter."
								: nothing(name),
						}),
			],
		];
	},
};

// "firmware=1.2" of an address; where nothing is behind the "=", it is not known.
function onlyOf(route) {
	const [, name, value] = /^(\w+)=(.*)$/s.exec(route.options.only ?? "") ?? [];
	return name ? {name, value} : null;
}

function chosenRows(route, kind, rows) {
	const only = onlyOf(route);
	return rows.filter(
		(it) =>
			(!route.options.in || groupOf(kind.nameOf(it) ?? "") === route.options.in) &&
			(!only || String(it[only.name] ?? "") === only.value),
	);
}

function ofGroup(route, all) {
	const only = onlyOf(route);
	if (!route.options.in && !only) return "";
	const title = only && (all.find((it) => it.name === only.name)?.title ?? only.name);
	return [
		route.options.in ? [", of ", groupName(route.options.in)] : "",
		only ? [`, with ${title.toLowerCase()} `, h("b", {}, visible(only.value || NOT_KNOWN_WORDS))] : "",
		" alone. ",
		h(
			"a",
			{href: changed(route, {in: undefined, only: undefined}), "data-key": "all of them"},
			"All",
		),
	];
}

function groupName(group) {
	return h("bdi", {class: "name"}, `${visible(group)}…`);
}

function ofNode(route, rows) {
	const {node} = route.options;
	return [
		" of ",
		nodeLink(route, node, rows[0]?.node_name ?? node),
		" alone. ",
		h("a", {href: changed(route, {node: undefined}), "data-key": "all nodes"}, "Of all nodes"),
	];
}

function nothing(name) {
	return name === "cables" || name === "devices"
		? "Nothing is known of them: devices.enabled of triad.conf has them read."
		: "There is none.";
}

function tabs(route, name) {
	return h(
		"p",
		{class: "controls"},
		h(
			"span",
			{class: "group", role: "group", "aria-label": "What is listed"},
			Object.entries(KINDS).map(([it, {title}]) =>
				h(
					"a",
					{
						class: "toggle",
						role: "button",
						"aria-pressed": String(it === name),
						"data-key": it,
						href: sibling(route, "inventory", [it], {
							find: route.options.find,
							group: route.options.group,
							in: route.options.in,
						}),
					},
					title,
				),
			),
		),
	);
}

function controls(app, route, kind, save) {
	const isGrouped = route.options.group === "1";
	return h(
		"form",
		{
			class: "controls",
			onsubmit: (event) => {
				event.preventDefault();
				const {find, state} = event.target.elements;
				document.activeElement.blur();
				const next = changed(route, {find: find.value.trim(), state: state?.value});
				if (next === location.hash) app.askAgain();
				else app.go(next);
			},
		},
		h(
			"label",
			{},
			"Filter ",
			h("input", {
				name: "find",
				value: route.options.find ?? "",
				placeholder: "words; !word: without it",
				"data-key": "find",
				spellcheck: "false",
			}),
		),
		kind.states &&
			h(
				"label",
				{},
				"State ",
				h(
					"select",
					{
						name: "state",
						"data-key": "state",
						onchange: (event) => event.target.form.requestSubmit(),
					},
					["", ...kind.states].map((it) =>
						h(
							"option",
							{value: it, selected: it === (route.options.state ?? "")},
							it || "all",
						),
					),
				),
			),
		h("button", {type: "submit", "data-key": "show"}, "Show"),
		h(
			"a",
			{
				class: "toggle",
				role: "button",
				"aria-pressed": String(isGrouped),
				"data-key": "group",
				title: "Groups by what names begin with: racks, islands, kinds of switches",
				href: changed(route, {group: isGrouped ? undefined : "1"}),
			},
			"In groups",
		),
		h("button", {type: "button", "data-key": "csv", onclick: save}, "Save as CSV"),
	);
}

function columnChoice(route, kind, all, columns) {
	const shown = new Set(columns.map((it) => it.name));
	const others = (name) =>
		all
			.map((it) => it.name)
			.filter((it) => shown.has(it) !== (it === name))
			.join(",");
	return h(
		"details",
		{"data-key": "columns"},
		h("summary", {"data-key": "columns of the table"}, "Columns"),
		h(
			"p",
			{class: "controls"},
			all.map((it) =>
				h(
					"a",
					{
						class: "toggle",
						role: "button",
						"aria-pressed": String(shown.has(it.name)),
						"data-key": `column ${it.name}`,
						href: changed(route, {cols: others(it.name)}),
					},
					it.title,
				),
			),
			h("a", {href: changed(route, {cols: undefined}), "data-key": "usual"}, "As usual"),
		),
	);
}

// The values of a column in a group, the most frequent first: each is a way to those that have it,
// and few of them are named at once.
function valuesCell(route, kind, name, {group, rows}) {
	const values = valuesOf(rows, (it) => it[name] ?? null);
	const way = (value) =>
		changed(route, {group: undefined, in: group, only: `${name}=${value ?? ""}`});
	if (values.length === 1) return visible(values[0].value ?? NOT_KNOWN_WORDS);
	return values.slice(0, MOST_VALUES).map(({value, rows: of}, k) => [
		k ? ", " : "",
		h(
			"a",
			{href: way(value), "data-key": `${group} ${name} ${value}`},
			visible(value ?? NOT_KNOWN_WORDS),
		),
		` ×\u202f${count(of.length)}`,
		k && of.length <= FEW_ODD ? [" (", named(route, kind, of), ")"] : "",
		k === MOST_VALUES - 1 && values.length > MOST_VALUES
			? ` and ${plural(values.length - MOST_VALUES, "more value")}`
			: "",
	]);
}

function named(route, kind, rows) {
	return rows.map((it, k) => [
		k ? ", " : "",
		kind === KINDS.nodes || kind === KINDS.devices
			? nodeLink(route, it.guid ?? it.node_guid, it.name ?? it.node_name, `odd ${it.node_guid}`)
			: portLink(route, it.node_guid, it.node_name, it.port),
	]);
}

// How many are in which state, and for nodes how many of their ports are up.
function groupTable(route, kind, rows) {
	const sum = (of, name) => of.reduce((total, it) => total + (it[name] ?? 0), 0);
	// What is known of some only is so much at least.
	const sumText = (of, name) =>
		`${of.every((it) => isKnown(it[name])) ? "" : "≥ "}${count(sum(of, name))}`;
	// Sorted by how many values there are: what is not alike comes together.
	const values = (name, title) => ({
		name,
		title,
		value: (it) => valuesOf(it.rows, (row) => row[name] ?? null).length,
		cell: (it) => valuesCell(route, kind, name, it),
	});
	const columns = [
		{
			name: "group",
			title: "Names",
			value: (it) => it.group,
			cell: (it) =>
				h(
					"a",
					{href: changed(route, {group: undefined, in: it.group})},
					groupName(it.group),
				),
		},
		{name: "n", title: "How many", number: true, value: (it) => it.rows.length},
		kind === KINDS.nodes && {
			name: "up",
			title: "Ports up",
			number: true,
			value: (it) => sum(it.rows, "ports_up"),
			cell: (it) => `${sumText(it.rows, "ports_up")} of ${sumText(it.rows, "ports")}`,
		},
		kind.columns(route).some((it) => it.name === "state") && values("state", "State"),
		kind === KINDS.devices && values("firmware", "Firmware"),
		(kind === KINDS.devices || kind === KINDS.cables) && values("part", "Part number"),
	];
	const groups = grouped(rows, kind.nameOf);
	return groups.length
		? table(route, columns, groups, {id: "groups", caption: `${kind.title} in groups`})
		: none("Nothing fits the filter.");
}
