// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The bar that chooses the moment that the whole page shows: now, or one of which images are
// kept (history.dir of triad.conf).

import {h} from "./dom.js";
import {span, time} from "./format.js";
import {ageOf, msOf, STEPS, stepOf} from "./moment.js";
import {changed, sibling} from "./route.js";

// Views that show the present at any time, and say so; other views have parts like that.
const PRESENT = new Set(["guards"]);

export class TimeBar {
	#app;
	#host;
	#parts;

	constructor(app, host) {
		this.#app = app;
		this.#host = host;
		this.#parts = this.#make();
		host.replaceChildren(...Object.values(this.#parts));
	}

	#make() {
		const slider = h("input", {
			type: "range",
			min: 0,
			max: STEPS,
			step: 1,
			id: "slider",
			"aria-label": "The time that is shown, from the oldest image to now",
		});
		const field = h("input", {
			type: "text",
			id: "at",
			size: 20,
			placeholder: "now",
			autocomplete: "off",
			"aria-label":
				"The time that is shown: 2026-01-02T03:04 in UTC, or 2d, 3h, 90m ago",
		});
		slider.addEventListener("input", () => this.#showText(this.#textOf(slider)));
		slider.addEventListener("change", () => this.#choose(this.#textOf(slider)));
		field.addEventListener("change", () => this.#choose(field.value.trim()));
		const back = h(
			"button",
			{type: "button", onclick: () => this.#choose("")},
			"Back to now",
		);
		return {
			label: h("span", {class: "label"}),
			slider,
			field,
			back,
			since: h("a", {class: "open", href: "#/changes"}, "What changed since"),
			remark: h("span", {class: "quiet remark"}),
		};
	}

	get #oldestS() {
		const first = Date.parse(this.#app.status?.images?.first);
		return Number.isNaN(first) ? 0 : (Date.now() - first) / 1000;
	}

	#textOf(slider) {
		const step = Number(slider.value);
		if (step >= STEPS) return "";
		return new Date(Date.now() - ageOf(step, this.#oldestS) * 1000)
			.toISOString()
			.slice(0, 19);
	}

	#choose(text) {
		this.#parts.field.blur();
		this.#app.go(changed(this.#app.route, {at: text || undefined}));
	}

	// What somebody types into stays as it is.
	#showText(at) {
		const {label, field} = this.#parts;
		label.textContent = at ? "as of" : "now";
		if (document.activeElement !== field) field.value = at;
	}

	show() {
		const {slider, back, since, remark} = this.#parts;
		const at = this.#app.at ?? "";
		const images = this.#app.status?.images;
		const has = Boolean(images?.first);
		this.#host.dataset.past = String(Boolean(at));
		document.body.dataset.past = String(Boolean(at));
		this.#host.hidden = !this.#app.status && !at;
		slider.disabled = !has;
		back.hidden = since.hidden = !at;
		since.setAttribute("href", sibling({options: {}}, "changes", [], {from: at}));
		if (!slider.matches(":active")) {
			this.#showText(at);
			const ms = at ? msOf(at, Date.now()) : null;
			slider.value =
				ms === null
					? STEPS
					: stepOf((Date.now() - ms) / 1000, this.#oldestS);
		}
		remark.textContent = this.#remark(at, has, images);
	}

	#remark(at, has, images) {
		if (at && PRESENT.has(this.#app.route.view))
			return "The past of this view is not kept: it shows the present.";
		if (at && this.#app.server.pastMessage) return this.#app.server.pastMessage;
		if (has)
			return `UTC; images since ${time(images.first)} (${span(this.#oldestS)})`;
		return "No past is kept: history.dir of triad.conf would.";
	}
}
