/** UTC by the gateway's clock: this machine's may be wrong by minutes. */

import { now } from "./gateway.js";

/** How much two quartz clocks drift apart, at most: 100 millionths. */
const drift = 1e-4;
/** Measurements that are compared; the first ones, of a page that is still busy, follow each other soon. */
const [remembered, settled] = [8, 4];
/** Milliseconds between the first ones, and after one that failed. */
const soon = 2000;

/** The time of the gateway, measured again now and then, of which the best recent measurement counts (RFC 5905, section 10). */
export class ServerClock extends EventTarget {
    #gateway;
    #interval;
    #timer = null;
    #isRunning = false;
    #measurements = [];

    /**
     * @param {import("./gateway.js").Gateway} gateway
     * @param {object} [options]
     * @param {number} [options.interval] milliseconds between two measurements of four requests each
     */
    constructor(gateway, { interval = 30_000 } = {}) {
        super();
        [this.#gateway, this.#interval] = [gateway, interval];
    }

    /** UTC in milliseconds; NaN until it has been measured. */
    get time() {
        return now() + this.offset;
    }

    /** Milliseconds by which the gateway's clock is ahead of this machine's; NaN until it has been measured. */
    get offset() {
        return this.#best?.offset ?? NaN;
    }

    /** How far `time` is from the gateway's clock at most, in milliseconds: half the round trip, and the drift since. */
    get uncertainty() {
        return this.#best ? bound(this.#best) : NaN;
    }

    /** Measures now, and again and again. Resolves when the offset is known for the first time, after any number of tries. */
    start() {
        this.#isRunning = true;
        return new Promise((resolve) => {
            const measure = async () => {
                try {
                    await this.measure();
                    resolve();
                } catch {
                    // Tried again soon.
                }
                const wait = this.#measurements.length < settled ? Math.min(soon, this.#interval) : this.#interval;
                // Of two, when it was stopped and started during one, one goes on.
                clearTimeout(this.#timer);
                if (this.#isRunning) this.#timer = setTimeout(measure, wait);
            };
            measure();
        });
    }

    stop() {
        this.#isRunning = false;
        clearTimeout(this.#timer);
    }

    /**
     * Measures once.
     *
     * @throws {GatewayError} the gateway did not answer
     */
    async measure() {
        const { offset, roundTrip } = await this.#gateway.clockOffset();
        const measurement = { offset, roundTrip, at: now() };
        // Measurements before the machine slept, or before a clock was set, are no longer true: none can be off by more than
        // its bound.
        const agreeing = this.#measurements.filter((one) => Math.abs(one.offset - offset) <= bound(one) + bound(measurement));
        this.#measurements = [...agreeing.slice(1 - remembered), measurement];
        this.dispatchEvent(new Event("measured"));
    }

    get #best() {
        return this.#measurements.reduce((best, one) => (best && bound(best) <= bound(one) ? best : one), null);
    }
}

function bound({ roundTrip, at }) {
    return Math.max(roundTrip, 0) / 2 + (now() - at) * drift;
}
