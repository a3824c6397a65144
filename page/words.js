// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// What the members of Triad's JSON are called on the page, and small texts made of them.
// Pure.

import {count, NOT_KNOWN, plural, time} from "./format.js";
import {errorsOf} from "./model.js";

// Of 'history': what happened.
const EVENTS = {
	started: "started",
	ended: "ended",
	lost: "ended unseen",
	role: "SM is",
	looks: "looks",
	"looks-no-more": "looks no more",
	clock: "clock set",
	"link-down": "link down",
	"link-up": "link up",
	"node-left": "node left",
	"node-came": "node came",
	"counted-down": "counted down",
	"alert-raised": "alert",
	"alert-joined": "alert grew",
	"alert-cleared": "alert cleared",
	"alert-silenced": "alert silenced",
	"alert-unsilenced": "alert unsilenced",
	reset: "reset",
	cleared: "totals cleared",
	"port-manager": "port manager",
	more: "more",
};

export function eventName(event) {
	return EVENTS[event] ?? event;
}

// How bad an event is: what the mark before it says.
export function eventSeverity(event) {
	if (
		[
			"link-down",
			"node-left",
			"lost",
			"alert-raised",
			"alert-joined",
			"counted-down",
		].includes(event)
	)
		return "warning";
	return ["link-up", "node-came", "alert-cleared"].includes(event) ? "ok" : "none";
}

// "leaf-01:3", "leaf-01/P3" or "switch leaf-01 (0x...) port 3" as words of a route; the port is
// null where there is none, and only the last has a name beside the node's GUID.
export function splitPlace(text) {
	const whole = /^(?:ca|switch|router) (.+) \((0x[0-9a-f]+)\)(?: port (\d{1,3}))?$/s.exec(text);
	if (whole)
		return {node: whole[2], name: whole[1], port: whole[3] ? Number(whole[3]) : null};
	const match = /^(.+?)(?::|\/P)(\d{1,3})$/s.exec(text);
	return match ? {node: match[1], port: Number(match[2])} : {node: text, port: null};
}

// What an alert of routes counts, as 'routes check' names it: of one, and of several.
const ROUTES = {
	credit_loops: ["credit loop", "credit loops"],
	multicast_loops: ["multicast tree that loops", "multicast trees that loop"],
	forwarding_loops: ["forwarding loop", "forwarding loops"],
	unreachable_pairs: [
		"pair of hosts that don't reach each other",
		"pairs of hosts that don't reach each other",
	],
	dead_port_entries: ["LID that is sent to a dead port", "LIDs that are sent to dead ports"],
	unreachable_switches: [
		"way between the SM's port and a switch that leads nowhere",
		"ways between the SM's port and a switch that lead nowhere",
	],
	down_up_turns: ["turn from down to up in a tree", "turns from down to up in a tree"],
	device_tables: [
		"setting or entry that a device has otherwise than the SM wants",
		"settings or entries that devices have otherwise than the SM wants",
	],
	harmful_requests: [
		"request that can stall or end OpenSM",
		"requests that can stall or end OpenSM",
	],
	held_links: ["link is held out of routing", "links are held out of routing"],
	links_that_stay_out: ["link stays out of routing", "links stay out of routing"],
};

function routesText(finding) {
	const value = finding.under_since ? finding.worst : finding.value;
	const words = ROUTES[finding.why];
	return words && typeof value === "number"
		? `${finding.why === "harmful_requests" ? "SA" : "routes"}: ${plural(value, ...words)}`
		: null;
}

// An alert's finding: what, by how much, against what; the worst of it when it is over.
export function findingText(finding) {
	const routes = finding.what === "routes" && routesText(finding);
	if (routes) return finding.under_since ? `${routes} but not any more` : routes;
	const parts = [finding.what];
	if (finding.why) parts.push(`(${finding.why})`);
	const value = finding.under_since ? finding.worst : finding.value;
	if (isNumberTold(finding) && typeof value === "number")
		parts.push(
			`${finding.at_least ? "≥ " : ""}${trimmed(value)}${unitOf(finding.threshold)}`,
		);
	if (finding.threshold) parts.push(`(threshold ${finding.threshold})`);
	if (finding.target) parts.push(`(target ${trimmed(finding.target)})`);
	if (finding.under_since) parts.push("but not any more");
	return parts.join(" ");
}

export function findingSince(finding) {
	return finding.since ? ` since ${time(finding.since)}` : "";
}

// What is there or not has no number.
function isNumberTold(finding) {
	return Boolean(finding.threshold || finding.target || finding.loss_gbps !== undefined);
}

// What the SM reported near the time of an alert.
export function reportText(sm) {
	return `${sm.reported}${sm.trap ? ` ${sm.trap}` : ""} at ${time(sm.at)}`;
}

// "10/sweep" is in "/sweep", "2%" in "%".
function unitOf(threshold) {
	return threshold ? String(threshold).replace(/^[\d.e+-]+/, "") : "";
}

function trimmed(value) {
	return Number.isInteger(value)
		? count(value)
		: value < 0.001
			? value.toExponential(1)
			: String(Number(value.toPrecision(3)));
}

// A level of switches, as 'routes' counts them.
export function levelName(level) {
	return level === 0 ? "hosts" : level === 1 ? "leaves" : `level ${level}`;
}

// The links between two levels; 'inside' of 'links', where that is known, lead to aggregation nodes.
export function tierName({low, high, links, inside = 0}) {
	const isInside = inside > 0 && inside === links;
	return `${isInside ? "aggregation nodes" : levelName(low)} and ${levelName(high)}`;
}

// Of links of which the worst stand first, when none is bad, as far as is known; else null.
export function noneBadText(links) {
	if (!links.length || links.some((it) => it.state !== "active" || it.slow || errorsOf(it) > 0))
		return null;
	const unknown = links.filter((it) => !it.rate_bps || Number.isNaN(errorsOf(it))).length;
	return unknown
		? `No link here is known to be bad, but of ${count(unknown)} of ${plural(links.length, "link")} the rate or errors are ${NOT_KNOWN}.`
		: `No link here is bad: of ${plural(links.length, "link")} none is down, slow or has errors.`;
}

export const NOT_IN_ROLE = "This Triad does not have it in its role.";

// Whether ways of then are lost, which no other part of the answer tells.
export function isWayLost(problem) {
	return Boolean(problem?.isOfPast) && problem.message.includes("have changed since");
}

// Why a view has nothing, by what the server said.
export function partText(problem) {
	if (isWayLost(problem))
		return "Links, LIDs or forwarding tables have changed since. Tables of then are kept only while they have not: which way packets took is not known any more.";
	return problem.isMissing ? NOT_IN_ROLE : problem.message;
}
