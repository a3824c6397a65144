// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Which part of a layout is seen: between places of the layout and points of the window.
//
// Model: px = x * scale + dx.  In trees the tiers have fixed heights, so only x is moved and
// scaled; in other fabrics x and y are, alike.  Pure.

const MARGIN = 24,
	LEAN = 30;
const MOST = 60; // pixels for a host's cell

export class Viewport {
	constructor(layout, width, height) {
		this.layout = layout;
		this.width = width;
		this.height = height;
		this.fit();
	}

	// Space below is for names, or for the cells of hosts, which stand below their switch.
	get #rows() {
		const {
			layout: {isFew, top},
			height,
		} = this;
		const lowest = isFew || top < 1 ? 0 : 1;
		return {
			lowest,
			first: height - 110,
			step: (height - 150) / Math.max(1, top - lowest),
		};
	}

	fit() {
		const {layout} = this;
		// Names of hosts lean to the right.
		const lean = layout.isTree && layout.isFew ? LEAN : 0;
		const x = (this.width - 2 * MARGIN - lean) / layout.width;
		if (layout.isTree) {
			this.scale = Math.min(x, MOST * 1.6);
			this.dy = 0;
		} else {
			this.scale = Math.min(
				x,
				(this.height - 2 * MARGIN) / layout.height,
				MOST,
			);
			this.dy = (this.height - layout.height * this.scale) / 2;
		}
		this.dx = (this.width - lean - layout.width * this.scale) / 2;
		this.least = Math.min(this.scale, x);
	}

	resize(width, height) {
		const middle = this.toX(this.width / 2);
		const isFitted = Math.abs(this.scale - this.least) < 1e-9;
		this.width = width;
		this.height = height;
		if (isFitted) this.fit();
		else this.dx = width / 2 - middle * this.scale;
	}

	px(x) {
		return x * this.scale + this.dx;
	}

	py(y) {
		if (!this.layout.isTree) return y * this.scale + this.dy;
		const {lowest, first, step} = this.#rows;
		return first - (y - lowest) * step;
	}

	toX(px) {
		return (px - this.dx) / this.scale;
	}

	toY(py) {
		return (py - this.dy) / this.scale;
	}

	pan(dx, dy) {
		this.dx += dx;
		this.dy += this.layout.isTree ? 0 : dy;
		this.#bound();
	}

	// Around a point of the window, which stays where it is.
	zoom(factor, px, py) {
		const next = Math.min(
			MOST * 2,
			Math.max(this.least * 0.8, this.scale * factor),
		);
		const change = next / this.scale;
		this.dx = px - (px - this.dx) * change;
		if (!this.layout.isTree) this.dy = py - (py - this.dy) * change;
		this.scale = next;
		this.#bound();
	}

	// Shows from 'left' to 'right' of the layout.
	show(left, right, y = null) {
		this.scale = Math.min(
			MOST,
			(this.width - 2 * MARGIN) / Math.max(1, right - left),
		);
		this.dx = this.width / 2 - ((left + right) / 2) * this.scale;
		if (!this.layout.isTree && y !== null)
			this.dy = this.height / 2 - y * this.scale;
		this.#bound();
	}

	// Some of it is always in sight.
	#bound() {
		const size = this.layout.width * this.scale;
		this.dx = Math.min(this.width - 60, Math.max(60 - size, this.dx));
		if (!this.layout.isTree) {
			const height = this.layout.height * this.scale;
			this.dy = Math.min(this.height - 60, Math.max(60 - height, this.dy));
		}
	}
}
