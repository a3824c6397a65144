// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// The token that Triad may want (web.token_file): kept for this tab of the browser alone.

const KEY = "triad-token";
let token = read();

function read() {
	try {
		return sessionStorage.getItem(KEY) ?? "";
	} catch {
		return "";
	}
}

export function setToken(text) {
	token = text;
	try {
		sessionStorage.setItem(KEY, text);
	} catch {
		// Then it is forgotten when the page is loaded anew.
	}
}

// Headers of a request; also for the worker, which can't read it itself.
export function headers(more = {}) {
	return {
		Accept: "application/json",
		...more,
		...(token ? {Authorization: `Bearer ${token}`} : {}),
	};
}
