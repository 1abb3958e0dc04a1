/**
 * The path of a lasso: a closed polygon of which what is passed around twice is outside (even–odd rule).
 *
 * @module
 */

import { PixelBox } from "./coverage.js";

/** Cells along the longer side of the box of a path. */
const mostCells = 96;

/** Where something lies. */
export const Side = Object.freeze({ outside: 0, inside: 1, cut: 2 });

/**
 * A lasso's path, and a grid that tells quickly which side of it something lies on. The grid is careful: what lies within a
 * cell or two of the border counts as cut.
 */
export class LassoShape {
    /** @type {{x: number, y: number}[]} the corners in board units; the last one is joined to the first */
    points;
    /** The least box around it, in board units. */
    box;
    #path = null;
    #cells = null;
    #columns = 0;
    #rows = 0;
    #side = 1;

    constructor(points) {
        this.points = points;
        let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
        for (const { x, y } of points) {
            left = Math.min(left, x);
            top = Math.min(top, y);
            right = Math.max(right, x);
            bottom = Math.max(bottom, y);
        }
        this.box = new PixelBox(left, top, right, bottom);
    }

    /** The inside as a path to fill by the even–odd rule, in board units. */
    get path() {
        if (!this.#path) {
            this.#path = new Path2D();
            for (const { x, y } of this.points) this.#path.lineTo(x, y);
            this.#path.closePath();
        }
        return this.#path;
    }

    /** On which side a rectangle lies; `cut` where that is not certain. */
    sideOf(left, top, right, bottom) {
        if (!this.#cells) this.#survey();
        const { box } = this;
        if (!(right >= box.left && left <= box.right && bottom >= box.top && top <= box.bottom)) return Side.outside;
        const [first, last] = [left, right].map((x) => Math.floor((x - box.left) / this.#side));
        const [upper, lower] = [top, bottom].map((y) => Math.floor((y - box.top) / this.#side));
        const isBeyond = first < 0 || upper < 0 || last >= this.#columns || lower >= this.#rows;
        let side = isBeyond ? Side.outside : this.#cells[upper * this.#columns + first];
        for (let row = Math.max(upper, 0); row <= Math.min(lower, this.#rows - 1); row++) {
            for (let column = Math.max(first, 0); column <= Math.min(last, this.#columns - 1); column++) {
                if (this.#cells[row * this.#columns + column] !== side) return Side.cut;
            }
        }
        return side;
    }

    /** Whether a point is inside. */
    contains(x, y) {
        let isInside = false;
        let before = this.points[this.points.length - 1];
        for (const point of this.points) {
            if (point.y > y !== before.y > y) {
                const at = point.x + ((y - point.y) / (before.y - point.y)) * (before.x - point.x);
                if (x < at) isInside = !isInside;
            }
            before = point;
        }
        return isInside;
    }

    #survey() {
        const { box, points } = this;
        const longest = Math.max(box.right - box.left, box.bottom - box.top);
        const side = (this.#side = longest > 0 ? longest / mostCells : 1);
        const columns = (this.#columns = Math.floor((box.right - box.left) / side) + 1);
        const rows = (this.#rows = Math.floor((box.bottom - box.top) / side) + 1);
        const cells = (this.#cells = new Uint8Array(columns * rows));
        const edges = points.map((point, place) => [place === 0 ? points[points.length - 1] : points[place - 1], point]);
        for (let row = 0; row < rows; row++) {
            const y = box.top + (row + 0.5) * side;
            const crossings = [];
            for (const [a, b] of edges) {
                if (a.y > y !== b.y > y) crossings.push(a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x));
            }
            crossings.sort((one, other) => one - other);
            for (let at = 0, column = 0; column < columns; column++) {
                while (at < crossings.length && crossings[at] < box.left + (column + 0.5) * side) at++;
                cells[row * columns + column] = at & 1;
            }
        }
        // The border, and the cells around it: steps of half a cell pass over no cell by more than its corner.
        for (const [a, b] of edges) {
            const steps = Math.max(Math.ceil((2 * Math.hypot(b.x - a.x, b.y - a.y)) / side), 1);
            for (let step = 0; step <= steps; step++) {
                const column = Math.floor((a.x + ((b.x - a.x) * step) / steps - box.left) / side);
                const row = Math.floor((a.y + ((b.y - a.y) * step) / steps - box.top) / side);
                for (let y = Math.max(row - 1, 0); y <= Math.min(row + 1, rows - 1); y++) {
                    for (let x = Math.max(column - 1, 0); x <= Math.min(column + 1, columns - 1); x++) {
                        cells[y * columns + x] = Side.cut;
                    }
                }
            }
        }
    }
}

/**
 * A path with at most so many points: the ones that matter most (Douglas–Peucker), that is, those of the smallest tolerance
 * that leaves no more.
 *
 * @param {{x: number, y: number}[]} points of a closed path
 * @param {number} most at least 4
 * @returns {{x: number, y: number}[]} some of them, in their order
 */
export function simplified(points, most) {
    if (points.length <= most) return points;
    // How far each point is from the chord that it divides, and no more than the point that divided before it.
    const weights = new Float64Array(points.length);
    weights[0] = weights[points.length - 1] = Infinity;
    const open = [[0, points.length - 1, Infinity]];
    while (open.length > 0) {
        const [first, last, bound] = open.pop();
        const [a, b] = [points[first], points[last]];
        const length = Math.hypot(b.x - a.x, b.y - a.y);
        let [farthest, distance] = [-1, -1];
        for (let place = first + 1; place < last; place++) {
            const { x, y } = points[place];
            const along = length > 0 ? ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / (length * length) : 0;
            const foot = Math.min(Math.max(along, 0), 1);
            const off = Math.hypot(x - a.x - foot * (b.x - a.x), y - a.y - foot * (b.y - a.y));
            if (off > distance) [farthest, distance] = [place, off];
        }
        if (farthest < 0) continue;
        weights[farthest] = Math.min(distance, bound);
        open.push([first, farthest, weights[farthest]], [farthest, last, weights[farthest]]);
    }
    const least = [...weights].sort((one, other) => other - one)[most - 1];
    let ties = most - weights.reduce((count, weight) => count + (weight > least ? 1 : 0), 0);
    return points.filter((_, place) => weights[place] > least || (weights[place] === least && ties-- > 0));
}
