// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The field that finds nodes: a list below it, by arrows or mouse.

import {h, nameText} from "./dom.js";
import {search, TYPES} from "./model.js";
import {sibling} from "./route.js";

export function startSearch(app, input, list) {
	let found = [],
		chosen = -1,
		isAwaited = false; // Enter was pressed before the nodes were there

	function show() {
		const {fabric} = app.store;
		const [text, port] = split(input.value);
		found = fabric
			? search(fabric, text, 12).map((i) => addressOf(app, i, port))
			: [];
		chosen = found.length ? 0 : -1;
		list.replaceChildren(
			...found.map((it, k) =>
				h(
					"li",
					{
						id: `found-${k}`,
						role: "option",
						onmousedown: (event) => {
							event.preventDefault();
							go(k);
						},
					},
					nameText(it.name),
					h("span", {class: "quiet"}, ` ${it.kind} ${it.guid}`),
				),
			),
		);
		if (!found.length && input.value.trim())
			list.append(
				h(
					"li",
					{
						role: "option",
						class: "quiet",
						"aria-disabled": "true",
					},
					fabric
						? "no node is called so"
						: isAwaited
							? "asking for the nodes; what is found is opened"
							: "asking for the nodes …",
				),
			);
		mark();
	}

	function mark() {
		const isOpen = list.childElementCount > 0 && document.activeElement === input;
		list.hidden = !isOpen;
		input.setAttribute("aria-expanded", String(isOpen));
		[...list.children].forEach((it, k) =>
			it.setAttribute("aria-selected", String(k === chosen)),
		);
		if (chosen >= 0 && isOpen)
			input.setAttribute("aria-activedescendant", `found-${chosen}`);
		else input.removeAttribute("aria-activedescendant");
	}

	function go(k) {
		app.go(found[k].hash(app.route));
		input.value = "";
		input.blur();
		show();
	}

	input.addEventListener("focus", () => {
		app.store.want(app.at);
		show();
	});
	input.addEventListener("input", () => {
		isAwaited = false;
		show();
	});
	input.addEventListener("blur", () => {
		isAwaited = false;
		mark();
	});
	app.store.subscribe(() => {
		if (document.activeElement !== input) return;
		show();
		if (!isAwaited || !app.store.fabric) return;
		isAwaited = false;
		if (chosen >= 0) go(chosen);
	});
	input.addEventListener("keydown", (event) => {
		const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
		if (step && found.length) {
			event.preventDefault();
			chosen = (chosen + step + found.length) % found.length;
			mark();
		} else if (event.key === "Enter" && chosen >= 0) {
			go(chosen);
		} else if (event.key === "Enter" && !app.store.fabric && input.value.trim()) {
			isAwaited = true;
			show();
		} else if (event.key === "Escape") {
			input.value = "";
			input.blur();
			show();
		}
	});
}

// "leaf-01:3" is port 3 of leaf-01.
function split(text) {
	const match = /^(.*\S)[:/]P?(\d{1,3})$/.exec(text.trim());
	return match ? [match[1], match[2]] : [text, null];
}

// In the picture a node is selected there; elsewhere its own view is shown.
function addressOf(app, i, port) {
	const {names, guids, types} = app.store.fabric;
	return {
		name: names[i],
		guid: guids[i],
		kind: TYPES[types[i]],
		hash: (route) =>
			route.view === "fabric"
				? sibling(route, "fabric", [], {
						...route.options,
						select: port ? `${guids[i]}:${port}` : guids[i],
					})
				: port
					? sibling(route, "port", [guids[i], port])
					: sibling(route, "node", [guids[i]]),
	};
}
