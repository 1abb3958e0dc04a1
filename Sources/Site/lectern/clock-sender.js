/** Tells a room where the video of a cohort is. */

import { remember, remembered } from "./dom.js";
import { Backoff, clockLimit, now } from "./gateway.js";
import { refusals } from "./words.js";

/** Milliseconds between two samples. */
const interval = 250;
/** A video that has stalled for so long is no clock any more: the room's rules for one without a clock take over. */
const stallTime = 30_000;
/** A room takes no greater age; and a clock of the encoder that is this much ahead of the server's is right. */
const [mostAge, mostAhead] = [600_000, 1000];
/** How long the end is said. */
const endTime = 3000;
/** Milliseconds until a room that has refused samples is asked again: another link may have been opened. */
const refusedPause = 30_000;

/** Sends samples of a clock, which has `time`, `state` and `rate` and tells changes as a `FrameClock`. */
export class ClockSender {
    /** Samples that the room has taken. */
    sent = 0;
    /** Why the last one was not taken; null when it was. */
    problem = null;
    /** Whether the room takes none from this page. */
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

    /** `age` says how late a picture of a media time is seen, in milliseconds; NaN: not known. */
    constructor(gateway, room, cohort, clock, age, stream = streamOfTab()) {
        [this.#gateway, this.#cohort, this.#clock, this.#age, this.#stream] = [gateway, cohort, clock, age, stream];
        this.#path = `api/rooms/${encodeURIComponent(room)}/clock`;
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
        if (this.#isSending || this.isSilent || now() < this.#waitUntil) return;
        this.#isSending = true;
        const { time, state, rate } = this.#clock;
        const sample = { m: Math.round(time * 10) / 10, s: state, st: this.#stream, q: this.#number++ };
        const age = state === "end" ? NaN : this.#age(sample.m);
        if (age >= -mostAhead && age <= mostAge) sample.a = Math.round(Math.max(age, 0) * 10) / 10;
        if (rate !== 1) sample.r = Math.round(Math.min(Math.max(rate, 0), 2) * 1000);
        if (this.#urgent?.isJump) sample.d = true;
        this.#urgent = null;
        try {
            const query = { cohort: this.#cohort };
            await this.#gateway.request(this.#path, { query, json: sample, limit: clockLimit });
            this.sent++;
            [this.problem, this.isRefused] = [null, false];
            this.#backoff.reset();
        } catch (error) {
            this.problem = error.message;
            this.isRefused = refusals.includes(error.code);
            this.#waitUntil = now() + Math.max(this.#backoff.next(error.retryAfter), this.isRefused ? refusedPause : 0);
            // What it told is still to be told.
            if (sample.d) this.#urgent = { isJump: true };
        }
        this.#isSending = false;
        if (this.#urgent) this.#send();
    }
}

/** Of two pages for one cohort the room hears one; the other takes over when that is gone. */
function streamOfTab() {
    const key = "lectern-stream";
    const [number] = crypto.getRandomValues(new Uint32Array(1));
    const stream = remembered(key, "sessionStorage") ?? `page-${number.toString(16)}`;
    remember(key, stream, "sessionStorage");
    return stream;
}
