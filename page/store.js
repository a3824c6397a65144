// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The fabric that the page holds, loaded by a worker when a view first wants it.
//
// Model: one fabric at a time, that of the moment that is shown.  Views subscribe; what is
// there is given to them at once.

import {takeLabels} from "./labels.js";
import {neighbours} from "./model.js";
import {Problem} from "./api.js";
import {headers} from "./token.js";

// A large fabric is not asked for again sooner than this many times what it took to load.
const PAUSE = 20;

export class FabricStore {
	fabric = null;
	layout = null;
	at = undefined;
	problem = null;
	took = null; // milliseconds for asking and for what is made of the answer
	ms = null; // when it came
	#worker = null;
	#id = 0;
	#isUnderWay = false;
	#notBefore = 0;
	#listeners = new Set();
	#lists = null;

	// Calls listener() after each change; returns what ends that.
	subscribe(listener) {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	get isWanted() {
		return this.#worker !== null;
	}

	// Loads it unless what is there is of that moment; with 'again', anyhow.
	want(at, again = false) {
		const isOther = this.at !== at || !this.isWanted;
		if (
			!isOther &&
			(!again || this.#isUnderWay || performance.now() < this.#notBefore)
		)
			return;
		if (!this.#worker) {
			this.#worker = new Worker("fabric-worker.js", {type: "module"});
			this.#worker.onmessage = ({data}) => this.#take(data);
			this.#worker.onerror = (event) =>
				this.#take({
					id: this.#id,
					problem: {
						title: "The picture can't be made",
						detail:
							event.message ??
							"a part of the page can't be loaded",
						status: 0,
					},
				});
		}
		this.at = at;
		this.#isUnderWay = true;
		this.#worker.postMessage({id: ++this.#id, at, headers: headers()});
	}

	#take({id, fabric, layout, problem, took}) {
		// The layout is the worker's last one, even if what it came with is too late.
		if (layout) this.layout = layout;
		if (id !== this.#id) return;
		this.#isUnderWay = false;
		this.problem = problem
			? new Problem(problem.title, problem.detail, problem.status)
			: null;
		if (fabric) {
			this.fabric = fabric;
			takeLabels(fabric);
			this.took = took;
			this.ms = Date.now();
			this.#lists = null;
			this.#notBefore = performance.now() + PAUSE * (took.load + took.make);
		}
		for (const listener of [...this.#listeners]) listener();
	}

	get lists() {
		return (this.#lists ??= this.fabric && neighbours(this.fabric));
	}

	indexOf(guid) {
		return this.fabric?.guids.indexOf(guid) ?? -1;
	}
}
