/**
 * Strokes that are being drawn: wet until their operation replaces them.
 *
 * The server sends the points of a stroke as the video of the cohort passes them. Nothing depends on them: what is lost
 * comes again, and in the end the operation has all points.
 *
 * @module
 */

import { now } from "./gateway.js";
import { strokeOf } from "./model.js";

/** A stroke without a message is forgotten after so many milliseconds, and one that is over is remembered as long. */
const lifetime = 10_000;
/** Strokes at a time, points of one and of all; what is beyond appears with its operation. */
const mostStrokes = 64;
const mostPoints = 100_000;
const mostPointsInAll = 400_000;

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
    /** What is on the canvas: an entry for the painter, and the version of this. */
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
     * @returns {boolean} whether a stroke that was shown was given up
     */
    take(release, isPredicted) {
        const { author, session, n } = release;
        const key = keyOf(author, session, n);
        if (release.x === true) return this.#remove(key);
        const points = release.d ?? [];
        if (this.#over.has(key) && release.index === undefined) return false;
        const known = this.#strokes.get(key);
        if (release.k > (known?.points.length ?? 0)) return false;
        const growth = Math.max(release.k + points.length - (known?.points.length ?? 0), 0);
        if (release.k + points.length > mostPoints || this.#points + growth > mostPointsInAll) return false;
        if (!known && this.#strokes.size >= mostStrokes) return false;
        const stroke = known ?? new WetStroke(author, session, n);
        this.#strokes.set(key, stroke);
        stroke.heardAt = now();
        stroke.index = release.index ?? stroke.index;
        if (stroke.isComplete) return false;
        const { c, l, e, t, w, h } = release;
        stroke.style = { c, l, e, t, w, h };
        stroke.page = release.page ?? 0;
        stroke.put(release.k, points);
        this.#points += growth;
        const predicted = isPredicted ? (release.p ?? []) : [];
        if (predicted.length > 0 || stroke.predicted.length > 0) stroke.version++;
        stroke.predicted = predicted;
        return false;
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
     * @returns {boolean} whether the stroke was shown while it was drawn
     */
    settle(author, n) {
        const stroke = this.#find(author, n);
        if (!stroke) return false;
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
     * @returns {boolean} whether one of them was shown
     */
    expire() {
        const before = now() - lifetime;
        for (const [key, at] of this.#over) if (at < before) this.#over.delete(key);
        let isChanged = false;
        for (const [key, { heardAt, isComplete }] of this.#strokes) {
            if (heardAt < before && !isComplete && this.#remove(key)) isChanged = true;
        }
        return isChanged;
    }

    /**
     * Shows the points that the player has passed.
     *
     * @param {number} time of the player in milliseconds; Infinity without one
     * @param {(stroke: {author: string, index?: number}) => boolean} isHeldBack whether something before it still waits
     * @param {number} page the one that is drawn: strokes on others wait until theirs is
     * @param {(stroke: {author: string, n: number}, count: number, due: number) => void} ongrown told of strokes with more
     *   points, and when the first of these was due
     * @returns {{isChanged: boolean, wait: number}} whether {@link drawnOn} has changed, and milliseconds of media time until
     *   there is more to show; Infinity for not by itself
     */
    grow(time, isHeldBack, page, ongrown) {
        let [isChanged, wait] = [false, Infinity];
        for (const stroke of this.#strokes.values()) {
            if (stroke.page !== page) continue;
            if (isHeldBack(stroke)) {
                wait = Math.min(wait, 100);
                continue;
            }
            const count = Math.max(stroke.countAt(time), stroke.shown);
            if (count < stroke.points.length) wait = Math.min(wait, stroke.style.t + stroke.reaches[count] - time);
            const key = `${stroke.version} ${count}`;
            if (count === 0 || stroke.drawn?.key === key) continue;
            if (count > stroke.shown) ongrown(stroke, count, stroke.style.t + stroke.reaches[stroke.shown]);
            stroke.shown = count;
            const seen = count === stroke.points.length ? [...stroke.points, ...stroke.predicted] : stroke.points.slice(0, count);
            stroke.drawn = { stroke: strokeOf({ n: 0, ...stroke.style, d: seen }, { page, author: stroke.author }), key };
            isChanged = true;
        }
        return { isChanged, wait };
    }

    #find(author, n) {
        for (const stroke of this.#strokes.values()) if (stroke.n === n && stroke.author === author) return stroke;
        return null;
    }

    /** Returns whether it was shown. */
    #remove(key) {
        const stroke = this.#strokes.get(key);
        if (!stroke) return false;
        this.#strokes.delete(key);
        this.#points -= stroke.points.length;
        return stroke.drawn !== null;
    }
}

function keyOf(author, session, n) {
    return `${author} ${n} ${session ?? ""}`;
}

function isSamePoint(one, other) {
    return one !== undefined && one.x === other.x && one.y === other.y && one.f === other.f && one.i === other.i
        && one.z === other.z && one.m === other.m;
}
