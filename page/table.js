// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Tables that are sorted by their headings; the order is part of the page's address.
//
// A column is {name, title, hint, value(row), cell(row), number, wide}: 'value' is what it is sorted
// by (null: not known, always last), 'cell' what is shown, which is the value without it.  One that is
// 'wide' is left out where there is no room for it, as on a phone; 'hint' says more of the title.

import {h, none} from "./dom.js";
import {count, isKnown} from "./format.js";
import {changed} from "./route.js";
import {sorted} from "./sort.js";

const FEW = 100;

// 'id' tells several tables of one view apart in its address; 'empty' stands in the place of
// a table without rows.
export function table(route, columns, rows, {id = "", caption, rowClass, empty} = {}) {
	if (empty && !rows.length) return none(empty);
	const shown = columns.filter(Boolean);
	const order = route.options[`sort${id}`],
		all = route.options[`rows${id}`] === "all";
	const ordered = sorted(rows, shown, order);
	const some = all ? ordered : ordered.slice(0, FEW);
	return h(
		"div",
		{class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
		h(
			"table",
			{},
			caption && h("caption", {class: "hidden"}, caption),
			h(
				"thead",
				{},
				h(
					"tr",
					{},
					shown.map((it) => heading(route, it, order, id)),
				),
			),
			h(
				"tbody",
				{},
				some.map((row) =>
					h(
						"tr",
						{class: rowClass?.(row)},
						shown.map((it) => cell(it, row)),
					),
				),
			),
		),
		some.length < ordered.length &&
			h(
				"p",
				{class: "more"},
				`The first ${count(some.length)} of ${count(ordered.length)}. `,
				h(
					"a",
					{
						href: changed(route, {[`rows${id}`]: "all"}),
						"data-key": `all${id}`,
					},
					"Show all",
				),
			),
	);
}

function classesOf(column, more = null) {
	return [column.number && "number", column.wide && "wide", more].filter(Boolean).join(" ") || null;
}

function heading(route, column, order, id) {
	const is = order?.replace(/^-/, "") === column.name;
	const isDown = is && order.startsWith("-");
	const next = is
		? isDown
			? column.name
			: `-${column.name}`
		: column.number
			? `-${column.name}`
			: column.name;
	return h(
		"th",
		{
			scope: "col",
			class: classesOf(column),
			"aria-sort": is ? (isDown ? "descending" : "ascending") : null,
		},
		column.value
			? h(
					"a",
					{
						href: changed(route, {[`sort${id}`]: next}),
						"data-key": `sort${id} ${column.name}`,
						title: column.hint ?? `Sort by ${column.title}`,
					},
					column.title,
					is ? (isDown ? " ▾" : " ▴") : "",
				)
			: column.title,
	);
}

function cell(column, row) {
	const shown = column.cell ? column.cell(row) : column.value(row);
	return h(
		"td",
		{
			class: classesOf(column, column.class),
		},
		// What a cell shows of a value that is not known is false; of a text that is empty, "".
		isKnown(shown) && shown !== false && shown !== ""
			? shown
			: h("span", {class: "unknown"}, "–"),
	);
}
