// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Where arrows lead in the picture of a fabric: to the next node of the tier, or to a neighbour
// above or below.  Pure.

export function neighbourOf(scene, lists, i, arrow) {
	const {layout} = scene;
	if (i < 0)
		return scene.switches.length
			? scene.switches.reduce((best, it) =>
					layout.level[it] > layout.level[best] ? it : best,
				)
			: (scene.hosts[0] ?? -1);
	if (arrow === "Up" || arrow === "Down") {
		const sign = arrow === "Up" ? 1 : -1;
		const way = layout.isTree
			? (it) => sign * (layout.level[it] - layout.level[i])
			: (it) => -sign * (layout.y[it] - layout.y[i]);
		return nearest(
			layout,
			i,
			lists[i].map((it) => it.far).filter((it) => way(it) > 0),
		);
	}
	const sign = arrow === "Right" ? 1 : -1;
	const all = layout.level[i] === 0 ? scene.hosts : scene.switches;
	return nearest(
		layout,
		i,
		all.filter(
			(it) =>
				layout.level[it] === layout.level[i] &&
				(sign * (layout.x[it] - layout.x[i]) > 0 ||
					(layout.x[it] === layout.x[i] && sign * (it - i) > 0)),
		),
	);
}

function nearest(layout, i, list) {
	const far = (it) => Math.abs(layout.x[it] - layout.x[i]) + Math.abs(it - i) * 1e-6;
	return list.reduce((best, it) => (best < 0 || far(it) < far(best) ? it : best), -1);
}
