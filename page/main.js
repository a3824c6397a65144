// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The page's shell: which view is shown, when it is asked for again, and what stands around
// it: the verdict, how old it is, the search, the time.
//
// A view is {title, load(app, route, signal), render(app, route, data)}: what it asks Triad
// for, and an element made of that.  One that draws by itself has mount(app, route, host)
// instead, which returns {update(route), refresh(), close()}.  One that asks for much is still
// (isStill): it is asked for again when somebody wants it.

import {Problem, Server} from "./api.js";
import {h, put} from "./dom.js";
import {ago, span, timeOfMs} from "./format.js";
import {startLive} from "./live.js";
import {moment, parse, sibling} from "./route.js";
import {startSearch} from "./search.js";
import {FabricStore} from "./store.js";
import {startTheme} from "./theme.js";
import {TimeBar} from "./time.js";
import {setToken} from "./token.js";
import {NAVIGATION, VIEWS} from "./views/all.js";

const STALE_MS = 15000;

const $ = (id) => document.getElementById(id);

class App {
	server = new Server(
		() => this.showFreshness(),
		() => this.#askForToken(),
	);
	store = new FabricStore();
	route = parse(location.hash);
	status = null;
	health = null;
	missing = new Set(); // views whose command this Triad does not have
	#shown = null; // {view, mounted, text}
	#loading = null; // AbortController
	#postponed = false;
	#fabricOf = null; // the moment of the fabric whose labels are shown

	start() {
		this.time = new TimeBar(this, $("time"));
		startTheme($("theme"), () => this.redraw());
		startSearch(this, $("search"), $("found"));
		addEventListener("hashchange", () => this.#go());
		document.addEventListener("focusout", () => this.#catchUp());
		document.addEventListener("keydown", (event) => this.#key(event));
		$("skip").addEventListener("click", (event) => {
			event.preventDefault();
			$("main").focus();
		});
		setInterval(() => this.showFreshness(), 1000);
		this.store.subscribe(() => this.#takeFabric());
		this.#go();
		// All views take labels of names that are not unique from it.
		this.store.want(this.at);
		startLive(this);
	}

	get at() {
		return moment(this.route.options.at) ?? undefined;
	}

	go(hash) {
		location.hash = hash;
	}

	// --- views ---

	#go() {
		this.route = parse(location.hash);
		this.#showNavigation();
		this.time.show();
		const view = VIEWS[this.route.view] ?? VIEWS.health;
		this.#showTitle();
		if (this.#shown?.mounted && this.#shown.view === view) {
			this.#shown.mounted.update(this.route);
			return;
		}
		const isOther =
			this.#shown?.view !== view ||
			this.#shown.words !== this.route.words.join("/");
		this.#shown?.mounted?.close();
		this.#shown = {view, words: this.route.words.join("/"), text: null};
		if (view.mount) {
			this.#loading?.abort();
			$("main").removeAttribute("aria-busy");
			$("main").className = `view-${this.route.view}`;
			$("notice").hidden = true;
			this.#shown.mounted = view.mount(this, this.route, $("main"));
			return;
		}
		if (isOther) scrollTo(0, 0);
		this.#load();
	}

	// The window's; names are known when the fabric is there.
	#showTitle() {
		const view = VIEWS[this.route.view] ?? VIEWS.health;
		const nameOf = (guid) => this.store.fabric?.names[this.store.indexOf(guid)] ?? guid ?? "";
		document.title = `${view.titleOf?.(this.route, nameOf) ?? view.title} – Triad`;
	}

	// Asks for what is shown again.
	refresh() {
		if (this.#shown?.mounted) this.#shown.mounted.refresh();
		else if (!this.at && !this.#shown?.view.isStill) this.#load();
	}

	// Of a view that is still.
	askAgain() {
		this.#load();
	}

	redraw() {
		if (this.#shown) this.#shown.text = null;
		this.refresh();
	}

	async #load() {
		const {route} = this,
			shown = this.#shown;
		this.#loading?.abort();
		this.#loading = new AbortController();
		const {signal} = this.#loading;
		$("main").setAttribute("aria-busy", "true");
		try {
			const data = await shown.view.load(this, route, signal);
			if (signal.aborted) return;
			$("notice").hidden = true;
			this.time.show();
			this.#render(route, shown, data);
		} catch (error) {
			if (error.name !== "AbortError") this.#showProblem(error, shown);
		} finally {
			if (!signal.aborted) $("main").removeAttribute("aria-busy");
		}
	}

	// Labels, and traffic by tier, come with the fabric, which may be later than the view.
	#takeFabric() {
		this.time.show();
		this.#showTitle();
		const {fabric, problem, at = "now"} = this.store;
		if (!fabric || problem || this.#fabricOf === at) return;
		this.#fabricOf = at;
		if (this.#shown && !this.#shown.mounted) this.#load();
	}

	// Nothing is put in the place of what somebody types into or selects.
	#render(route, shown, data) {
		const text = JSON.stringify([route, data, this.#fabricOf]);
		if (text === shown.text) return;
		const active = document.activeElement;
		const isTyping =
			$("main").contains(active) && active.matches("input, select, textarea");
		const isSelecting =
			!getSelection().isCollapsed &&
			$("main").contains(getSelection().anchorNode);
		if (shown.text !== null && (isTyping || isSelecting)) {
			this.#postponed = true;
			return;
		}
		shown.text = text;
		$("main").className = `view-${route.view}`;
		put($("main"), h("div", {}, shown.view.render(this, route, data)));
	}

	#catchUp() {
		if (!this.#postponed) return;
		this.#postponed = false;
		setTimeout(() => this.refresh(), 200);
	}

	#showProblem(error, shown) {
		if (!(error instanceof Problem)) console.error(error);
		const box = $("notice");
		box.hidden = false;
		box.replaceChildren(
			h("strong", {}, error.title ?? "The page has a mistake"),
			" ",
			error.detail || error.message,
		);
		if (shown.text === null)
			put($("main"), h("p", {class: "none"}, "There is nothing to show."));
	}

	// --- around them ---

	#askForToken() {
		const box = $("token");
		if (!box.hidden) return;
		box.hidden = false;
		box.replaceChildren(
			h(
				"label",
				{},
				"Triad wants a token (web.token_file of triad.conf): ",
				h("input", {
					type: "password",
					name: "token",
					autocomplete: "off",
					required: true,
				}),
			),
			h("button", {type: "submit"}, "Use it for this tab"),
		);
		box.onsubmit = (event) => {
			event.preventDefault();
			setToken(box.elements.token.value.trim());
			box.hidden = true;
			this.askNow();
			this.#load();
		};
		box.elements.token.focus();
	}

	#showNavigation() {
		put(
			$("nav"),
			h(
				"ul",
				{},
				NAVIGATION.filter((name) => !this.missing.has(name)).map(
					(name) =>
						h(
							"li",
							{},
							h(
								"a",
								{
									href: sibling(
										this.route,
										name,
									),
									"data-key": name,
									"aria-current":
										this.route
											.view ===
										name
											? "page"
											: null,
								},
								VIEWS[name].title,
							),
						),
				),
			),
		);
		// On a phone not all names have room.
		const chosen = $("nav").querySelector("[aria-current]");
		if (chosen) {
			const list = chosen.closest("ul");
			list.scrollLeft = chosen.offsetLeft - (list.clientWidth - chosen.offsetWidth) / 2;
		}
	}

	// What 'status' says, asked for once where it is not known yet: views ask parts alone that
	// are in use.
	async whenKnown(signal) {
		return (this.status ??= await this.server.get(["status"], {}, signal));
	}

	// 'health' and 'status' as Triad says now, whatever moment is shown.
	takeState(health, status) {
		this.health = health;
		this.status = status;
		const verdict = $("verdict");
		verdict.textContent = health
			? this.at
				? `now ${health.verdict}`
				: health.verdict
			: "not known";
		verdict.dataset.severity = (health?.verdict ?? "unknown").toLowerCase();
		this.#findMissing();
		this.time.show();
		this.showFreshness();
	}

	#findMissing() {
		const before = this.missing.size;
		for (const name of NAVIGATION)
			if (this.status && VIEWS[name].isMissing?.(this.status))
				this.missing.add(name);
			else this.missing.delete(name);
		if (this.missing.size !== before) this.#showNavigation();
	}

	showFreshness() {
		const {lastAnswerMs, lastTrouble} = this.server;
		const element = $("freshness");
		const age = lastAnswerMs ? Date.now() - lastAnswerMs : null;
		const isStale = Boolean(lastTrouble) || (age !== null && age > STALE_MS);
		element.dataset.stale = String(isStale);
		document.body.dataset.stale = String(isStale);
		const text =
			age === null
				? lastTrouble
					? "no answer yet"
					: ""
				: isStale
					? `no answer since ${timeOfMs(lastAnswerMs).slice(11)} UTC (${span(age / 1000)})`
					: "live";
		if (element.textContent !== text) element.textContent = text;
		element.title = lastTrouble ? lastTrouble.message : "";
		const swept = this.status?.perfmgr?.last_sweep ?? null;
		$("sweep").textContent = swept ? `swept ${ago(swept, Date.now())}` : "";
	}

	#key(event) {
		const isTyping = event.target.matches?.("input, select, textarea");
		if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
		// Links that stand for buttons are pressed by the blank, too.
		if (event.key === " " && event.target.matches?.("[role=button]")) {
			event.preventDefault();
			event.target.click();
		} else if (event.key === "/") {
			event.preventDefault();
			$("search").focus();
		} else if (/^[1-9]$/.test(event.key)) {
			const name = NAVIGATION.filter((it) => !this.missing.has(it))[
				event.key - 1
			];
			if (name) this.go(sibling(this.route, name));
		}
	}
}

export const app = new App();
app.start();
