// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Elements that several views have: addresses of nodes and ports, bars, rows of links.

import {Problem} from "../api.js";
import {badge, h, nameText, none, section} from "../dom.js";
import {bits, count, isKnown, percent, time, visible} from "../format.js";
import {labelOf} from "../labels.js";
import {errorsAt, errorsOf, isDown, rateText, waitOf} from "../model.js";
import {sibling} from "../route.js";
import {partText, splitPlace} from "../words.js";

export function nodeLink(route, guid, name, key = `node ${guid}`) {
	return guid
		? h(
				"a",
				{href: sibling(route, "node", [guid]), "data-key": key},
				nameText(labelOf(guid, name)),
			)
		: nameText(name ?? "–");
}

export function portLink(route, guid, name, port) {
	if (!isKnown(port) || !guid) return nodeLink(route, guid, name);
	return h(
		"a",
		{
			href: sibling(route, "port", [guid, port]),
			"data-key": `port ${guid} ${port}`,
			class: "nowrap",
		},
		nameText(labelOf(guid, name)),
		`:${port}`,
	);
}

// A column of a member as it is; 'rest' has what else the column has.
export function column(name, title, rest = {}) {
	return {name, title, value: (it) => it[name], ...rest};
}

// Of times; a sentence in the place of one stays as it is.
export function timeColumn(name, title) {
	return column(name, title, {
		cell: ({[name]: it}) =>
			it && (/^\d{4}-\d\d-\d\dT/.test(it) ? h("span", {class: "nowrap"}, time(it)) : it),
	});
}

// A column of the port that a row is about, or of another one that it names.
export function portColumn(
	route,
	{name = "port", title = "Port", guid = "node_guid", node = "node_name", port = "port"} = {},
) {
	return {
		name,
		title,
		value: (it) => it[node],
		cell: (it) => portLink(route, it[guid], it[node], it[port]),
	};
}

// Both ends of a link in one direction.
export function fromToColumns(route) {
	return [
		portColumn(route, {title: "From"}),
		portColumn(route, {
			name: "to",
			title: "To",
			guid: "to_node_guid",
			node: "to_node_name",
			port: "to_port",
		}),
	];
}

// A place that is text alone, "leaf-01:3": found again by its name.
export function placeLink(route, text) {
	if (!text) return null;
	const {node, name = null, port} = splitPlace(text);
	if (name !== null) return portLink(route, node, name, port);
	return port === null
		? nodeLink(route, node, node)
		: h(
				"a",
				{href: sibling(route, "port", [node, port]), class: "nowrap"},
				nameText(node),
				`:${port}`,
			);
}

export function endLink(route, end) {
	return end ? portLink(route, end.node_guid, end.node_name, end.port) : null;
}

// A share of 100 as a bar with its number; 'kind' chooses the colour.
export function bar(value, kind = "use") {
	if (!isKnown(value)) return null;
	const fill = h("span", {class: "fill", "data-kind": kind});
	fill.style.width = `${Math.min(100, Math.max(0, value))}%`;
	return h(
		"span",
		{class: "meter"},
		value >= 0.5 && h("span", {class: "bar-of", "aria-hidden": "true"}, fill),
		h("span", {}, percent(value)),
	);
}

// Of a link that is down, the state of its port says more.
export function stateBadge(state, isSlow = false, portState = null) {
	const severity =
		isDown(state)
			? "critical"
			: state !== "active" || isSlow
				? "warning"
				: "ok";
	return badge(
		severity,
		isSlow && state === "active"
			? "slow"
			: state === "down" && portState
				? portState
				: state,
	);
}

// A wait as a bar, which may be longer; nothing where it is not known.
export function waitBar(wait, isLeast) {
	return isKnown(wait) && h("span", {}, isLeast && wait < 100 ? "≥ " : "", bar(wait, "wait"));
}

export function errorCount(n, title = null) {
	return isKnown(n) && h("span", {class: n ? "bad" : "", title}, count(n));
}

// Errors of a link by the ends that counted them: [{guid, name, port, n}].
export function errorsByEnd(ends, title = null) {
	const told = ends.filter(({n}) => n !== 0);
	if (!told.some(({n}) => n > 0)) return errorCount(told.length ? null : 0, title);
	return told.map(({guid, name, port, n}) =>
		h(
			"div",
			{class: n > 0 ? "bad" : "unknown", title},
			`${count(n)} at `,
			nameText(labelOf(guid, name)),
			`:${port}`,
		),
	);
}

// Columns of a table of links, as 'links' has them.  Where there is no room for columns of times,
// since when something is wrong stands below the state.
export function linkColumns(route, extra = [], sinceOf = () => null) {
	return [
		{
			name: "end",
			title: "End",
			value: (it) => it.ends[0].node_name,
			cell: (it) => endLink(route, it.ends[0]),
		},
		{
			name: "far_end",
			title: "Far end",
			value: (it) => it.ends[1].node_name,
			cell: (it) => endLink(route, it.ends[1]),
		},
		{
			name: "state",
			title: "State",
			value: (it) => it.state,
			cell: (it) => {
				const since = isDown(it.state) ? it.last_down : sinceOf(it);
				const what = isDown(it.state) ? "since" : "alert since";
				return [
					stateBadge(it.state, false, it.port_state),
					since && h("div", {class: "narrow quiet"}, `${what} ${time(since)}`),
				];
			},
		},
		{
			name: "rate",
			wide: true,
			title: "Rate",
			value: (it) => it.rate_bps,
			cell: (it) =>
				h(
					"span",
					{class: "nowrap", title: bits(it.rate_bps)},
					rateText(it.state, it.rate),
					it.slow
						? h(
								"span",
								{class: "could"},
								` could ${it.expected_rate}`,
							)
						: "",
				),
		},
		...extra,
		{
			name: "out",
			wide: true,
			title: "Out",
			number: true,
			value: (it) => it.ends[0].use_percent,
			cell: (it) => bar(it.ends[0].use_percent),
		},
		{
			name: "in",
			wide: true,
			title: "In",
			number: true,
			value: (it) => it.ends[1].use_percent,
			cell: (it) => bar(it.ends[1].use_percent),
		},
		{
			name: "wait",
			wide: true,
			title: "Wait",
			number: true,
			value: (it) => waitOf(it).wait,
			cell: (it) => {
				const {wait, isLeast} = waitOf(it);
				return waitBar(wait, isLeast);
			},
		},
		{
			name: "errors",
			title: "Errors",
			number: true,
			value: errorsOf,
			cell: (it) =>
				errorsByEnd(
					it.ends.map((end) => ({
						guid: end.node_guid,
						name: end.node_name,
						port: end.port,
						n: errorsAt(end),
					})),
					errorTitle(it),
				),
		},
		{
			name: "downs",
			wide: true,
			title: "Downs",
			hint: "How often it went down since Triad has known the link: the largest of what sweeps saw and of LinkDownedCounter at each end",
			number: true,
			value: (it) => it.downs,
			cell: (it) =>
				h("span", {class: it.downs ? "bad" : ""}, count(it.downs)),
		},
		{
			name: "last_down",
			wide: true,
			title: "Last down",
			value: (it) => it.last_down,
			cell: (it) =>
				it.last_down &&
				h("span", {class: "nowrap"}, time(it.last_down)),
		},
	];
}

function errorTitle(link) {
	return link.ends
		.flatMap((end) =>
			Object.entries(end.errors ?? {}).map(
				([name, value]) =>
					`${visible(end.node_name)}:${end.port} ${name} ${count(value)}`,
			),
		)
		.join("\n");
}

// The first of a list, and the rest unfolded; in all there are 'n', of which the answer may have
// less.
export function few(list, item, {n = list.length, first = 3, key, more = (it) => `${count(it)} more`}) {
	const rest = list.slice(first);
	const left = n - list.length;
	return [
		list.length > 0 && first > 0 &&
			h("ul", {class: "plain"}, list.slice(0, first).map((it) => h("li", {}, item(it)))),
		n > first &&
			h(
				"details",
				{"data-key": key},
				h("summary", {}, more(n - first)),
				h(
					"ul",
					{class: "plain"},
					rest.map((it) => h("li", {}, item(it))),
					left > 0 && h("li", {class: "quiet"}, `${count(left)} are not in this answer`),
				),
			),
	];
}

// What a part shows when its command gave no answer; null where there is one.
export function missing(answer) {
	return answer instanceof Problem ? none(partText(answer)) : null;
}

// A part of a past moment that its image lacks: why; at present such a part is left out.
export function notKept(title, answer) {
	return answer instanceof Problem && answer.isOfPast
		? section(title, none(partText(answer)))
		: null;
}

// A part of which the past is not kept, in a view of the past.
export function presentOnly(app) {
	return (
		app.at &&
		h(
			"p",
			{class: "present-only"},
			"The past of this is not kept: this is the present.",
		)
	);
}

// Which node or port a form is about.
export function nodeField(route) {
	return h(
		"label",
		{},
		"Node or port ",
		h("input", {
			name: "node",
			value: route.options.node ?? "",
			placeholder: "all",
			"data-key": "node",
			spellcheck: "false",
		}),
	);
}

export function options(values, chosen) {
	return values.map(([value, text]) =>
		h("option", {value, selected: value === chosen}, text),
	);
}

// Only the plugin in OpenSM has routes, jobs and guards.
export function isPlugin(status) {
	return Boolean(status.sm);
}

// Whether a part of 'status' is there and in use.
export function isOn(part) {
	return Boolean(part) && part.state !== "off";
}
