// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Rows of a table as CSV (RFC 4180), and which of them fit a text.  Pure, but for download().
//
// What a column gives is its value; a cell that begins like a formula gets a blank before it, for a
// name from the fabric must not be one in a spreadsheet.

import {isKnown} from "./format.js";

export function csvOf(columns, rows) {
	const lines = [columns.map((it) => it.name)];
	for (const row of rows) lines.push(columns.map((it) => it.value(row)));
	return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
	if (!isKnown(value)) return "";
	const isNumber = typeof value === "number";
	const text = !isNumber && /^[=+\-@\t\r]/.test(value) ? ` ${value}` : String(value);
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The rows that have each word of the text in one of the columns; "!word" has it nowhere.
export function filtered(rows, columns, text) {
	const words = (text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
	if (!words.length) return rows;
	return rows.filter((row) => {
		const whole = columns
			.map((it) => it.value(row))
			.filter(isKnown)
			.join("\n")
			.toLowerCase();
		return words.every((word) =>
			word.startsWith("!") && word.length > 1
				? !whole.includes(word.slice(1))
				: whole.includes(word),
		);
	});
}

// Gives the browser a file to keep.
export function download(name, text) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
	link.download = name;
	link.click();
	URL.revokeObjectURL(link.href);
}
