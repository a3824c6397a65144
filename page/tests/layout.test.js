// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
import assert from "node:assert/strict";
import {test} from "node:test";

import {layOut} from "../layout.js";
import {makeFabric} from "../model.js";
import {findLevels, findPods} from "../tiers.js";
import {forces, Maker, makeRing, makeTree} from "./made.js";

const fabricOf = (maker) => makeFabric(maker.nodes, maker.links);
const levelOf = (fabric, levels, name) => levels.level[fabric.names.indexOf(name)];

function everyPlaceIsFinite(layout) {
	return layout.x.every(Number.isFinite) && layout.y.every(Number.isFinite);
}

test("levels of a tree are those of 'routes'", () => {
	const fabric = fabricOf(makeTree(4, 2));
	const levels = findLevels(fabric);
	assert.deepEqual(
		["host-0-0-0", "leaf-0-0", "agg-1-1", "core-3"].map((name) =>
			levelOf(fabric, levels, name),
		),
		[0, 1, 2, 3],
	);
	assert.ok(levels.isTree);
	assert.equal(findPods(fabric, levels).nPods, 4);
});

test("a spine with storage stays a spine", () => {
	const maker = new Maker();
	const spines = [1, 2].map((k) => maker.node(`spine-${k}`, "switch"));
	for (let k = 0; k < 4; k++) {
		const leaf = maker.node(`leaf-${k}`, "switch");
		spines.forEach((spine) => maker.link(leaf, spine));
		for (let h = 0; h < 4; h++)
			maker.link(maker.node(`host-${k}-${h}`, "ca"), leaf);
	}
	maker.link(maker.node("storage", "ca"), spines[0]);
	const fabric = fabricOf(maker);
	const levels = findLevels(fabric);
	assert.equal(levelOf(fabric, levels, "spine-1"), 2);
	assert.ok(levels.isTree);
});

test("a ring is no tree, and is laid out by force", () => {
	const fabric = fabricOf(makeRing(12));
	const layout = layOut(fabric, forces, () => 0);
	assert.ok(!layout.isTree && everyPlaceIsFinite(layout));
	assert.ok(layout.width > 10 && layout.height > 10);
});

test("nodes of a tree stand apart, hosts at their switch", () => {
	const fabric = fabricOf(makeTree(12, 6));
	const layout = layOut(fabric, forces);
	assert.ok(layout.isTree && everyPlaceIsFinite(layout) && layout.pods.length === 12);
	const places = new Set(
		fabric.names.map(
			(_, i) =>
				`${layout.x[i]} ${layout.y[i]} ${layout.home[i] < 0 ? "" : layout.slot[i]}`,
		),
	);
	assert.equal(places.size, fabric.names.length);
	const host = fabric.names.indexOf("host-3-2-1");
	assert.equal(fabric.names[layout.home[host]], "leaf-3-2");
	for (const {x, width} of layout.pods)
		assert.ok(x >= 0 && x + width <= layout.width + 0.01);
});

test("fabrics of nothing, of one node and of two hosts have a place for all", () => {
	const alone = new Maker();
	alone.node("host", "ca");
	const pair = new Maker();
	pair.link(pair.node("a", "ca"), pair.node("b", "ca"));
	const bare = new Maker();
	bare.node("switch", "switch");
	for (const maker of [new Maker(), alone, pair, bare]) {
		const layout = layOut(fabricOf(maker), forces);
		assert.ok(everyPlaceIsFinite(layout) && layout.width > 0);
	}
});
