/**
 * Centre lines in pixels: curves cut into chords, each with a disc at its ends.
 *
 * @module
 */

import { trace } from "./curves.js";

/** The largest distance of a chord from its curve, in pixels. */
const tolerance = 0.04;
/** The most chords of one segment; a curve across the largest board needs fewer. */
const mostChords = 256;
/** Numbers a sample: x, y, radius, opacity. */
export const stride = 4;

/** Receives the segments of a stroke and cuts them into chords. Its memory is kept from stroke to stroke. */
export class CentreLine {
    /** Samples of {@link stride} numbers each: pixels, and the opacity from 0 to 1. */
    samples = new Float64Array(1024);
    /** How many samples there are. */
    count = 0;
    /** The least opacity, and whether it changes along the line. */
    leastOpacity = 1;
    isEven = true;
    /** The box of all discs, in pixels; empty where `left` is above `right`. */
    left = Infinity;
    top = Infinity;
    right = -Infinity;
    bottom = -Infinity;

    #scale = 1;
    #x = 0;
    #y = 0;
    #width = 0;
    #opacity = 1;

    /**
     * Traces a stroke.
     *
     * @param {object} stroke as {@link trace} takes it
     * @param {string} style the ink style
     * @param {number} scale pixels a board unit
     * @param {number} [unit] a 1024th of the board's longer side, in board units
     */
    trace(stroke, style, scale, unit = 1) {
        this.count = 0;
        this.leastOpacity = 1;
        this.isEven = true;
        this.left = this.top = Infinity;
        this.right = this.bottom = -Infinity;
        this.#scale = scale;
        trace(stroke, style, this, unit);
    }

    /**
     * Moves what was traced by a map that keeps lengths, in pixels.
     *
     * @param {number[]} map as in affine.js
     * @param {boolean} isMarker whether there are directions in place of the opacities
     */
    move([a, b, c, d, e, f], isMarker) {
        const { samples, count } = this;
        this.left = this.top = Infinity;
        this.right = this.bottom = -Infinity;
        for (let at = 0; at < count * stride; at += stride) {
            const [x, y, radius, edge] = samples.subarray(at, at + stride);
            samples[at] = a * x + c * y + e;
            samples[at + 1] = b * x + d * y + f;
            if (isMarker) {
                const [across, down] = [Math.cos(edge), Math.sin(edge)];
                samples[at + 3] = Math.atan2(b * across + d * down, a * across + c * down);
            }
            this.#widen(samples[at], samples[at + 1], radius);
        }
    }

    begin(x, y, width, opacity) {
        this.leastOpacity = opacity;
        this.#to(x * this.#scale, y * this.#scale, width, opacity);
    }

    line(x, y, width, opacity) {
        this.#to(x * this.#scale, y * this.#scale, width, opacity);
    }

    quadratic(cx, cy, x, y, width, opacity, controlWidth = (this.#width + width) / 2) {
        const s = this.#scale;
        const [x0, y0, w0, o0] = [this.#x, this.#y, this.#width, this.#opacity];
        const [x1, y1, x2, y2] = [cx * s, cy * s, x * s, y * s];
        const swell = w0 - 2 * controlWidth + width;
        const count = this.#chords(
            Math.max(Math.hypot(x0 - 2 * x1 + x2, y0 - 2 * y1 + y2), Math.abs(swell) * s) / 4);
        for (let i = 1; i < count; i++) {
            const t = i / count;
            const [a, b, c] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t];
            this.#to(
                a * x0 + b * x1 + c * x2, a * y0 + b * y1 + c * y2, a * w0 + b * controlWidth + c * width,
                o0 + (opacity - o0) * t);
        }
        this.#to(x2, y2, width, opacity);
    }

    cubic(ax, ay, bx, by, x, y, width, opacity) {
        const s = this.#scale;
        const [x0, y0, w0, o0] = [this.#x, this.#y, this.#width, this.#opacity];
        const [x1, y1, x2, y2, x3, y3] = [ax * s, ay * s, bx * s, by * s, x * s, y * s];
        const bend = Math.max(
            Math.hypot(x0 - 2 * x1 + x2, y0 - 2 * y1 + y2), Math.hypot(x1 - 2 * x2 + x3, y1 - 2 * y2 + y3));
        const count = this.#chords(bend * 0.75);
        for (let i = 1; i < count; i++) {
            const t = i / count;
            const u = 1 - t;
            const [a, b, c, d] = [u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t];
            this.#to(
                a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3, w0 + (width - w0) * t,
                o0 + (opacity - o0) * t);
        }
        this.#to(x3, y3, width, opacity);
    }

    /** How many chords are near enough to a curve that is so many pixels off its one chord. */
    #chords(off) {
        return Math.min(Math.max(Math.ceil(Math.sqrt(off / tolerance)), 1), mostChords);
    }

    #to(x, y, width, opacity) {
        if (this.count > 0 && opacity !== this.leastOpacity) this.isEven = false;
        if (opacity < this.leastOpacity) this.leastOpacity = opacity;
        [this.#x, this.#y, this.#width, this.#opacity] = [x, y, width, opacity];
        const at = this.count * stride;
        if (at === this.samples.length) {
            const larger = new Float64Array(at * 2);
            larger.set(this.samples);
            this.samples = larger;
        }
        const radius = (width * this.#scale) / 2;
        this.samples[at] = x;
        this.samples[at + 1] = y;
        this.samples[at + 2] = radius;
        this.samples[at + 3] = opacity;
        this.count++;
        this.#widen(x, y, radius);
    }

    #widen(x, y, radius) {
        if (x - radius < this.left) this.left = x - radius;
        if (x + radius > this.right) this.right = x + radius;
        if (y - radius < this.top) this.top = y - radius;
        if (y + radius > this.bottom) this.bottom = y + radius;
    }
}
