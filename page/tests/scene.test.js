// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
import assert from "node:assert/strict";
import {test} from "node:test";

import {layOut} from "../layout.js";
import {classesOf, makeFabric, neighbours} from "../model.js";
import {Scene, shiftOf} from "../scene.js";
import {Viewport} from "../viewport.js";
import {neighbourOf} from "../views/fabric-keys.js";
import {findingText, reportText, splitPlace, tierName} from "../words.js";
import {forces, Maker, makeRing, makeTree} from "./made.js";

const WIDTH = 1000,
	HEIGHT = 600;

function sceneOf(maker) {
	const fabric = makeFabric(maker.nodes, maker.links);
	const layout = layOut(fabric, forces, () => 0);
	return {
		fabric,
		layout,
		scene: new Scene(fabric, layout),
		viewport: new Viewport(layout, WIDTH, HEIGHT),
	};
}

const middleOf = ({scene, viewport}, i) => {
	const {middle, centre} = scene.box(viewport, i);
	return [middle, centre];
};

test("all of a fabric is in sight at first, and tiers stay so", () => {
	for (const maker of [makeTree(4, 2), makeTree(12, 6), makeRing(9, 3)]) {
		const it = sceneOf(maker);
		for (const i of it.scene.switches) {
			const [x, y] = middleOf(it, i);
			assert.ok(
				x >= 0 && x <= WIDTH && y >= 0 && y <= HEIGHT,
				`${it.fabric.names[i]} ${x} ${y}`,
			);
		}
		it.viewport.zoom(5, 100, 100);
		if (it.layout.isTree)
			for (const i of it.scene.switches)
				assert.ok(middleOf(it, i)[1] <= HEIGHT);
	}
});

test("what is drawn at a point is found there", () => {
	for (const maker of [makeTree(4, 2), makeRing(9, 3)]) {
		const it = sceneOf(maker),
			{scene, viewport} = it;
		for (const i of scene.switches)
			assert.deepEqual(scene.at(viewport, "", ...middleOf(it, i), []), {
				node: i,
			});
		for (const i of scene.hosts) {
			const {x, y, size, height} = scene.cell(viewport, i);
			assert.deepEqual(
				scene.at(viewport, "", x + size / 2, y + height / 2, []),
				{node: i},
			);
		}
		assert.equal(scene.at(viewport, "", 1, HEIGHT - 1, []), null);
	}
});

test("a link ends at its host, and a host's name above the next tier", () => {
	for (const maker of [makeTree(4, 4), makeRing(9, 12)]) {
		const it = sceneOf(maker),
			{fabric, layout, scene, viewport} = it;
		viewport.zoom(3, 500, 300);
		for (const i of scene.hosts) {
			const j = scene.hostLink[i];
			const {x, y, size, height} = scene.cell(viewport, i);
			const [x0, y0, x1, y1] = scene.line(viewport, j, true);
			const [px, py] = fabric.a[j] === i ? [x0, y0] : [x1, y1];
			assert.ok(px >= x - 10 && px <= x + size + 10, `${fabric.names[i]}: ${px} ${x}`);
			assert.ok(py >= y && py <= y + height, `${fabric.names[i]}: ${py} ${y} ${height}`);
			assert.equal(scene.endBelow(viewport, i), HEIGHT);
			const home = scene.box(viewport, layout.home[i]);
			const tag = scene.tagY(viewport, i);
			assert.ok(tag - 8 > home.y + home.height || tag + 8 < home.y, `${tag} ${home.y}`);
		}
		if (!layout.isTree) continue;
		// One that stands at the top tier would write over the tier below.
		const top = scene.switches.find((i) => layout.level[i] === layout.top);
		const below = scene.switches.find((i) => layout.level[i] === layout.top - 1);
		layout.home[scene.hosts[0]] = top;
		layout.isFew = false;
		assert.ok(scene.endBelow(viewport, scene.hosts[0]) < scene.box(viewport, below).y);
	}
});

test("a point stays where it is while the picture is zoomed around it", () => {
	for (const maker of [makeTree(4, 2), makeRing(9)]) {
		const {viewport} = sceneOf(maker);
		const x = viewport.toX(300);
		viewport.zoom(1.7, 300, 200);
		assert.ok(Math.abs(viewport.px(x) - 300) < 1e-3);
	}
});

test("a large tree is folded, and what is worst in it is drawn all the same", () => {
	const maker = makeTree(36, 18);
	maker.links[20000].state = "down";
	maker.links[20000].ends.forEach((end) => (end.use_percent = null));
	const {fabric, scene, viewport} = sceneOf(maker);
	const classes = classesOf(fabric, "state");
	assert.ok(scene.isFolded(viewport, ""));
	assert.ok(!scene.isFolded(viewport, "none"));
	const drawn = scene.links(viewport, "", classes, 3);
	const isSwitchLink =
		fabric.types[fabric.a[20000]] === 0 && fabric.types[fabric.b[20000]] === 0;
	assert.deepEqual(drawn, isSwitchLink ? [20000] : []);
	const {x, width} = scene.layout.pods[3];
	viewport.show(x, x + width);
	assert.ok(!scene.isFolded(viewport, ""));
	const seen = scene.links(viewport, "", classes, 3);
	assert.ok(seen.length > 300 && seen.length < 2000, `${seen.length} links`);
});

test("of many links, those that leave the window are stubs there", () => {
	const {fabric, scene, viewport} = sceneOf(makeTree(36, 18));
	const classes = classesOf(fabric, "use");
	const {x, width} = scene.layout.pods[3];
	viewport.show(x, x + width);
	for (const j of scene.links(viewport, "", classes, 9)) {
		const [x0, y0, x1, y1] = scene.line(viewport, j),
			whole = scene.line(viewport, j, true);
		assert.ok(
			Math.hypot(x1 - x0, y1 - y0) <=
				Math.hypot(whole[2] - whole[0], whole[3] - whole[1]) + 1e-6,
		);
		assert.ok(
			[x0, x1].every((it) => it > -100 && it < WIDTH + 100),
			`${x0} ${x1}`,
		);
	}
});

test("arrows lead to neighbours and along tiers", () => {
	const {fabric, scene} = sceneOf(makeTree(4, 2));
	const lists = neighbours(fabric);
	const walk = (name, ...arrows) =>
		arrows.reduce(
			(i, arrow) => neighbourOf(scene, lists, i, arrow),
			fabric.names.indexOf(name),
		);
	assert.equal(fabric.names[walk("leaf-0-0", "Right")], "leaf-0-1");
	assert.equal(fabric.names[walk("leaf-0-1", "Left")], "leaf-0-0");
	assert.equal(scene.layout.level[walk("host-1-0-0", "Up")], 1);
	assert.equal(scene.layout.level[walk("host-1-0-0", "Up", "Up", "Up")], 3);
	assert.equal(walk("leaf-0-0", "Left"), -1);
	assert.equal(scene.layout.level[neighbourOf(scene, lists, -1, "Up")], 3);
});

test("places and findings are read as Triad writes them", () => {
	assert.deepEqual(splitPlace("leaf-01/P4"), {node: "leaf-01", port: 4});
	assert.deepEqual(splitPlace("host-1/HCA-1:2"), {node: "host-1/HCA-1", port: 2});
	assert.equal(tierName({low: 0, high: 1, links: 9, inside: 1}), "hosts and leaves");
	assert.match(tierName({low: 0, high: 2, links: 9, inside: 9}), /^aggregation/);
	assert.deepEqual(splitPlace("spine"), {node: "spine", port: null});
	assert.deepEqual(splitPlace("switch MF0;sw (1) (0x02000002000000a0) port 3"), {
		node: "0x02000002000000a0",
		name: "MF0;sw (1)",
		port: 3,
	});
	assert.deepEqual(splitPlace("ca host-1 HCA-1 (0x0200000100000010)"), {
		node: "0x0200000100000010",
		name: "host-1 HCA-1",
		port: null,
	});
	assert.equal(
		findingText({what: "PortXmitWait", value: 68.71, threshold: "2%"}),
		"PortXmitWait 68.7% (threshold 2%)",
	);
	assert.equal(
		findingText({
			what: "SymbolErrorCounter",
			value: 0,
			worst: 65535,
			at_least: true,
			threshold: "10/sweep",
			under_since: "2026-01-02T03:04:05Z",
		}),
		"SymbolErrorCounter ≥ 65\u202f535/sweep (threshold 10/sweep) but not any more",
	);
	assert.equal(
		findingText({what: "routes", why: "held_links", value: 1, worst: 4}),
		"routes: 1 link is held out of routing",
	);
	assert.equal(
		findingText({
			what: "routes",
			why: "unreachable_pairs",
			value: 0,
			worst: 34,
			under_since: "2026-01-02T03:04:05Z",
		}),
		"routes: 34 pairs of hosts that don't reach each other but not any more",
	);
	assert.equal(
		findingText({what: "link down", value: 1, worst: 1, threshold: null}),
		"link down",
	);
	assert.equal(
		findingText({
			what: "bit error rate",
			why: "symbol",
			value: 7.84e-11,
			target: 1e-14,
		}),
		"bit error rate (symbol) 7.8e-11 (target 1.0e-14)",
	);
	assert.equal(
		reportText({reported: "trap", trap: 144, at: "2026-01-02T03:04:05.678Z"}),
		"trap 144 at 2026-01-02 03:04:05",
	);
});

test("parallel cables stand beside each other, however many", () => {
	for (const n of [1, 2, 3, 18]) {
		const shifts = Array.from({length: n}, (_, k) => shiftOf(k, n));
		assert.ok(Math.abs(shifts.reduce((sum, it) => sum + it, 0)) < 1e-9);
		assert.equal(new Set(shifts).size, n);
		assert.ok(shifts.at(-1) - shifts[0] <= 18);
	}
	assert.equal(shiftOf(0, 1), 0);
	const maker = new Maker();
	const [a, b] = [maker.node("a", "switch"), maker.node("b", "switch")];
	maker.link(a, b);
	maker.link(b, a, {state: "down"});
	const fabric = makeFabric(maker.nodes, maker.links);
	const scene = new Scene(fabric, layOut(fabric, forces));
	assert.notEqual(scene.shift[0], scene.shift[1]);
});
