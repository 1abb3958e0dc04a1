/**
 * Holds operations until the player of this page has reached them.
 *
 * The server releases an operation when the video of its cohort has passed it. A player may be behind its cohort: it has
 * a longer buffer, or is paused. The rule is the server's: an operation is due when its time, and that of all before it,
 * lies below the player's.
 *
 * @module
 */

import { now } from "./gateway.js";

/** Milliseconds between two looks at the player while something waits. */
const interval = 100;

/** A queue of what waits for a clock. Without a clock nothing waits. */
export class HoldQueue {
    /** How long the front may wait while the clock runs or tells nothing: a safety net under a wrong time line. */
    maxHold = 30_000;
    #clock;
    #ondue;
    #onchange;
    #queue = [];
    #gateTime = -Infinity;
    #timer = null;
    #waited = 0;
    #lookedAt = 0;
    #lastTime = NaN;

    /**
     * @param {(() => number) | null} clock the player's media time in milliseconds; NaN while unknown
     * @param {(value: any) => void} ondue called with each value when it is due, in order
     * @param {() => void} onchange called when the length of the queue has changed
     */
    constructor(clock, ondue, onchange = () => {}) {
        [this.#clock, this.#ondue, this.#onchange] = [clock, ondue, onchange];
    }

    /** How many operations wait. */
    get length() {
        return this.#queue.length;
    }

    /** The first operations that wait, at most so many. */
    first(count) {
        return this.#queue.slice(0, count).map(({ value }) => value);
    }

    /** The player's media time in milliseconds, NaN while unknown. */
    get time() {
        try {
            return this.#clock ? Number(this.#clock()) : NaN;
        } catch {
            return NaN;
        }
    }

    /** How far the last operation that waits lies ahead of the player, in milliseconds. */
    get ahead() {
        const last = this.#queue[this.#queue.length - 1];
        const ahead = last ? last.gateTime - this.time : 0;
        return Number.isFinite(ahead) ? Math.max(ahead, 0) : 0;
    }

    /**
     * Adds an operation.
     *
     * @param {number | undefined} time its media time; without one that of the operation before it
     * @param {boolean} isLate whether the server released it although its time had not come: it waits for those before it only
     */
    add(value, time, isLate = false) {
        if (!this.#clock) return void this.#ondue(value);
        if (time !== undefined && !isLate) this.#gateTime = Math.max(this.#gateTime, time);
        this.#queue.push({ value, gateTime: this.#gateTime });
        if (this.#queue.length === 1) this.#begin();
        this.look();
        this.#onchange();
    }

    /** Forgets all that waits, and the times of what was. */
    clear() {
        this.#queue = [];
        this.#gateTime = -Infinity;
        this.#stop();
        this.#onchange();
    }

    /** Passes on what is due. Call it when the player has jumped; while something waits it is called by itself. */
    look() {
        const time = this.time;
        const at = now();
        // A paused player may take as long as it likes.
        const isRunning = !(time === this.#lastTime);
        if (isRunning) this.#waited += at - this.#lookedAt;
        [this.#lookedAt, this.#lastTime] = [at, time];
        const before = this.#queue.length;
        while (this.#queue.length > 0) {
            const { value, gateTime } = this.#queue[0];
            if (!(gateTime < time) && gateTime !== -Infinity && this.#waited < this.maxHold) break;
            this.#queue.shift();
            this.#waited = 0;
            this.#ondue(value);
        }
        if (this.#queue.length === 0) this.#stop();
        else {
            const wait = this.#queue[0].gateTime - time + 1;
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.look(), Math.min(Math.max(Number.isFinite(wait) ? wait : interval, 4), interval));
        }
        if (before !== this.#queue.length) this.#onchange();
    }

    #begin() {
        [this.#waited, this.#lookedAt, this.#lastTime] = [0, now(), NaN];
    }

    #stop() {
        clearTimeout(this.#timer);
        this.#timer = null;
    }
}
