/**
 * What a lasso has selected, and where it was moved, turned and scaled to.
 *
 * @module
 */

import { identity, moved } from "../lectern/affine.js";

/** The least and the greatest factor by which a selection is scaled. */
const leastScale = 0.05;
const mostScale = 50;

/** A selection under the hand of a teacher. Lengths are board units, angles radians, clockwise on the screen. */
export class Selection {
    /** @type {{x: number, y: number}[]} the path around it, where it was selected */
    path;
    /** The page that it is on. */
    page;
    /** Whether it is a copy: the original stays. */
    isCopy;
    /** The box of the path, by its centre and half its size. */
    centre;
    half;
    /** Where the centre is now, and how the box is turned and scaled around it. */
    at;
    turn = 0;
    scale = { x: 1, y: 1 };
    #board;

    /**
     * @param {{x: number, y: number}[]} path
     * @param {number} page
     * @param {{width: number, height: number}} board its centre stays on the board
     * @param {boolean} [isCopy]
     */
    constructor(path, page, board, isCopy = false) {
        [this.path, this.page, this.isCopy, this.#board] = [path, page, isCopy, board];
        const [xs, ys] = [path.map(({ x }) => x), path.map(({ y }) => y)];
        const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
        this.centre = { x: (left + right) / 2, y: (top + bottom) / 2 };
        this.half = { x: Math.max((right - left) / 2, 0.5), y: Math.max((bottom - top) / 2, 0.5) };
        this.at = { ...this.centre };
    }

    /** Where it goes, as the `m` of a lasso. */
    get map() {
        if (!this.isMoved) return [...identity];
        const [cosine, sine] = [Math.cos(this.turn), Math.sin(this.turn)];
        const [a, b, c, d] = [cosine * this.scale.x, sine * this.scale.x, -sine * this.scale.y, cosine * this.scale.y];
        const { centre, at } = this;
        return [a, b, c, d, at.x - a * centre.x - c * centre.y, at.y - b * centre.x - d * centre.y];
    }

    /** Whether it is anywhere else than where it was selected. */
    get isMoved() {
        const { centre, at, scale, turn } = this;
        return at.x !== centre.x || at.y !== centre.y || turn !== 0 || scale.x !== 1 || scale.y !== 1;
    }

    /** The path where it is now. */
    get movedPath() {
        const { map } = this;
        return this.path.map(({ x, y }) => {
            const [toX, toY] = moved(map, x, y);
            return { x: toX, y: toY };
        });
    }

    /** A point of its box: −1 … 1 across and down, beyond 1 outside. */
    point(across, down) {
        const [x, y] = moved(this.map, this.centre.x + across * this.half.x, this.centre.y + down * this.half.y);
        return { x, y };
    }

    shift(x, y) {
        this.#put(this.at.x + x, this.at.y + y);
    }

    /** Turns by an angle, in steps of 15° where it is to be even. */
    turnTo(angle, isEven = false) {
        const step = Math.PI / 12;
        this.turn = isEven ? Math.round(angle / step) * step : angle;
        if (Math.abs(this.turn) < 1e-9) this.turn = 0;
    }

    /** Scales around its centre. */
    scaleBy(factor) {
        const { x, y } = this.scale;
        const bounded = boundedFactor(factor, x, y);
        this.scale = { x: x * bounded, y: y * bounded };
    }

    /**
     * Scales so that a corner comes to a point; the opposite corner stays.
     *
     * @param {{across: number, down: number}} corner −1 or 1 each
     * @param {{x: number, y: number}} to
     * @param {boolean} isFree whether its shape may change
     */
    scaleTo({ across, down }, to, isFree) {
        const anchor = this.point(-across, -down);
        const [cosine, sine] = [Math.cos(this.turn), Math.sin(this.turn)];
        const [dx, dy] = [to.x - anchor.x, to.y - anchor.y];
        const [x, y] = [dx * cosine + dy * sine, dy * cosine - dx * sine];
        const whole = { x: 2 * across * this.half.x, y: 2 * down * this.half.y };
        if (isFree) {
            this.scale = { x: bounded(x / whole.x), y: bounded(y / whole.y) };
        } else {
            const [w, h] = [whole.x * this.scale.x, whole.y * this.scale.y];
            this.scaleBy((x * w + y * h) / (w * w + h * h));
        }
        const [w, h] = [(whole.x * this.scale.x) / 2, (whole.y * this.scale.y) / 2];
        this.#put(anchor.x + w * cosine - h * sine, anchor.y + w * sine + h * cosine);
    }

    #put(x, y) {
        const { width, height } = this.#board;
        this.at = { x: Math.min(Math.max(x, 0), width), y: Math.min(Math.max(y, 0), height) };
    }
}

function bounded(factor) {
    return Math.min(Math.max(factor, leastScale), mostScale);
}

/** A factor that leaves both scales within bounds. */
function boundedFactor(factor, x, y) {
    const least = leastScale / Math.min(x, y);
    return Math.min(Math.max(factor, Math.min(least, 1)), Math.max(mostScale / Math.max(x, y), 1));
}
