/**
 * Strokes that are being drawn: wet until their operation replaces them.
 *
 * The server sends the points of a stroke as the video of the cohort passes them. Nothing depends on them: what is lost
 * comes again, and in the end the operation has all points.
 *
 * @module
 */

import { CentreLine, stride } from "./centreline.js";
import { Coverage, PixelBox } from "./coverage.js";
import { Element } from "./curves.js";
import { now } from "./gateway.js";
import { strokeOf } from "./model.js";

/** A stroke without a message is forgotten after so many milliseconds, and one that is over is remembered as long. */
const lifetime = 10_000;
/** Strokes at a time, points of one and of all; what is beyond appears with its operation. */
const mostStrokes = 64;
const mostPoints = 100_000;
const mostPointsInAll = 400_000;
/** Samples before the first one that is another, whose pixels may change with it. */
const sampleReach = 8;

/** One stroke, as far as the messages tell. */
class WetStroke {
    /** All of the message but the points. */
    style = {};
    page = 0;
    points = [];
    /** For each point: milliseconds from the stroke's time to it, or to a point before it that is later. */
    reaches = [];
    predicted = [];
    /** The index of its operation, once it is in the log. */
    index;
    /** Whether the page has the operation: all points are there. */
    isComplete = false;
    /** Points that were shown; none is taken back. */
    shown = 0;
    heardAt = now();
    /** Changes with every point. */
    version = 0;
    /** What is on the canvas: a stroke of the painter, its line, and the version of this. */
    drawn = null;

    constructor(author, session, n) {
        [this.author, this.session, this.n] = [author, session, n];
    }

    /** Puts points to the places from `first` on. Those behind them stay. */
    put(first, points) {
        let changed = Infinity;
        points.forEach((point, offset) => {
            const place = first + offset;
            if (isSamePoint(this.points[place], point)) return;
            this.points[place] = point;
            changed = Math.min(changed, place);
        });
        if (changed === Infinity) return;
        this.version++;
        this.reaches.length = changed;
        for (let place = changed; place < this.points.length; place++) {
            this.reaches[place] = Math.max(this.points[place].m ?? 0, this.reaches[place - 1] ?? 0);
        }
    }

    /** How many points a player has passed. */
    countAt(time) {
        if (time === Infinity || this.style.t === undefined) return this.points.length;
        let [low, high] = [0, this.points.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.style.t + this.reaches[middle] < time) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}

/** When a stroke is over: its time and the largest `m` of its points. Undefined without a time. */
export function endOf(message) {
    if (message.t === undefined) return undefined;
    return Math.trunc(message.t) + (message.d ?? []).reduce((most, { m }) => Math.max(most, m ?? 0), 0);
}

/** The strokes of one board that are being drawn. */
export class WetInk {
    #strokes = new Map();
    /** Strokes whose operation has come, by their keys, and when: a message that comes after it is late. */
    #over = new Map();
    #points = 0;

    /** What is on the canvas where it shows a page, from the bottom to the top. */
    drawnOn(page) {
        const strokes = [];
        for (const stroke of this.#strokes.values()) if (stroke.drawn && stroke.page === page) strokes.push(stroke.drawn.stroke);
        return strokes;
    }

    get isEmpty() {
        return this.#strokes.size === 0;
    }

    /**
     * Takes a message.
     *
     * @param {object} release the message
     * @param {boolean} isPredicted whether predicted points are shown
     * @returns {PixelBox | null} what is to be painted again where the stroke was given up
     */
    take(release, isPredicted) {
        const { author, session, n } = release;
        const key = keyOf(author, session, n);
        if (release.x === true) return this.#remove(key);
        const points = release.d ?? [];
        if (this.#over.has(key) && release.index === undefined) return null;
        const known = this.#strokes.get(key);
        if (release.k > (known?.points.length ?? 0)) return null;
        const growth = Math.max(release.k + points.length - (known?.points.length ?? 0), 0);
        if (release.k + points.length > mostPoints || this.#points + growth > mostPointsInAll) return null;
        if (!known && this.#strokes.size >= mostStrokes) return null;
        const stroke = known ?? new WetStroke(author, session, n);
        this.#strokes.set(key, stroke);
        stroke.heardAt = now();
        stroke.index = release.index ?? stroke.index;
        if (stroke.isComplete) return null;
        const { c, l, e, t, w, h } = release;
        stroke.style = { c, l, e, t, w, h };
        stroke.page = release.page ?? 0;
        stroke.put(release.k, points);
        this.#points += growth;
        const predicted = isPredicted ? (release.p ?? []) : [];
        if (predicted.length > 0 || stroke.predicted.length > 0) stroke.version++;
        stroke.predicted = predicted;
        return null;
    }

    /** An operation has come that waits for the player: its points take the place of those that came before. */
    complete({ index, author, page = 0, message }) {
        let stroke = this.#find(author, message.n);
        if (!stroke) {
            if (this.#strokes.size >= mostStrokes) return;
            stroke = new WetStroke(author, undefined, message.n);
            this.#strokes.set(keyOf(author, undefined, message.n), stroke);
        }
        if (stroke.isComplete) return;
        const { c, l, e, t, w, h, d } = message;
        this.#points += d.length - stroke.points.length;
        Object.assign(stroke, { index, page, isComplete: true, predicted: [], style: { c, l, e, t, w, h } });
        stroke.points.length = Math.min(stroke.points.length, d.length);
        stroke.put(0, d);
        stroke.version++;
    }

    /**
     * The board shows an operation.
     *
     * @returns {PixelBox | null} what is to be painted again, because the stroke was there while it was drawn
     */
    settle(author, n) {
        const stroke = this.#find(author, n);
        if (!stroke) return null;
        const key = keyOf(author, stroke.session, n);
        this.#over.set(key, now());
        return this.#remove(key);
    }

    /** Forgets all. */
    clear() {
        this.#strokes.clear();
        this.#over.clear();
        this.#points = 0;
    }

    /**
     * Forgets strokes of which nothing was heard for long.
     *
     * @returns {PixelBox | null} what is to be painted again
     */
    expire() {
        const before = now() - lifetime;
        for (const [key, at] of this.#over) if (at < before) this.#over.delete(key);
        let box = null;
        for (const [key, { heardAt, isComplete }] of this.#strokes) {
            if (heardAt < before && !isComplete) box = union(box, this.#remove(key));
        }
        return box;
    }

    /**
     * Shows the points that the player has passed.
     *
     * @param {number} time of the player in milliseconds; Infinity without one
     * @param {(stroke: {author: string, index?: number}) => boolean} isHeldBack whether something before it still waits
     * @param {object} board its size and palette, and the page that is drawn: strokes of others wait until theirs is
     * @param {Painter} painter whose ink counts
     * @param {(stroke: {author: string, n: number}, count: number, due: number) => void} ongrown told of strokes with more
     *   points, and when the first of these was due
     * @returns {{box: PixelBox | null, wait: number}} what is to be painted again, and milliseconds of media time until
     *   there is more to show; Infinity for not by itself
     */
    grow(time, isHeldBack, board, painter, ongrown) {
        let [box, wait] = [null, Infinity];
        for (const stroke of this.#strokes.values()) {
            if (stroke.page !== (board.page ?? 0)) continue;
            if (isHeldBack(stroke)) {
                wait = Math.min(wait, 100);
                continue;
            }
            const count = Math.max(stroke.countAt(time), stroke.shown);
            if (count < stroke.points.length) wait = Math.min(wait, stroke.style.t + stroke.reaches[count] - time);
            const key = [stroke.version, count, ...Object.values(painter.ink), board.width, board.height].join(" ");
            if (count === 0 || stroke.drawn?.key === key) continue;
            if (count > stroke.shown) ongrown(stroke, count, stroke.style.t + stroke.reaches[stroke.shown]);
            stroke.shown = count;
            const seen = count === stroke.points.length ? [...stroke.points, ...stroke.predicted] : stroke.points.slice(0, count);
            const drawn = strokeOf({ ...stroke.style, d: seen }, board, { author: stroke.author });
            const line = new TracedLine(drawn, painter);
            box = union(box, stroke.drawn ? line.changeFrom(stroke.drawn.line) : line.box);
            stroke.drawn = { stroke: drawn, line, key };
        }
        return { box, wait };
    }

    #find(author, n) {
        for (const stroke of this.#strokes.values()) if (stroke.n === n && stroke.author === author) return stroke;
        return null;
    }

    #remove(key) {
        const stroke = this.#strokes.get(key);
        if (!stroke) return null;
        this.#strokes.delete(key);
        this.#points -= stroke.points.length;
        return stroke.drawn?.line.box ?? null;
    }
}

/** The line of a stroke in pixels, to be compared with what it was before. */
export class TracedLine {
    /** The pixels that the stroke may touch. */
    box;
    #samples;
    #key;

    /**
     * @param {Stroke} stroke
     * @param {Painter} painter whose ink counts
     */
    constructor(stroke, painter) {
        const line = TracedLine.#line;
        const { style, scale, unit } = painter.ink;
        line.trace(stroke, style, scale, unit);
        this.box = Coverage.boxOf(line);
        this.#samples = line.samples.slice(0, line.count * stride);
        // Where one of these changes, every pixel may.
        this.#key = `${style} ${scale} ${unit} ${line.isEven} ${line.isEven ? line.leastOpacity : ""}`;
    }

    /** The pixels in which it may differ from a line before; nearly always those around its end. */
    changeFrom(before) {
        if (before.#key !== this.#key) return this.box.union(before.box);
        const [a, b] = [before.#samples, this.#samples];
        let place = 0;
        while (place < a.length && place < b.length && a[place] === b[place]) place++;
        if (place === a.length && place === b.length) return new PixelBox(0, 0, 0, 0);
        let sample = Math.max(Math.floor(place / stride) - sampleReach, 0);
        // Samples in one place are drawn together.
        while (sample > 0 && isOnePlace(b, sample - 1, sample)) sample--;
        return boxFrom(a, sample).union(boxFrom(b, sample));
    }

    static #line = new CentreLine();
}

function isOnePlace(samples, a, b) {
    return samples[a * stride] === samples[b * stride] && samples[a * stride + 1] === samples[b * stride + 1];
}

/** The pixels around the discs of a line from a sample on. */
function boxFrom(samples, first) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = first * stride; at < samples.length; at += stride) {
        const [x, y] = [samples[at], samples[at + 1]];
        const before = at > 0 ? slantOf(samples, at - stride, at) : 1;
        const after = at + stride < samples.length ? slantOf(samples, at, at + stride) : 1;
        const radius = (Math.max(samples[at + 2], 1) + 2) * Math.max(before, after);
        left = Math.min(left, x - radius);
        top = Math.min(top, y - radius);
        right = Math.max(right, x + radius);
        bottom = Math.max(bottom, y + radius);
    }
    if (left > right) return new PixelBox(0, 0, 0, 0);
    return new PixelBox(Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom));
}

/**
 * How far a tapered piece of the line reaches, in its radii: where opacity changes, a piece gives its tone to all pixels
 * between the slanting lines across its ends.
 */
function slantOf(samples, from, to) {
    const length = Math.hypot(samples[to] - samples[from], samples[to + 1] - samples[from + 1]);
    const taper = length > 0 ? Math.min(Math.abs(samples[from + 2] - samples[to + 2]) / length, 0.99) : 0;
    return 1 + taper / Math.sqrt(1 - taper * taper);
}

function keyOf(author, session, n) {
    return `${author} ${n} ${session ?? ""}`;
}

function union(box, other) {
    return box && other ? box.union(other) : (box ?? other);
}

/** Points of a stroke under the pen that are traced anew with each further one; beyond twice as many, a piece is cut off. */
const mostTraced = 96;

/**
 * The stroke under the pen, for the painter. In the style `smooth` what cannot change any more is cut off in pieces, so that a
 * point costs as much in a long stroke as in a short one; in all others it is traced from its beginning.
 */
export class GrowingStroke {
    /** The stroke in pieces, from its beginning; the last one changes. */
    strokes = [];
    #message;
    #key = "";
    /** What is left to trace, in board units of the message, and how many points of the pen were taken. */
    #open = [];
    #taken = 0;
    #line = null;

    /** @param {object} message all of it but its points */
    constructor(message) {
        this.#message = message;
    }

    /**
     * Takes the points that are new.
     *
     * @param {{x: number, y: number}[]} points all of them
     * @param {object} board its size and palette
     * @param {Painter} painter whose ink counts
     * @returns {PixelBox} what is to be painted again
     */
    take(points, board, painter) {
        const { style } = painter.ink;
        const key = `${style} ${board.width} ${board.height} ${board.palette}`;
        if (key !== this.#key) [this.#key, this.strokes, this.#open, this.#taken] = [key, [], [], 0];
        for (; this.#taken < points.length; this.#taken++) this.#open.push(points[this.#taken]);
        const pieces = this.strokes.slice(0, -1);
        const hasPieces = style === "smooth" && [Element.freehand, Element.eraser].includes(this.#message.e);
        const before = this.#line;
        let isCut = false;
        for (; hasPieces && this.#open.length > 2 * mostTraced; isCut = true) pieces.push(this.#strokeOf(this.#cut(), board));
        const stroke = this.#strokeOf(this.#open, board);
        this.#line = new TracedLine(stroke, painter);
        this.strokes = [...pieces, stroke];
        if (!before) return this.#line.box;
        return isCut ? this.#line.box.union(before.box) : this.#line.changeFrom(before);
    }

    /** Takes the points up to a joint of the curve, which is a midpoint: both parts are the curve that the whole is. */
    #cut() {
        // Joints are at every third point from the fifth on; the point before one is not a part of the curve.
        const at = 4 + 3 * Math.floor((mostTraced - 4) / 3);
        const [before, after] = [this.#open[at - 2], this.#open[at]];
        const joint = { x: (before.x + after.x) / 2, y: (before.y + after.y) / 2 };
        const piece = [...this.#open.slice(0, at - 1), joint];
        this.#open = [joint, ...this.#open.slice(at)];
        return piece;
    }

    #strokeOf(points, board) {
        return strokeOf({ ...this.#message, d: points }, board);
    }
}

function isSamePoint(one, other) {
    return one !== undefined && one.x === other.x && one.y === other.y && one.f === other.f && one.i === other.i
        && one.z === other.z && one.m === other.m;
}
