// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Server-Sent Events out of pieces of a stream.  The browser's own EventSource can't send the
// token that Triad may want.  Pure.

export class EventReader {
	lastId = "";
	#rest = "";
	#event = {name: "", data: []};

	// The events that end in this piece: [{name, data}].
	feed(text) {
		const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
		this.#rest = lines.pop();
		return lines.map((line) => this.#take(line)).filter(Boolean);
	}

	#take(line) {
		if (!line) {
			const {name, data} = this.#event;
			this.#event = {name: "", data: []};
			return name || data.length
				? {name: name || "message", data: data.join("\n")}
				: null;
		}
		const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
		if (field === "event") this.#event.name = value ?? "";
		else if (field === "data") this.#event.data.push(value ?? "");
		else if (field === "id") this.lastId = value ?? "";
		return null; // others, and comments, say nothing
	}
}
