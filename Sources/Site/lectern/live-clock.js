/**
 * The media time at a room's teacher, which what is drawn now is stamped with.
 *
 * Students see the teacher late. A stroke that is stamped with what they see now is shown before its voice.
 */

import { now } from "./gateway.js";

/** Milliseconds between two looks at the room. */
const interval = 1000;
/** A time that is off by more is taken at once: the encoder has begun anew. Nearer ones are approached. */
const jump = 400;
const approach = 0.2;

/**
 * Follows what a room tells of its time. For the `clock` of a `Teacher`:
 *
 * ```js
 * const live = new LiveClock({ gateway, room: "physics" });
 * live.start();
 * new Teacher(canvas, { gateway, room: "physics", author: "anna", clock: () => live.time });
 * ```
 *
 * Event `change`: the `state` is another.
 */
export class LiveClock extends EventTarget {
    /**
     * - `unknown`: the room has not been asked, or nobody has written to it;
     * - `live`: the time at the teacher is known;
     * - `unknown-latency`: students watch a video, and nothing tells how late it is: set `latency`. Until then `time` is what
     *   students see, which is too early;
     * - `no-clock`: operations wait for a video whose clock is not heard; the time may be known all the same;
     * - `open`: students have no video and see what is drawn at once.
     */
    state = "unknown";
    /** How late the slowest students see the teacher, in milliseconds; NaN while nobody tells it. */
    delay = NaN;
    #gateway;
    #room;
    #offset = NaN;
    #latency = null;
    #timer = null;
    #isRunning = false;
    #last = null;

    /**
     * @param {object} options
     * @param {import("./gateway.js").Gateway} options.gateway
     * @param {string} options.room its name
     * @param {number | null} [options.latency] how late the fastest students see the teacher, in milliseconds, where the video does
     *   not tell it
     */
    constructor({ gateway, room, latency = null }) {
        super();
        [this.#gateway, this.#room, this.#latency] = [gateway, room, latency];
    }

    /** The media time at the teacher in milliseconds; NaN while it is not known. */
    get time() {
        return now() + this.#offset;
    }

    /** How late the fastest students see the teacher, in milliseconds, where the video does not tell it; null: nobody knows. */
    get latency() {
        return this.#latency;
    }

    set latency(latency) {
        this.#latency = latency;
        this.#offset = NaN;
        if (this.#last) this.follow(...this.#last);
    }

    /** Looks at the room now and again. Resolves when it has been asked for the first time. */
    async start() {
        this.#isRunning = true;
        await this.#look();
    }

    stop() {
        this.#isRunning = false;
        clearTimeout(this.#timer);
    }

    async #look() {
        try {
            const askedAt = now();
            const state = await this.#gateway.json(`api/rooms/${encodeURIComponent(this.#room)}`);
            this.follow(state, (askedAt + now()) / 2);
        } catch (error) {
            // Nobody has written to it, and nothing tells its video's time.
            if (error.code === "unknown-room") this.follow({});
        }
        // Of two looks, when it was stopped and started during one, one goes on.
        clearTimeout(this.#timer);
        if (this.#isRunning) this.#timer = setTimeout(() => this.#look(), interval);
    }

    /**
     * Takes a room's state, as `GET /api/rooms/ROOM` has it: for pages that ask for it anyway.
     *
     * @param {object} state
     * @param {number} at when the room said so, by this machine's clock: the middle of the request
     */
    follow(state, at = now()) {
        this.#last = [state, at];
        const cohorts = state.cohorts ?? [];
        const videos = cohorts.filter(({ live, v }) => live !== false && typeof v === "number");
        const ages = videos.map(({ age }) => age).filter((age) => typeof age === "number");
        let time = NaN;
        let next = "no-clock";
        this.delay = NaN;
        if (typeof state.live === "number") {
            if (videos.length > 0) next = "live";
            time = state.live;
            const delays = ages.length > 0 ? ages : videos.map(({ v }) => state.live - v);
            if (delays.length > 0) this.delay = Math.max(...delays);
        } else if (videos.length > 0) {
            const fastest = Math.max(...videos.map(({ v }) => v));
            next = this.#latency === null ? "unknown-latency" : "live";
            time = fastest + (this.#latency ?? 0);
            if (this.#latency !== null) this.delay = time - Math.min(...videos.map(({ v }) => v));
        } else if (cohorts.length === 0) next = "unknown";
        else if (cohorts.every(({ gate }) => gate === "open")) next = "open";
        else if (Number.isNaN(this.#offset)) {
            // Where the video stood when it was heard last tells the time line, at least.
            const last = cohorts.map(({ v }) => v).filter((v) => typeof v === "number");
            if (last.length > 0) time = Math.max(...last) + (this.#latency ?? 0);
        }
        const offset = time - at;
        // A clock that falls silent comes back: the teacher goes on meanwhile.
        if (next !== "no-clock" || Number.isFinite(offset)) {
            if (!(Math.abs(offset - this.#offset) <= jump)) this.#offset = offset;
            else this.#offset += (offset - this.#offset) * approach;
        }
        if (next === this.state) return;
        this.state = next;
        this.dispatchEvent(new CustomEvent("change", { detail: { state: next } }));
    }
}
