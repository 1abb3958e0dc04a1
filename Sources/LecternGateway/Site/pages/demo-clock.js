/**
 * A video without pictures: a media time that runs with the time of day, some seconds behind, and is told to the room as a
 * cohort's clock. To try Lectern without a camera.
 *
 * @module
 */

import { now } from "../lectern/gateway.js";

/** Milliseconds between two samples. */
const interval = 250;

export class DemoClock {
    /** Seconds behind the time of day. */
    delay;
    /** Why the room does not take the samples; null when it does. */
    problem = null;
    #gateway;
    #room;
    #cohort;
    #offset = 0;
    #pausedAt = null;
    #number = 0;
    #isSending = false;

    constructor(gateway, room, cohort, delay) {
        [this.#gateway, this.#room, this.#cohort, this.delay] = [gateway, room, cohort, delay];
    }

    /** Measures the server's clock, and begins to send samples. */
    async start() {
        this.#offset = (await this.#gateway.clockOffset()).offset;
        setInterval(() => this.#send(), interval);
        this.#send();
    }

    get isPaused() {
        return this.#pausedAt !== null;
    }

    /** The media time in milliseconds. */
    get time() {
        return this.#pausedAt ?? now() + this.#offset - this.delay * 1000;
    }

    /** Stops and goes on; a video that goes on is back at its delay. */
    toggle() {
        this.#pausedAt = this.isPaused ? null : this.time;
        this.#send(true);
    }

    /** Tells the room where the video is after a jump. */
    jump() {
        this.#send(true);
    }

    async #send(isDiscontinuity = false) {
        if (this.#isSending && !isDiscontinuity) return;
        this.#isSending = true;
        const sample = { m: this.time, s: this.isPaused ? "pause" : "play", st: "demo", q: ++this.#number };
        if (isDiscontinuity) sample.d = true;
        // Its time line is the time of day.
        sample.a = Math.max(0, now() + this.#offset - sample.m);
        try {
            const path = `api/rooms/${encodeURIComponent(this.#room)}/clock`;
            const headers = { "Content-Type": "application/json" };
            const body = JSON.stringify(sample);
            await this.#gateway.request(path, { method: "POST", query: { cohort: this.#cohort }, headers, body });
            this.problem = null;
        } catch (error) {
            this.problem = error.message;
        }
        this.#isSending = false;
    }
}
