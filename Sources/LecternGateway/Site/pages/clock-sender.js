/**
 * Tells a room where a cohort's video is.
 *
 * @module
 */

import { Backoff, now } from "../lectern/gateway.js";

/** Milliseconds between two samples. */
const interval = 250;
/** A video that has stalled for so long is no clock any more: the room's rules for one without a clock take over. */
const stallTime = 30_000;
/** A room takes no greater age; and a clock of the encoder that is this much ahead of the server's is right. */
const [mostAge, mostAhead] = [600_000, 1000];
/** How long the end is said. */
const endTime = 3000;

export class ClockSender {
    /** Samples that the room has taken. */
    sent = 0;
    /** Why the last one was not taken; null when it was. */
    problem = null;
    /** The room refuses them for good. */
    isRefused = false;
    #gateway;
    #path;
    #cohort;
    #clock;
    #age;
    /** Number of the next sample: a page that is loaded again begins above all before it. */
    #number = Math.floor(now());
    #stream;
    #isSending = false;
    /** A sample that cannot wait for the next turn, and whether it tells a jump. */
    #urgent = null;
    #stateSince = now();
    #waitUntil = 0;
    #backoff = new Backoff({ first: interval, most: 5000 });

    /**
     * @param {FrameClock} clock
     * @param {(time: number) => number} [age] how late a picture of that media time is seen, in milliseconds; NaN: not known
     */
    constructor(gateway, room, cohort, clock, age = () => NaN) {
        [this.#gateway, this.#cohort, this.#clock, this.#age] = [gateway, cohort, clock, age];
        this.#path = `api/rooms/${encodeURIComponent(room)}/clock`;
        // Of two pages for one cohort the room hears one; the other takes over when that is gone.
        this.#stream = sessionStorage.getItem("lectern-stream") ?? `page-${crypto.getRandomValues(new Uint32Array(1))[0].toString(16)}`;
        sessionStorage.setItem("lectern-stream", this.#stream);
        clock.addEventListener("change", ({ detail }) => {
            if (!detail.isJump) this.#stateSince = now();
            this.#urgent = { isJump: detail.isJump || Boolean(this.#urgent?.isJump) };
            this.#send();
        });
        setInterval(() => this.#send(), interval);
    }

    /** Whether the video has stood for so long that the room is told nothing. */
    get isSilent() {
        const { state } = this.#clock;
        const limit = { stall: stallTime, end: endTime }[state] ?? Infinity;
        return state === "wait" || now() - this.#stateSince > limit;
    }

    async #send() {
        if (this.#isSending || this.isRefused || this.isSilent || now() < this.#waitUntil) return;
        this.#isSending = true;
        const { time, state, rate } = this.#clock;
        const sample = { m: Math.round(time * 10) / 10, s: state, st: this.#stream, q: this.#number++ };
        const age = state === "end" ? NaN : this.#age(sample.m);
        if (age >= -mostAhead && age <= mostAge) sample.a = Math.round(Math.max(age, 0) * 10) / 10;
        if (rate !== 1) sample.r = Math.round(Math.min(Math.max(rate, 0), 2) * 1000);
        if (this.#urgent?.isJump) sample.d = true;
        this.#urgent = null;
        try {
            await this.#gateway.request(this.#path, {
                method: "POST", query: { cohort: this.#cohort }, headers: { "Content-Type": "application/json" },
                body: JSON.stringify(sample),
            });
            this.sent++;
            this.problem = null;
            this.#backoff.reset();
        } catch (error) {
            this.problem = error.message;
            this.isRefused = ["unauthorized", "revoked", "forbidden"].includes(error.code);
            this.#waitUntil = now() + this.#backoff.next(error.retryAfter);
            // What it told is still to be told.
            if (sample.d) this.#urgent = { isJump: true };
        }
        this.#isSending = false;
        if (this.#urgent) this.#send();
    }
}
