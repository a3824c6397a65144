// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Light, dark, or as the system has it; and the colours of the style sheet for canvases.

const KEY = "triad-theme";
const NEXT = {"": "dark", dark: "light", light: ""};
const TEXT = {"": "◐ auto", dark: "● dark", light: "○ light"};

function stored() {
	try {
		return localStorage.getItem(KEY) ?? "";
	} catch {
		return "";
	}
}

function store(theme) {
	try {
		localStorage.setItem(KEY, theme);
	} catch {
		// A browser that keeps nothing forgets it with the page.
	}
}

function use(button, theme) {
	if (theme) document.documentElement.dataset.theme = theme;
	else delete document.documentElement.dataset.theme;
	button.textContent = TEXT[theme];
}

export function startTheme(button, onChange) {
	let theme = stored();
	theme = theme in NEXT ? theme : "";
	use(button, theme);
	button.addEventListener("click", () => {
		theme = NEXT[theme];
		store(theme);
		use(button, theme);
		onChange();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", onChange);
	// Paper is white.
	addEventListener("beforeprint", onChange);
	addEventListener("afterprint", onChange);
}

export function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function colours(...names) {
	const style = getComputedStyle(document.documentElement);
	return names.map((name) => style.getPropertyValue(`--${name}`).trim());
}
