// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// When the page asks again: when Triad tells of a change (Server-Sent Events), and else each
// few seconds.

import {EventReader} from "./events.js";

const POLL_MS = 4000;
const SLOW_POLL_MS = 12000; // while events come, to see that Triad is still there
const HIDDEN_MS = 60000; // while nobody looks at the page
const AGAIN_MS = 5000; // after a stream has ended
const TOGETHER_MS = 300; // changes that come together are asked for once

export function startLive(app) {
	let timer = 0,
		hasEvents = false,
		before = null;

	async function ask() {
		clearTimeout(timer);
		try {
			const [health, status] = await Promise.all([
				app.server.get(["health"]),
				app.server.get(["status"]),
			]);
			const now = JSON.stringify([status.perfmgr?.sweeps, health]);
			app.takeState(health, status);
			// The first view asked for itself.
			if (now !== before && before !== null) app.refresh();
			before = now;
		} catch {
			// The header shows since when there is no answer.
		}
		plan();
	}

	function plan() {
		clearTimeout(timer);
		timer = setTimeout(
			ask,
			document.hidden ? HIDDEN_MS : hasEvents ? SLOW_POLL_MS : POLL_MS,
		);
	}

	function soon() {
		app.server.noteAnswer();
		// Who comes back to the page is told then.
		if (document.hidden) return;
		clearTimeout(timer);
		timer = setTimeout(ask, TOGETHER_MS);
	}

	// The end of a stream may be that of Triad.
	function take(has) {
		if (hasEvents && !has) ask();
		hasEvents = has;
	}

	document.addEventListener("visibilitychange", () => (document.hidden ? plan() : ask()));
	app.askNow = ask;
	listen(app, take, soon);
	ask();
}

// Until Triad says that there is no such stream; others ended, and are begun again.  A page that
// somebody has left, and that the browser keeps to come back to, would keep its stream, too, of the
// six that a browser opens to a server.
async function listen(app, tell, soon) {
	const reader = new EventReader();
	let leaving = null;
	addEventListener("pagehide", () => leaving?.abort());
	for (;;) {
		leaving = new AbortController();
		try {
			const response = await app.server.stream(
				["changes"],
				reader.lastId,
				leaving.signal,
			);
			if (response.status === 404 || response.status === 405) return;
			if (response.ok) {
				tell(true);
				await follow(response, reader, soon);
			}
		} catch {
			// As an end.
		}
		tell(false);
		await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
	}
}

async function follow(response, reader, soon) {
	const pieces = response.body.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const {done, value} = await pieces.read();
		if (done) return;
		if (reader.feed(value).length) soon();
	}
}
