/**
 * The coverage of one stroke: for each pixel the part that the stroke covers, 0 … 255.
 *
 * A stroke is the union of the discs along its line. Each chord is a tapered capsule, the hull of the discs at its ends;
 * the greatest coverage of all capsules counts, so that a stroke never darkens itself. Plain arithmetic on bytes, without
 * a canvas: the same pixels in every browser.
 *
 * @module
 */

import { stride } from "./centreline.js";

/** The line lies as it was drawn. */
const identity = [1, 0, 0, 1, 0, 0];

/** Half the diagonal of a pixel, rounded up: farther than this from a disc no pixel is covered. */
const fringe = 0.71;
/** Stamps of a dot, and board units between two stamps of a line. */
const dotStamps = 8;
const stampSpacing = 0.5;
/** Stamps within one part of the radius are drawn as one that counts for all; a radius has this many parts. */
const groupsPerRadius = 64;

/** A rectangle of whole pixels: `left` and `top` inclusive, `right` and `bottom` exclusive. */
export class PixelBox {
    constructor(left, top, right, bottom) {
        [this.left, this.top, this.right, this.bottom] = [left, top, right, bottom];
    }
    get width() { return Math.max(this.right - this.left, 0); }
    get height() { return Math.max(this.bottom - this.top, 0); }
    get isEmpty() { return this.right <= this.left || this.bottom <= this.top; }
    /** The pixels of both. */
    intersection(other) {
        return new PixelBox(
            Math.max(this.left, other.left), Math.max(this.top, other.top), Math.min(this.right, other.right),
            Math.min(this.bottom, other.bottom));
    }
    /** The least box around both. */
    union(other) {
        if (this.isEmpty) return other;
        if (other.isEmpty) return this;
        return new PixelBox(
            Math.min(this.left, other.left), Math.min(this.top, other.top), Math.max(this.right, other.right),
            Math.max(this.bottom, other.bottom));
    }
    meets(other) {
        return this.left < other.right && other.left < this.right && this.top < other.bottom && other.top < this.bottom
            && !this.isEmpty && !other.isEmpty;
    }
}

/** Covers a box of pixels with strokes, one at a time. Its memory is kept: eight bytes a pixel of the largest box. */
export class Coverage {
    /** The pixels in question. */
    box = new PixelBox(0, 0, 0, 0);
    /** A byte a pixel of the box, row by row. */
    bytes = new Uint8Array(0);
    /** Of each row of the box the columns that may be covered: from `firsts` on, before `ends`. */
    firsts = new Int32Array(0);
    ends = new Int32Array(0);

    #tones = new Uint8Array(0);
    #uncovered = new Float32Array(0);

    /**
     * Covers with a line.
     *
     * @param {CentreLine} line the centre line
     * @param {PixelBox} clip only these pixels are wanted
     * @param {{tip?: string, scale?: number, turn?: number[]}} options `tip`: stamps of this tip along the line instead of a
     *   pen, "round", "square", "marker" or "highlighter"; `scale`: pixels a board unit; `turn`: the map by which the line was
     *   turned, see affine.js
     */
    cover(line, clip, { tip = null, scale = 1, turn = identity } = {}) {
        this.box = Coverage.boxOf(line).intersection(clip);
        if (this.box.isEmpty) return;
        const area = this.box.width * this.box.height;
        this.bytes = cleared(this.bytes, area);
        if (this.firsts.length < this.box.height) {
            this.firsts = new Int32Array(this.box.height);
            this.ends = new Int32Array(this.box.height);
        }
        this.firsts.fill(this.box.width, 0, this.box.height);
        this.ends.fill(0, 0, this.box.height);
        if (tip) return this.#stamp(line, scale, tip, turn);
        if (!line.isEven) this.#tones = cleared(this.#tones, area);
        this.#capsules(line);
        if (!line.isEven || line.leastOpacity < 1) this.#tone(line);
    }

    /** The pixels that a line may touch. */
    static boxOf(line) {
        if (line.count === 0) return new PixelBox(0, 0, 0, 0);
        return new PixelBox(
            Math.floor(line.left - fringe), Math.floor(line.top - fringe), Math.ceil(line.right + fringe),
            Math.ceil(line.bottom + fringe));
    }

    #capsules(line) {
        const { samples, count } = line;
        const last = (count - 1) * stride;
        let isBroken = true;
        for (let at = 0; at < last; at += stride) {
            const to = at + stride;
            const length = Math.hypot(samples[to] - samples[at], samples[to + 1] - samples[at + 1]);
            if (length <= Math.abs(samples[at + 2] - samples[to + 2]) * 1.02 || length < 1e-3) {
                // One disc contains the other, or nearly: both are drawn where the line is broken.
                if (isBroken) this.#disc(line, at);
                isBroken = true;
                continue;
            }
            const before = isBroken ? Infinity : bendReach(samples, at - stride, at, to);
            const next = to + stride;
            const isEnd = to === last || isContained(samples, to, next);
            this.#capsule(line, at, to, length, before, isEnd ? Infinity : bendReach(samples, at, to, next));
            isBroken = isEnd;
        }
        if (isBroken) this.#disc(line, last);
    }

    #disc(line, at) {
        this.#capsule(line, at, at, 0, Infinity, Infinity);
    }

    /**
     * Covers with the hull of two discs. `before` and `after`: how far beyond its ends the capsule is drawn, in tangents of
     * half the bend; what lies farther is its neighbour's.
     */
    #capsule(line, from, to, length, before, after) {
        const { samples, isEven } = line;
        const [x0, y0, r0, o0] = [samples[from], samples[from + 1], samples[from + 2], samples[from + 3]];
        const [x1, y1, r1, o1] = [samples[to], samples[to + 1], samples[to + 2], samples[to + 3]];
        const [ux, uy] = length > 0 ? [(x1 - x0) / length, (y1 - y0) / length] : [1, 0];
        const taper = length > 0 ? (r0 - r1) / length : 0;
        // The foot of a pixel lies where the disc is nearest to it: before the perpendicular where the line gets thinner.
        const shift = taper === 0 ? 0 : taper / Math.sqrt(1 - taper * taper);
        const reach = Math.max(r0, r1) + fringe;
        const skew = Math.abs(shift) * reach;
        const start = -Math.min(r0 + fringe, (r0 + fringe) * before + 0.01) - skew;
        const end = length + Math.min(r1 + fringe, (r1 + fringe) * after + 0.01) + skew;
        const thinning = length > 0 ? (r1 - r0) / length : 0;
        const fading = length > 0 ? (o1 - o0) / length : 0;

        const { left, top, width, height } = this.box;
        const { bytes, firsts, ends } = this;
        const tones = isEven ? null : this.#tones;
        const originX = x0 - left;
        const originY = y0 - top;
        const [cornerA, cornerB] = [start * uy, end * uy];
        const spread = reach * Math.abs(ux);
        const firstRow = Math.max(Math.floor(originY + Math.min(cornerA, cornerB) - spread), 0);
        const endRow = Math.min(Math.ceil(originY + Math.max(cornerA, cornerB) + spread) + 1, height);
        for (let row = firstRow; row < endRow; row++) {
            const dy = row + 0.5 - originY;
            // Columns where |across| ≤ reach and start ≤ along ≤ end.
            let low = -Infinity;
            let high = Infinity;
            if (Math.abs(uy) > 1e-9) {
                const [a, b] = [(dy * ux - reach) / uy, (dy * ux + reach) / uy];
                low = Math.min(a, b);
                high = Math.max(a, b);
            } else if (Math.abs(dy) > reach) continue;
            if (Math.abs(ux) > 1e-9) {
                const [a, b] = [(start - dy * uy) / ux, (end - dy * uy) / ux];
                low = Math.max(low, Math.min(a, b));
                high = Math.min(high, Math.max(a, b));
            } else if (dy * uy < start || dy * uy > end) continue;
            const first = Math.max(Math.floor(low + originX - 0.5), 0);
            const past = Math.min(Math.ceil(high + originX + 0.5), width);
            if (first >= past) continue;
            if (first < firsts[row]) firsts[row] = first;
            if (past > ends[row]) ends[row] = past;
            const at = row * width;
            for (let column = first; column < past; column++) {
                const dx = column + 0.5 - originX;
                const along = dx * ux + dy * uy;
                const across = dy * ux - dx * uy;
                let foot = along - (across < 0 ? -across : across) * shift;
                foot = foot < 0 ? 0 : foot > length ? length : foot;
                if (tones) {
                    const tone = (o0 + foot * fading) * 255 + 0.5;
                    if (tone > tones[at + column]) tones[at + column] = tone;
                }
                const radius = r0 + foot * thinning;
                const ahead = along - foot;
                const square = ahead * ahead + across * across;
                if (square >= (radius + fringe) * (radius + fringe)) continue;
                let part = 1;
                if (radius < fringe || square > (radius - fringe) * (radius - fringe)) {
                    const distance = Math.sqrt(square);
                    const [nx, ny] =
                        distance > 1e-9
                            ? [Math.abs(ahead * ux - across * uy) / distance, Math.abs(ahead * uy + across * ux) / distance]
                            : [1, 0];
                    part = halfPlane(radius - distance, nx, ny);
                    // A line thinner than a pixel: the other edge is near, too.
                    if (radius < fringe) part = Math.max(part + halfPlane(radius + distance, nx, ny) - 1, 0);
                }
                const byte = part * 255 + 0.5;
                if (byte > bytes[at + column]) bytes[at + column] = byte;
            }
        }
    }

    /** Multiplies the coverage by the opacity. */
    #tone(line) {
        const { width, height } = this.box;
        const least = Math.floor(line.leastOpacity * 255);
        for (let row = 0; row < height; row++) {
            for (let at = row * width + this.firsts[row]; at < row * width + this.ends[row]; at++) {
                const tone = line.isEven ? line.leastOpacity * 255 : Math.max(this.#tones[at], least);
                this.bytes[at] = (this.bytes[at] * tone) / 255 + 0.5;
            }
        }
    }

    /** Stamps a tip along the line; each stamp lies over those before it. */
    #stamp(line, scale, tip, [a, b, c, d]) {
        const { width, height } = this.box;
        const area = width * height;
        if (this.#uncovered.length < area) this.#uncovered = new Float32Array(area);
        this.#uncovered.fill(1, 0, area);
        const step = stampSpacing * scale;
        const { samples, count } = line;
        let carried = 0;
        let hasMoved = false;
        // The tip of a stamp: the unit vector along its edge.
        let [ex, ey] = tip === "highlighter" ? [c, d] : [a, b];
        let hasEdge = false;
        // In place of the opacity a marker has the direction of its edge.
        const flat = (turn) => {
            if (tip === "marker") [ex, ey] = [Math.cos(turn), Math.sin(turn)];
            return tip === "round" ? null : { tip, step, ex, ey };
        };
        /** Turns the edge of a highlighter at a sample, with stamps in between where the line has a corner. */
        const fan = (at, ax, ay, bx, by, halvings) => {
            if (ax * bx + ay * by >= 0.99 || halvings === 0) return;
            const length = Math.hypot(ax + bx, ay + by);
            const [mx, my] = [(ax + bx) / length, (ay + by) / length];
            fan(at, ax, ay, mx, my, halvings - 1);
            this.#brush(
                samples[at], samples[at + 1], samples[at + 2], samples[at + 3], 1, { tip, step, ex: mx, ey: my });
            fan(at, mx, my, bx, by, halvings - 1);
        };
        for (let at = 0; at + stride < count * stride; at += stride) {
            const to = at + stride;
            const length = Math.hypot(samples[to] - samples[at], samples[to + 1] - samples[at + 1]);
            if (length === 0) continue;
            if (tip === "highlighter") {
                let [nx, ny] = [(samples[at + 1] - samples[to + 1]) / length, (samples[to] - samples[at]) / length];
                if (hasEdge && ex * nx + ey * ny < 0) [nx, ny] = [-nx, -ny];
                if (hasEdge) fan(at, ex, ey, nx, ny, 5);
                [ex, ey, hasEdge] = [nx, ny, true];
            }
            if (!hasMoved) this.#brush(samples[0], samples[1], samples[2], samples[3], 1, flat(samples[3]));
            hasMoved = true;
            const ahead = step - carried;
            const stamps = Math.floor((length - ahead) / step) + 1;
            if (stamps <= 0) {
                carried += length;
                continue;
            }
            carried = Math.min(Math.max(length - ahead - (stamps - 1) * step, 0), step);
            const group = Math.floor(Math.max(Math.min(samples[at + 2], samples[to + 2]), 1) / groupsPerRadius / step);
            for (let index = 0; index < stamps; ) {
                const together = Math.max(Math.min(group, stamps - index), 1);
                const part = (ahead + (index + (together - 1) / 2) * step) / length;
                const between = (offset) => samples[at + offset] + (samples[to + offset] - samples[at + offset]) * part;
                this.#brush(between(0), between(1), between(2), between(3), together, flat(between(3)));
                index += together;
            }
        }
        if (!hasMoved && count > 0) this.#brush(samples[0], samples[1], samples[2], samples[3], dotStamps, flat(samples[3]));
        const most = tip === "highlighter" ? 0.4 * 255 : 255;
        for (let row = 0; row < height; row++) {
            for (let at = row * width + this.firsts[row]; at < row * width + this.ends[row]; at++) {
                this.bytes[at] = (1 - this.#uncovered[at]) * most + 0.5;
            }
        }
    }

    /** Stamps `count` times on one place; `flat` is the edge of a tip that is not round. */
    #brush(x, y, ownRadius, opacity, count, flat) {
        const { left, top, width, height } = this.box;
        // A brush smaller than a pixel would fall between the centres: it gets the size of one, and is as faint as small.
        const radius = Math.max(ownRadius, 1);
        const small = ownRadius / radius;
        const ink = flat?.tip === "marker" ? 1 : opacity;
        const alpha = Math.min(1, ink / 1.5) * small * small;
        const [cx, cy] = [x - left, y - top];
        const texels = 32 / radius;
        const firstRow = Math.max(Math.floor(cy - radius), 0);
        const endRow = Math.min(Math.ceil(cy + radius), height);
        const first = Math.max(Math.floor(cx - radius), 0);
        const past = Math.min(Math.ceil(cx + radius), width);
        if (first >= past) return;
        const uncovered = this.#uncovered;
        const rectangle = flat && rectangleOf(flat.tip, radius, flat.step);
        for (let row = firstRow; row < endRow; row++) {
            if (first < this.firsts[row]) this.firsts[row] = first;
            if (past > this.ends[row]) this.ends[row] = past;
            const dy = row + 0.5 - cy;
            for (let column = first; column < past; column++) {
                const dx = column + 0.5 - cx;
                const strength = rectangle
                    ? rectangle(Math.abs(dx * flat.ex + dy * flat.ey), Math.abs(dx * flat.ey - dy * flat.ex))
                    : (30 - Math.sqrt(dx * dx + dy * dy) * texels) / 24;
                if (strength <= 0) continue;
                const rest = 1 - (strength < 1 ? strength : 1) * alpha;
                uncovered[row * width + column] *= count === 1 ? rest : rest ** count;
            }
        }
    }
}

/** The strength of a tip with an edge, by the distances from its middle along the edge and across it, in pixels. */
function rectangleOf(tip, radius, step) {
    const rim = Math.max(1, radius / 12);
    const isSquare = tip === "square";
    const halfLength = (isSquare ? radius : radius * 0.95) - rim / 2;
    const halfThickness = isSquare
        ? halfLength
        : Math.min(Math.max(radius * 0.3, step * 1.5), radius * 0.6) - rim / 2;
    const part = (inside) => Math.min(Math.max(inside / rim + 0.5, 0), 1);
    return (along, across) => part(halfLength - along) * part(halfThickness - across);
}

/** An array of at least so many zeros. */
function cleared(array, count) {
    if (array.length < count) return new array.constructor(count);
    array.fill(0, 0, count);
    return array;
}

/** Whether one disc contains the next, or nearly. */
function isContained(samples, at, next) {
    const length = Math.hypot(samples[next] - samples[at], samples[next + 1] - samples[at + 1]);
    return length <= Math.abs(samples[at + 2] - samples[next + 2]) * 1.02 || length < 1e-3;
}

/** The tangent of half the angle by which the line turns at the sample `b`. */
function bendReach(samples, a, b, c) {
    const [x1, y1] = [samples[b] - samples[a], samples[b + 1] - samples[a + 1]];
    const [x2, y2] = [samples[c] - samples[b], samples[c + 1] - samples[b + 1]];
    const cosine = (x1 * x2 + y1 * y2) / Math.sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));
    return Math.sqrt(Math.max(1 - cosine, 0) / Math.max(1 + cosine, 1e-6));
}

/**
 * The part of a pixel that lies in a half plane.
 *
 * @param {number} depth how far inside of the edge the pixel's centre lies
 * @param {number} nx amount of the normal's x, as `ny` not negative
 */
function halfPlane(depth, nx, ny) {
    const [a, b] = nx > ny ? [nx, ny] : [ny, nx];
    const half = (a + b) / 2;
    if (depth >= half) return 1;
    if (depth <= -half) return 0;
    const flat = (a - b) / 2;
    if (depth <= flat && depth >= -flat) return 0.5 + depth / a;
    const rest = half - Math.abs(depth);
    const corner = (rest * rest) / (2 * a * b);
    return depth > 0 ? 1 - corner : corner;
}
