// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The order of rows of a table, by a column: "name", or "-name" with the greatest first.  Pure.

import {compareNames, isKnown} from "./format.js";

export function sorted(rows, columns, order) {
	const name = order?.replace(/^-/, "");
	const column = columns.find((it) => it.name === name);
	if (!column) return rows;
	const sign = order.startsWith("-") ? -1 : 1;
	const keyed = rows.map((row) => [column.value(row), row]);
	keyed.sort(([a], [b]) =>
		!isKnown(a) || !isKnown(b)
			? isKnown(b) - isKnown(a)
			: sign *
				(typeof a === "number"
					? a - b
					: compareNames(String(a), String(b))),
	);
	return keyed.map(([, row]) => row);
}
