// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// When the page asks again: when Triad tells of a change (Server-Sent Events), and else each
// few seconds.

const POLL_MS = 4000;
const SLOW_POLL_MS = 15000; // while events come, to see that Triad is still there
const HIDDEN_MS = 60000;    // while nobody looks at the page
const CHANGES = ["sweep", "alert", "topology", "role", "configuration"];
const TOGETHER_MS = 300;    // changes that come together are asked for once

export function startLive(app) {
	let timer = 0, hasEvents = false, sweeps = null, isFirst = true;

	async function ask() {
		clearTimeout(timer);
		try {
			const [health, status] = await Promise.all([app.server.get(["health"]), app.server.get(["status"])]);
			const now = JSON.stringify([status.perfmgr?.sweeps, health]);
			app.takeState(health, status);
			// The first view asked for itself.
			if (now !== sweeps && !isFirst)
				app.refresh();
			isFirst = false;
			sweeps = now;
		} catch {
			// The server shows since when there is no answer.
		}
		plan();
	}

	function plan() {
		clearTimeout(timer);
		timer = setTimeout(ask, document.hidden ? HIDDEN_MS : hasEvents ? SLOW_POLL_MS : POLL_MS);
	}

	function soon() {
		app.server.noteAnswer();
		clearTimeout(timer);
		timer = setTimeout(ask, TOGETHER_MS);
	}

	document.addEventListener("visibilitychange", () => document.hidden ? plan() : ask());
	listen((has) => hasEvents = has, soon);
	ask();
}

// A Triad without /changes refuses it once; then the page asks by itself.
function listen(tell, soon) {
	const source = new EventSource("api/v1/changes");
	source.onopen = () => tell(true);
	source.onerror = () => {
		tell(false);
		if (source.readyState === EventSource.CLOSED)
			source.close();
	};
	for (const name of CHANGES)
		source.addEventListener(name, soon);
}
