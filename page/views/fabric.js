// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The fabric as a picture: drawn, moved by mouse, fingers and keys; what is chosen is told
// beside it.  Its address has the colour, the folding and the choice.

import {h} from "../dom.js";
import {ms, plural, timeOfMs, visible} from "../format.js";
import {isInside, METRICS, STATES, TYPES, classesOf, tellingMetric} from "../model.js";
import {palette, Picture} from "../picture.js";
import {changed, sibling} from "../route.js";
import {Scene} from "../scene.js";
import {Viewport} from "../viewport.js";
import {legend, panel} from "./fabric-panel.js";
import {neighbourOf} from "./fabric-keys.js";
import {options} from "./parts.js";
import {traceChanges, tracePath} from "./trace.js";

// From this class on, links are drawn though all is folded.
const WORST = {use: 5, wait: 3, errors: 2, state: 3};
const DASH = {
	use: {7: [5, 4]},
	wait: {7: [5, 4]},
	errors: {7: [5, 4]},
	state: {1: [6, 3], 2: [2, 2], 3: [1, 3], 4: [5, 4]},
};
const FOLDS = [
	["", "automatic"],
	["none", "nothing"],
	["pods", "pods"],
];
const ZOOM = 1.5;

// A node with its links, or a link with its ends.
function chosenOf({lists}, i, port) {
	if (i < 0) return {nodes: [], links: []};
	if (!port) return {nodes: [i], links: lists[i].map((it) => it.link)};
	const it = lists[i].find((near) => near.port === Number(port));
	return it ? {nodes: [i, it.far], links: [it.link]} : {nodes: [i], links: []};
}

class FabricView {
	constructor(app, route, host) {
		this.app = app;
		this.host = host;
		this.isOver = false;
		this.#make();
		this.close = this.#watch();
		this.update(route);
	}

	#make() {
		this.canvas = h("canvas", {
			tabindex: "0",
			role: "application",
			id: "canvas",
			"aria-describedby": "keys",
		});
		this.canvas.setAttribute("aria-label", "Picture of the fabric");
		this.message = h(
			"p",
			{class: "over quiet", role: "status"},
			"Asking for the fabric …",
		);
		this.said = h("p", {class: "hidden", role: "status", "aria-live": "polite"});
		this.stage = h(
			"div",
			{class: "stage"},
			this.canvas,
			this.message,
		);
		this.controls = h("div", {class: "controls inner"});
		this.aside = h("aside", {"aria-label": "What is chosen"});
		this.legend = h("div", {class: "legend"});
		this.host.replaceChildren(
			h(
				"div",
				{class: "fabric"},
				h("div", {class: "controls"}, this.#zoomButtons(), this.controls),
				h(
					"div",
					{class: "split"},
					h(
						"div",
						{class: "left"},
						this.stage,
						this.legend,
						h(
							"p",
							{class: "quiet", id: "keys"},
							"Drag and wheel, or keys: arrows choose, + and - zoom, " +
								"0 shows all, Enter opens, Escape chooses nothing.",
						),
					),
					this.aside,
				),
				this.said,
			),
		);
		this.picture = new Picture(this.canvas);
		this.colours = null;
	}

	#zoomButtons() {
		const button = (text, title, act) =>
			h(
				"button",
				{
					type: "button",
					title,
					"aria-label": title,
					onclick: () => {
						act();
						this.draw();
					},
				},
				text,
			);
		return h(
			"div",
			{class: "zoom"},
			button("+", "Zoom in", () => this.#zoom(ZOOM)),
			button("−", "Zoom out", () => this.#zoom(1 / ZOOM)),
			button("⤢", "Show all", () => this.viewport?.fit()),
		);
	}

	#watch() {
		const {canvas, app} = this;
		const sizes = new ResizeObserver(() => this.#resize());
		sizes.observe(this.stage);
		const ends = [app.store.subscribe(() => this.#take())];
		const listen = (name, act) =>
			canvas.addEventListener(name, act, {passive: false});
		this.pointers = new Map();
		listen("pointerdown", (event) => this.#down(event));
		listen("pointermove", (event) => this.#move(event));
		listen("pointerup", (event) => this.#up(event));
		listen("pointercancel", (event) => this.pointers.delete(event.pointerId));
		listen("wheel", (event) => {
			event.preventDefault();
			const {offsetX, offsetY, deltaY, deltaX, shiftKey} = event;
			if (shiftKey || Math.abs(deltaX) > Math.abs(deltaY))
				this.viewport?.pan(-(deltaX || deltaY), 0);
			else this.viewport?.zoom(Math.exp(-deltaY * 0.0015), offsetX, offsetY);
			this.draw();
		});
		listen("keydown", (event) => this.#key(event));
		return () => {
			this.isOver = true;
			sizes.disconnect();
			ends.forEach((end) => end());
		};
	}

	// --- what is shown ---

	update(route) {
		const before = this.route;
		this.route = route;
		this.fold = route.options.fold ?? "";
		this.app.store.want(this.app.at);
		this.#chooseMetric();
		this.#showControls();
		if (["path", "changes", "at"].some((it) => before?.options[it] !== route.options[it]))
			this.#trace();
		this.#take(before?.options.select !== route.options.select);
	}

	// Without a choice, what shows trouble, if there is any.
	#chooseMetric() {
		const {colour} = this.route.options;
		const {fabric} = this.app.store;
		const before = this.metric;
		this.metric = METRICS[colour] ? colour : fabric ? tellingMetric(fabric) : "use";
		return this.metric !== before;
	}

	refresh() {
		this.colours = null;
		this.app.store.want(this.app.at, !this.app.at);
		this.#take();
	}

	#take(isNewChoice = false) {
		const {fabric, layout, problem} = this.app.store;
		this.message.hidden = Boolean(fabric) && !problem;
		this.message.textContent = problem
			? problem.message
			: "Asking for the fabric …";
		if (!fabric) return;
		const isFirst = this.layout !== layout;
		if (isFirst) {
			this.layout = layout;
			this.scene = new Scene(fabric, layout);
			this.viewport = new Viewport(
				layout,
				this.stage.clientWidth,
				this.stage.clientHeight,
			);
		} else {
			this.scene.renew(fabric);
		}
		this.fabric = fabric;
		if (this.#chooseMetric()) this.#showControls();
		this.#choose();
		if ((isFirst || isNewChoice) && this.chosen.nodes.length)
			this.#bringIntoSight();
		this.canvas.setAttribute(
			"aria-label",
			`Picture of the fabric: ${this.#summary()}`,
		);
		this.draw();
	}

	#summary() {
		const {types, n} = this.fabric;
		const of = TYPES.map((_, k) =>
			types.reduce((sum, it) => sum + (it === k ? 1 : 0), 0),
		);
		const inside = types.reduce((sum, _, i) => sum + isInside(this.fabric, i), 0);
		return [
			plural(of[1] - inside, "host"),
			inside ? plural(inside, "aggregation node") : null,
			plural(of[0], "switch", "switches"),
			of[2] ? plural(of[2], "router") : null,
			plural(n, "link"),
		]
			.filter(Boolean)
			.join(", ");
	}

	#choose() {
		const {store} = this.app;
		const [guid, port] = (this.route.options.select ?? "").split(":");
		const i = guid ? store.indexOf(guid) : -1;
		// The way of packets is marked alone, so that it can be followed.
		this.chosen = this.trail ? this.trail(store) : chosenOf(store, i, port);
		this.aside.replaceChildren(
			panel(
				this.app,
				this.route,
				this.fabric,
				store.lists,
				i,
				port,
				this.problem,
			),
		);
		const name = i >= 0 ? visible(this.fabric.names[i]) : "";
		this.said.textContent = name && `chosen: ${name}${port ? ` port ${port}` : ""}`;
	}

	async #trace() {
		const {path, changes} = this.route.options;
		this.trail = null;
		this.problem = null;
		if (!path && !changes) return;
		try {
			this.trail = path
				? await tracePath(this.app, path)
				: await traceChanges(this.app, changes);
		} catch (error) {
			this.problem = error;
		}
		if (!this.isOver && this.fabric) {
			this.#choose();
			this.#bringIntoSight();
			this.draw();
		}
	}

	#bringIntoSight() {
		const {x, width, y} = this.layout,
			{viewport} = this;
		const nodes = this.chosen.nodes;
		if (!nodes.length) return;
		const places = nodes.map((i) => x[i]);
		const left = Math.min(...places),
			right = Math.max(...places);
		const isSeen =
			viewport.px(left) > 20 && viewport.px(right) < viewport.width - 20;
		if (isSeen && !this.scene.isFolded(viewport, this.fold)) return;
		const margin = Math.max(10, (right - left) * 0.15);
		viewport.show(
			Math.max(0, left - margin),
			Math.min(width, right + margin),
			y[nodes[0]],
		);
	}

	#showControls() {
		const select = (name, title, values, chosen) =>
			h(
				"label",
				{},
				`${title} `,
				h(
					"select",
					{
						"data-key": name,
						name,
						onchange: (event) =>
							this.app.go(
								changed(this.route, {
									[name]: event.target
										.value,
								}),
							),
					},
					options(values, chosen),
				),
			);
		const active = document.activeElement?.name;
		this.controls.replaceChildren(
			select(
				"colour",
				"Colour by",
				[
					["", `automatic: ${METRICS[this.metric].title.toLowerCase()}`],
					...Object.entries(METRICS).map(([name, it]) => [
						name,
						it.title.toLowerCase(),
					]),
				],
				this.route.options.colour ?? "",
			),
			select("fold", "Fold", FOLDS, this.fold),
			(this.facts = h("span", {class: "quiet"})),
		);
		if (active) this.controls.querySelector(`[name=${active}]`)?.focus();
	}

	// --- drawing ---

	#resize() {
		const {clientWidth, clientHeight} = this.stage;
		if (this.viewport && clientWidth) {
			this.viewport.resize(clientWidth, clientHeight);
			this.draw();
		}
	}

	draw() {
		if (this.isDue || !this.fabric) return;
		this.isDue = true;
		requestAnimationFrame(() => {
			this.isDue = false;
			if (!this.isOver) this.#drawNow();
		});
	}

	#drawNow() {
		const {fabric, metric} = this;
		if (!this.colours || this.colours.metric !== metric)
			this.colours = {metric, ...palette(metric)};
		if (this.classesOf?.fabric !== fabric || this.classesOf.metric !== metric)
			this.classesOf = {fabric, metric, classes: classesOf(fabric, metric)};
		const begin = performance.now();
		this.picture.draw(this.scene, this.viewport, {
			fold: this.fold,
			classes: this.classesOf.classes,
			palette: this.colours,
			worst: WORST[metric],
			dash: DASH[metric],
			chosen: this.chosen,
		});
		this.frameMs = performance.now() - begin;
		this.canvas.dataset.frame = this.frameMs.toFixed(1);
		this.canvas.dataset.drawn = "true";
		const {took, ms: at} = this.app.store;
		this.facts.textContent = `${this.#summary()}; asked for at ${timeOfMs(at).slice(11)} UTC, which took ${ms(Math.round(took.load + took.make))}`;
		this.legend.replaceChildren(
			legend(metric, this.colours, this.classesOf.classes, STATES),
		);
	}

	// --- mouse, fingers and keys ---

	#zoom(factor, x = this.viewport?.width / 2, y = this.viewport?.height / 2) {
		this.viewport?.zoom(factor, x, y);
		this.draw();
	}

	#down(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.pointers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
		this.moved = 0;
	}

	#move(event) {
		const before = this.pointers.get(event.pointerId);
		if (!this.viewport) return;
		if (!before) {
			this.#hover(event);
			return;
		}
		const now = {x: event.offsetX, y: event.offsetY};
		if (this.pointers.size === 2) {
			const [other] = [...this.pointers]
				.filter(([id]) => id !== event.pointerId)
				.map(([, it]) => it);
			const length = (it) => Math.hypot(it.x - other.x, it.y - other.y) || 1;
			this.viewport.zoom(
				length(now) / length(before),
				(now.x + other.x) / 2,
				(now.y + other.y) / 2,
			);
		} else {
			this.viewport.pan(now.x - before.x, now.y - before.y);
		}
		this.moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
		this.pointers.set(event.pointerId, now);
		this.draw();
	}

	#up(event) {
		this.pointers.delete(event.pointerId);
		if (this.moved < 5) this.#click(event);
	}

	#at(event) {
		return this.scene?.at(
			this.viewport,
			this.fold,
			event.offsetX,
			event.offsetY,
			this.picture.drawn,
		);
	}

	#hover(event) {
		const it = this.#at(event);
		this.canvas.style.cursor = it ? "pointer" : "grab";
		const {fabric} = this;
		const end = (i, port) => `${visible(fabric.names[i])}:${port}`;
		this.canvas.title = !it
			? ""
			: it.node !== undefined
				? visible(fabric.names[it.node])
				: it.link !== undefined
					? `${end(fabric.a[it.link], fabric.aPort[it.link])} – ${end(fabric.b[it.link], fabric.bPort[it.link])}`
					: `pod ${it.pod + 1}: ${plural(this.layout.pods[it.pod].switches.length, "switch", "switches")}, ${plural(this.layout.pods[it.pod].nHosts, "host")}`;
	}

	#click(event) {
		const it = this.#at(event),
			{fabric} = this;
		if (it?.pod !== undefined) {
			const {x, width} = this.layout.pods[it.pod];
			this.viewport.show(x, x + width);
			this.draw();
			return;
		}
		this.#select(
			!it
				? ""
				: it.node !== undefined
					? fabric.guids[it.node]
					: `${fabric.guids[fabric.a[it.link]]}:${fabric.aPort[it.link]}`,
		);
	}

	#select(select) {
		if ((this.route.options.select ?? "") !== select)
			this.app.go(changed(this.route, {select, path: undefined, changes: undefined}));
	}

	#key(event) {
		const {viewport, chosen} = this;
		if (!viewport || event.ctrlKey || event.metaKey || event.altKey) return;
		const arrow = /^Arrow(Left|Right|Up|Down)$/.exec(event.key)?.[1];
		if (arrow && event.shiftKey) {
			viewport.pan(
				{Left: 80, Right: -80}[arrow] ?? 0,
				{Up: 80, Down: -80}[arrow] ?? 0,
			);
		} else if (arrow) {
			const next = neighbourOf(
				this.scene,
				this.app.store.lists,
				chosen.nodes[0] ?? -1,
				arrow,
			);
			if (next >= 0) this.#select(this.fabric.guids[next]);
		} else if (event.key === "+" || event.key === "-") {
			this.#zoom(event.key === "+" ? ZOOM : 1 / ZOOM);
		} else if (event.key === "0") {
			viewport.fit();
		} else if (event.key === "Escape") {
			this.#select("");
		} else if (event.key === "Enter" && chosen.nodes.length) {
			const [guid, port] = this.route.options.select.split(":");
			this.app.go(
				sibling(
					this.route,
					port ? "port" : "node",
					port ? [guid, port] : [guid],
				),
			);
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
		this.draw();
	}
}

export const fabric = {
	title: "Fabric",
	mount: (app, route, host) => new FabricView(app, route, host),
};
