// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
import assert from "node:assert/strict";
import {test} from "node:test";

import {tickText, timeTicks, valueTicks} from "../axis.js";
import {EventReader} from "../events.js";
import * as format from "../format.js";
import {csvOf, filtered} from "../csv.js";
import {groupOf, grouped} from "../groups.js";
import {labelsOf, shortName} from "../labels.js";
import {
	alertsSince,
	classesOf,
	DOWN,
	errorsOf,
	makeFabric,
	rateText,
	riseOf,
	search,
	STATES,
	tellingMetric,
	tierCurves,
	trafficByTier,
	unreadLinks,
	waitOf,
} from "../model.js";
import * as route from "../route.js";
import {sorted} from "../sort.js";
import {ageOf, beforeOf, msOf, stepOf} from "../moment.js";
import {noneBadText} from "../words.js";
import {Maker, makeTree} from "./made.js";

test("numbers have units, and what is not known says so", () => {
	assert.equal(format.percent(3.14), "3.1\u202f%");
	assert.equal(format.percent(99.5), "100\u202f%");
	assert.equal(format.bits(97.5e9), "97.5 Gb/s");
	assert.equal(format.counterRate("PortXmitData", 1e9 / 32), "1 Gb/s");
	assert.equal(format.counterTotal("PortXmitPkts", 1234567), "1\u202f234\u202f567");
	assert.equal(format.span(3675), "1 h 1 min");
	for (const it of [format.percent, format.count, format.bits, format.ms, format.yesNo])
		assert.equal(it(null), format.NOT_KNOWN);
	assert.equal(format.count(0), "0");
});

test("lines of a chart stand at round numbers and whole hours", () => {
	assert.deepEqual(valueTicks(95, 4), [0, 50]);
	assert.deepEqual(valueTicks(1, 4), [0, 0.5, 1]);
	assert.deepEqual(valueTicks(4.2e9, 5), [0, 1e9, 2e9, 3e9, 4e9]);
	const noon = Date.parse("2026-01-02T12:00:00Z") / 1000;
	assert.deepEqual(
		timeTicks(noon + 1, noon + 3599, 5).map((it) => it - noon),
		[900, 1800, 2700],
	);
	for (const n of [2, 3, 8])
		for (const length of [1, 7, 61, 3600, 86401, 1e7])
			assert.ok(timeTicks(noon + 0.5, noon + 0.5 + length, n).length <= n);
	assert.equal(tickText(noon, 3600), "12:00");
	assert.equal(tickText(noon + 5, 5), "12:00:05");
	assert.equal(tickText(noon + 43200, 3600), "01-03");
	assert.equal(tickText(noon, 86400), "01-02");
});

test("names can't disturb what stands around them", () => {
	assert.equal(
		format.visible("a\u202eb\x1b[31m\u200b"),
		"a\\u{202e}b\\u{001b}[31m\\u{200b}",
	);
	assert.equal(format.visible("<b>&\"'Ü漢"), "<b>&\"'Ü漢");
	assert.equal(format.visible("\ud800"), "\\u{d800}");
});

test("an address is read as it was written", () => {
	const names = ["a/b", "%41", "x?y#z", "ü ", "0x1:2", "'\"<>&"];
	for (const name of names) {
		const it = {view: "node", words: [name], options: {at: "2h", select: name}};
		const back = route.parse(route.format(it));
		assert.deepEqual({...back, options: {...back.options}}, it);
	}
	assert.equal(route.parse("").view, route.START);
	assert.equal(route.parse("#/%E0%A4%A/x").words[0], "x");
	assert.equal(Object.getPrototypeOf(route.parse("#/x?__proto__=1").options), null);
});

test("commands become addresses below api/v1", () => {
	assert.equal(
		route.resource(["perf", "history", "leaf/1:3", "PortXmitData"], {
			since: "1h",
			at: undefined,
			down: true,
			slow: false,
		}),
		"api/v1/perf/history/leaf%2F1%3A3/PortXmitData?since=1h&down=true",
	);
});

test("moments are those of --at, and nothing else", () => {
	for (const it of ["2h", "90m", "2026-01-02", "2026-01-02T03:04", "2026-01-02T03:04:05"])
		assert.equal(route.moment(it), it);
	for (const it of [undefined, "", "now", "2h&x=1", "<b>", "2026-01-02 03:04"])
		assert.equal(route.moment(it), null);
	assert.equal(msOf("2026-01-02T03:04", 0), Date.UTC(2026, 0, 2, 3, 4));
	assert.equal(msOf("2h", 7200e3), 0);
	assert.equal(beforeOf("2026-01-02T03:04:05", "1d", 0), "2026-01-01T03:04:05");
	assert.equal(beforeOf("1h", "1h", 7200e3), "1970-01-01T00:00:00");
	assert.equal(beforeOf("then", "1h", 0), undefined);
});

test("the slider's ends are now and the oldest image", () => {
	assert.equal(stepOf(0, 86400), 1000);
	assert.equal(stepOf(86400, 86400), 0);
	for (const step of [0, 250, 500, 999])
		assert.equal(stepOf(ageOf(step, 1e6), 1e6), step);
});

test("tables sort names as people count, and put what is not known last", () => {
	const columns = [{name: "n", value: (it) => it.n}];
	const rows = (order, ...values) =>
		sorted(
			values.map((n) => ({n})),
			columns,
			order,
		).map((it) => it.n);
	assert.deepEqual(rows("n", "host-10", "host-2", null), ["host-2", "host-10", null]);
	assert.deepEqual(rows("-n", 3, null, 20), [20, 3, null]);
	assert.deepEqual(rows("other", 3, 1), [3, 1]);
});

test("links have their classes, and those that are down have none of traffic", () => {
	const maker = new Maker();
	const [a, b] = [maker.node("a", "switch"), maker.node("b", "switch")];
	maker.link(a, b);
	maker.links[0].ends[1].use_percent = 60;
	maker.links[0].ends[0].errors = {SymbolErrorCounter: 7, PortRcvErrors: 5};
	maker.link(a, b, {state: "down"});
	maker.link(a, b, {slow: true});
	maker.links[2].ends.forEach((it) => (it.use_percent = null));
	maker.link(a, b);
	maker.links[3].ends[1].errors = null;
	const fabric = makeFabric(maker.nodes, maker.links);
	assert.deepEqual([...classesOf(fabric, "use")], [4, DOWN, -1, 0]);
	assert.deepEqual([...classesOf(fabric, "errors")], [2, DOWN, 0, -1]);
	assert.deepEqual(
		[...classesOf(fabric, "state")].map((it) => STATES[it]),
		["active", "down", "slow", "active"],
	);
});

test("none at one end of a link says nothing of the other", () => {
	const ends = (...all) => ({ends: all});
	assert.equal(errorsOf(ends({errors: {}}, {errors: {}})), 0);
	assert.equal(errorsOf(ends({errors: {}}, {errors: null})), NaN);
	assert.equal(errorsOf(ends({errors: {PortRcvErrors: 3}}, {errors: null})), 3);
	const wait = (a, b) => ends({wait_percent: a}, {wait_percent: b});
	assert.deepEqual(waitOf(wait(0, 0)), {wait: 0, isLeast: false});
	assert.deepEqual(waitOf(wait(0, null)), {wait: NaN, isLeast: true});
	assert.deepEqual(waitOf(wait(null, 2)), {wait: 2, isLeast: true});
	assert.deepEqual(waitOf(wait(null, null)), {wait: NaN, isLeast: true});
});

test("that no link is bad is said only where it is known", () => {
	const link = (rest = {}, errors = {}) => ({
		state: "active",
		slow: false,
		rate_bps: 1e11,
		ends: [{errors: {}}, {errors}],
		...rest,
	});
	assert.match(noneBadText([link(), link()]), /is bad.* 2 links/);
	for (const unknown of [link({}, null), link({rate_bps: 0})])
		assert.match(noneBadText([link(), unknown]), /known to be bad.* 1 of 2 links.*not known/);
	for (const bad of [link({state: "down"}), link({slow: true}), link({}, {PortRcvErrors: 1})])
		assert.equal(noneBadText([bad, link({}, null)]), null);
	assert.equal(noneBadText([]), null);
});

test("a link that is down had its rate", () => {
	assert.equal(rateText("active", "4x EDR"), "4x EDR");
	for (const state of ["down", "unreachable"])
		assert.match(rateText(state, "4x EDR"), /^was 4x EDR/);
	assert.equal(rateText("down", "-"), "-");
});

test("an end that has left the fabric becomes a node", () => {
	const maker = new Maker();
	maker.link(maker.node("a", "switch"), maker.node("b", "ca"), {state: "down"});
	maker.nodes.pop();
	const fabric = makeFabric(maker.nodes, maker.links);
	assert.deepEqual(fabric.names, ["a", "b"]);
	assert.equal(fabric.states[1], "gone");
});

test("search finds by name, GUID and LID, the best first", () => {
	const fabric = makeFabric(makeTree(4, 2).nodes, makeTree(4, 2).links);
	const names = (text) => search(fabric, text).map((i) => fabric.names[i]);
	assert.equal(names("leaf-1-0")[0], "leaf-1-0");
	assert.deepEqual(names("CORE"), ["core-0", "core-1", "core-2", "core-3"]);
	assert.equal(names("0x0000000000000002")[0], "core-1");
	assert.equal(names("3")[0], "core-2");
	assert.deepEqual(names("  "), []);
});

test("events come out of pieces, wherever these are cut", () => {
	const text =
		'retry: 5000\n\n: beat\n\nevent: sweep\nid: 7\ndata: {"number":1}\n\nevent: alert\r\nid: 8\r\ndata: a\r\ndata: b\r\n\r\n';
	const expected = [
		{name: "sweep", data: '{"number":1}'},
		{name: "alert", data: "a\nb"},
	];
	for (let size = 1; size < text.length; size++) {
		const reader = new EventReader();
		const found = [];
		for (let i = 0; i < text.length; i += size)
			found.push(...reader.feed(text.slice(i, i + size)));
		assert.deepEqual(found, expected, `pieces of ${size}`);
		assert.equal(reader.lastId, "8");
	}
});

test("names that are not unique have the end of their GUIDs", () => {
	assert.deepEqual(
		labelsOf(
			["leaf", "Quantum", "Quantum", "host", "host", ""],
			["0x1", "0x0002c9f17809a500", "0x0002c9f17809a540", "0x10000abcdef", "0x20000abcdef", "0x7"],
		),
		[
			"leaf",
			"Quantum#09a500",
			"Quantum#09a540",
			"host#0000010000abcdef",
			"host#0000020000abcdef",
			"#000007",
		],
	);
});

test("rows become CSV that no spreadsheet takes for formulas, and are filtered by words", () => {
	const columns = ["name", "n", "what"].map((name) => ({name, value: (it) => it[name]}));
	const rows = [
		{name: 'leaf "1", x', n: -3, what: null},
		{name: "=cmd()", n: 0, what: "a\nb"},
		{name: "-rack", n: NaN, what: "Leaf"},
	];
	assert.equal(
		csvOf(columns, rows),
		'name,n,what\r\n"leaf ""1"", x",-3,\r\n =cmd(),0,"a\nb"\r\n -rack,,Leaf\r\n',
	);
	const names = (text) => filtered(rows, columns, text).map((it) => it.name);
	assert.deepEqual(names("LEAF"), ['leaf "1", x', "-rack"]);
	assert.deepEqual(names("leaf !rack"), ['leaf "1", x']);
	assert.deepEqual(names("  "), rows.map((it) => it.name));
	assert.deepEqual(names("!"), []);
});

test("nodes are grouped by what their names begin with", () => {
	assert.equal(groupOf("rack3-node12 HCA-1"), "rack3-node");
	assert.equal(groupOf("Quantum-2 Mellanox Technologies#09a500"), "Quantum-");
	assert.equal(groupOf("4711"), "4711");
	assert.equal(groupOf("MF0;sw-0012:MQM8700/U1"), "sw-");
	assert.equal(groupOf("MF0;sw-0003:CS8500/L16/U1"), "sw-0003/L");
	assert.equal(groupOf("MF0;sw-0003:CS8500/L16/U2"), "sw-0003/L");
	assert.equal(groupOf("storage"), "storage");
	const groups = grouped([{n: "b2"}, {n: "a10"}, {n: "b1"}, {n: "a9"}], (it) => it.n);
	assert.deepEqual(
		groups.map((it) => [it.group, it.rows.map((row) => row.n)]),
		[
			["a", ["a10", "a9"]],
			["b", ["b2", "b1"]],
		],
	);
});

test("of a label is shown what tells it apart, as far as there is room", () => {
	assert.equal(shortName("leaf-01", 7), "leaf-01");
	assert.equal(shortName("leaf-01", 6), "…af-01");
	assert.equal(shortName("leaf-0017", 3), "…17");
	assert.equal(shortName("leaf-01", 2), "");
	assert.equal(shortName("Quantum-2 Mellanox Technologies#09a500", 12), "#09a500");
	assert.equal(shortName("Quantum-2 Mellanox Technologies#09a500", 6), "…9a500");
	assert.equal(shortName("Quantum-2 Mellanox Technologies#09a500", 3), "…00");
	assert.equal(shortName("Quantum-2 Mellanox Technologies#09a500", 2), "");
	assert.equal(shortName("director", 4), "");
	// What all have tells nothing.
	assert.equal(shortName("MF0;sw-0388:MQM8700/U1", 12), "sw-0388");
	assert.equal(shortName("MF0;sw-0003:CS8500/L16/U1", 12), "sw-0003/L16");
	assert.equal(shortName("MF0;sw-0003:CS8500/L16/U2", 14), "sw-0003/L16/U2");
	assert.equal(shortName("MF0;sw-0003:CS8500/L16/U2", 8), "…/L16/U2");
	assert.equal(shortName("MF0;sw-0003:CS8500/L16/U2", 6), "");
	assert.equal(shortName("MF0;sw-0003:CS8500/L16/U1", 8), "…003/L16");
	assert.equal(shortName("node-0033 mlx5_0", 9), "node-0033");
	assert.equal(shortName("node-0033 mlx5_0", 6), "…-0033");
	for (const name of ["leaf-0017", "MF0;a;b:c:MQM8700/U1", "x y#0a0b0c", "4711 z", "#", ""])
		for (let room = 0; room < 12; room++) {
			const text = shortName(name, room);
			assert.ok(text.length <= room, `${name} in ${room}: ${text}`);
		}
});

test("a fabric is coloured by what is wrong with it, or by what it carries", () => {
	const maker = makeTree(2, 2);
	const fabric = makeFabric(maker.nodes, maker.links);
	assert.equal(tellingMetric(fabric), "use");
	fabric.wait[0] = 5;
	assert.equal(tellingMetric(fabric), "wait");
	fabric.errors[3] = 12;
	assert.equal(tellingMetric(fabric), "errors");
	fabric.state[1] = STATES.indexOf("down");
	assert.equal(tellingMetric(fabric), "state");
});

test("the traffic of a tier is the sum of what is known of its links, and says of how many not", () => {
	const maker = new Maker();
	const [spine, leaf] = [maker.node("spine", "switch"), maker.node("leaf", "switch")];
	const use = (link, a, b) => {
		link.ends[0].use_percent = a;
		link.ends[1].use_percent = b;
	};
	maker.link(spine, leaf, {rate_bps: 100e9});
	maker.link(leaf, spine, {rate_bps: 100e9});
	maker.link(leaf, spine, {rate_bps: null});
	maker.link(leaf, spine, {rate_bps: 100e9, state: "down"});
	maker.link(maker.node("host", "ca"), leaf, {rate_bps: 50e9});
	maker.link(leaf, spine, {rate_bps: 100e9, state: "held", held: true});
	maker.link(maker.node("Some Aggregation Node", "ca"), spine, {rate_bps: 100e9});
	use(maker.links[0], 10, 20); // down 10 %, up 20 %
	use(maker.links[1], 30, 40); // up 30 %, down 40 %
	use(maker.links[4], null, 1);
	const fabric = makeFabric(maker.nodes, maker.links);
	const tier = (low, high, links, inside, more) => ({
		...{low, high, links, inside, known: 0, up: 0, down: 0, capacity: 0, unknown: 0},
		...more,
	});
	assert.equal(unreadLinks(fabric, "PortRcvErrors"), 1);
	assert.equal(unreadLinks(fabric, "PortXmitWait"), 0);
	fabric.waitLeast[0] = fabric.waitLeast[3] = 1; // and the latter is down
	assert.equal(unreadLinks(fabric, "PortXmitWait"), 1);
	// Links that are down or held are none.
	assert.deepEqual(trafficByTier(fabric, [2, 1, 0, 0]), [
		tier(0, 1, 1, 0, {unknown: 1}),
		tier(0, 2, 1, 1, {known: 1, capacity: 100e9}),
		tier(1, 2, 3, 0, {known: 2, up: 50e9, down: 50e9, capacity: 200e9, unknown: 1}),
	]);
});

test("curves of tiers have gaps where nothing is known, and say of which share they are", () => {
	const row = (time, low, known, up, since = time) => ({
		since,
		time,
		low,
		high: low + 1,
		links: 8,
		known_links: known,
		up_bps: up,
		down_bps: up,
	});
	const curves = tierCurves([
		row("t1", 1, 8, 320),
		row("t1", 0, 7, 64),
		row("t2", 0, 0, null),
		row("t3", 0, 8, 0),
		row("t3", 2, 0, null),
	]);
	assert.deepEqual(
		curves.map((it) => [it.low, it.share]),
		[
			[0, "87 to 100\u202f% of its links"],
			[1, "all links"],
			[2, null],
		],
	);
	const points = (k) => curves[k].series[0].points.map((it) => it.per_second);
	assert.deepEqual(points(0), [2, null, 0]);
	// Also where there is no such link at a time.
	assert.deepEqual(points(1), [10, null, null]);
	const minute = (n) => `2026-11-29T10:0${n}:00Z`;
	const [amount] = tierCurves([
		row(minute(1), 0, 8, 800, minute(0)),
		row(minute(2), 0, 0, null, minute(1)),
		row(minute(4), 0, 8, 80, minute(2)),
	]);
	assert.deepEqual([amount.up, amount.down, amount.seconds], [7200, 7200, 180]);
	assert.deepEqual(
		curves[0].series.map((it) => it.label),
		["up", "down"],
	);
	// Nearly all are not all.
	const nearly = {...row("t1", 0, 9999, 1), links: 10000};
	assert.equal(tierCurves([nearly])[0].share, "99\u202f% of its links");
});

test("a counter rose since the last pause, or at least since the last gap", () => {
	const points = (...rates) => rates.map((per_second, i) => ({time: `t${i}`, per_second}));
	assert.equal(riseOf(points(null, null)), undefined);
	assert.equal(riseOf(points(null, 0, null, 0)), null);
	assert.deepEqual(riseOf(points(null, 1, 0, 0, 2, 3, 0)), {
		from: "t3",
		to: "t4",
		isAtLeast: false,
		last: "t5",
	});
	assert.deepEqual(riseOf(points(null, 0, null, 2, 3)), {
		from: "t2",
		to: "t3",
		isAtLeast: true,
		last: "t4",
	});
	// The first point has no rate: what was before is not known.
	assert.ok(riseOf(points(null, 1)).isAtLeast);
});

test("a port has an alert since the first that an active one found, of counters or not", () => {
	const finding = (port, what, since) => ({node_guid: "0x1", port, what, since});
	const since = alertsSince([
		{findings: [finding(2, "PortRcvErrors", "t3"), finding(2, "PortXmitWait", null)]},
		{findings: [finding(2, "bit_error_rate", "t2"), finding(2, "link_down", "t4")]},
		{cleared: "t8", findings: [finding(3, "SymbolErrorCounter", "t1")]},
	]);
	assert.deepEqual([...since], [["0x1:2", "t2"]]);
});
