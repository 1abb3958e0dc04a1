/**
 * A stream of server-sent events, read with `fetch`: it sends a token and heeds `Retry-After`, which an `EventSource`
 * cannot.
 */

import { t } from "./language.js";
import { Backoff, GatewayError, now, pause } from "./gateway.js";

/** Bytes of one event, at most: as many as a board in a reply has, and more than that about it. */
const eventLimit = 2 ** 26 + 2 ** 16;
/** How long to wait after the server has refused the reader. */
const refusedPause = 30_000;
/** A stream that went on for so long is sound: its next new beginning is the first again. */
const soundTime = 60_000;

/**
 * Where a stream stands.
 *
 * @typedef {object} ConnectionState
 * @property {"connecting" | "live" | "waiting" | "refused" | "closed"} state
 * @property {string} [reason] one sentence, where it waits or was refused
 * @property {string} [code] the gateway's code for that
 * @property {number} [retryAt] when it tries again, by a clock that never steps: `performance.timeOrigin + performance.now()`
 */

/** Reads events until it is closed, and connects again whenever it has to. */
export class EventStream {
    /** The id of the last event that had one; null: begin anew. */
    lastEventID = null;
    #gateway;
    #path;
    #query;
    #onevent;
    #onstate;
    #closed = new AbortController();
    #attempt = null;
    /** Ends the wait for the next attempt; null while there is none. */
    #pause = null;
    #backoff = new Backoff();
    #isRestarted = false;
    #restarts = new Backoff();
    #restartedAt = -Infinity;

    /** `onevent` is told of events `{type, id, data}` in their order, with bytes as data; `onstate` of each {@link ConnectionState}. */
    constructor(gateway, path, { query, onevent, onstate = () => {} }) {
        [this.#gateway, this.#path, this.#query, this.#onevent, this.#onstate] = [gateway, path, query, onevent, onstate];
        // Not before the caller has this stream.
        queueMicrotask(() => this.#run());
    }

    /** Drops the connection and begins anew, without the last id. */
    restart() {
        this.lastEventID = null;
        this.#isRestarted = true;
        this.#attempt?.abort();
    }

    /** Connects at once if it waits. */
    retry() {
        this.#pause?.abort();
    }

    close() {
        this.#closed.abort();
        this.#attempt?.abort();
    }

    async #run() {
        while (!this.#closed.signal.aborted) {
            this.#attempt = new AbortController();
            let failure = null;
            try {
                this.#onstate({ state: "connecting" });
                await this.#read(this.#attempt.signal);
            } catch (error) {
                failure = error;
                // The same event would come again.
                if (error.code === "too-large") this.lastEventID = null;
            }
            if (this.#closed.signal.aborted) break;
            await this.#wait(failure);
        }
        this.#onstate({ state: "closed" });
    }

    async #wait(failure) {
        const isRefused = failure instanceof GatewayError && !failure.isTransient;
        let wait;
        if (this.#isRestarted) {
            // The first new beginning comes at once, further ones do not: something may be wrong with every board.
            if (now() - this.#restartedAt > soundTime) this.#restarts.reset();
            this.#restartedAt = now();
            wait = Math.max(this.#restarts.next(failure?.retryAfter) - 400, 0);
        } else {
            wait = Math.max(this.#backoff.next(failure?.retryAfter), isRefused ? refusedPause : 0);
        }
        this.#isRestarted = false;
        this.#onstate({
            state: isRefused ? "refused" : "waiting", code: failure?.code,
            reason: failure instanceof GatewayError ? failure.message : t("The connection was lost."),
            retryAt: now() + wait,
        });
        this.#attempt = this.#pause = new AbortController();
        await pause(wait, this.#pause.signal);
        this.#pause = null;
    }

    async #read(signal) {
        const headers = { Accept: "text/event-stream" };
        if (this.lastEventID !== null) headers["Last-Event-ID"] = this.lastEventID;
        const response = await this.#gateway.request(this.#path, { query: this.#query, headers, signal });
        const reader = response.body.getReader();
        const parser = new EventParser((event) => {
            // What else came with an event that ended the attempt comes again, or a board instead of it.
            if (signal.aborted) return;
            if (event.id !== null) this.lastEventID = event.id;
            this.#backoff.reset();
            this.#onevent(event);
        });
        try {
            this.#onstate({ state: "live" });
            for (;;) {
                const { done, value } = await reader.read();
                if (done || signal.aborted) return;
                parser.add(value);
                if (parser.retry) this.#backoff.first = parser.retry / 2;
            }
        } finally {
            reader.cancel().catch(() => {});
        }
    }
}

const [lineFeed, colonSign, space] = [10, 58, 32];
const decoder = new TextDecoder();

/** Cuts a stream of bytes into events, after the HTML standard's section on server-sent events. The gateway ends lines by a line feed. */
export class EventParser {
    /** What the server asks clients to wait before they come again, in milliseconds. */
    retry = null;
    #onevent;
    #limit;
    #size = 0;
    #pieces = [];
    #type = "";
    #id = null;
    #data = [];

    /** `limit`: bytes of an event, at most. */
    constructor(onevent, limit = eventLimit) {
        [this.#onevent, this.#limit] = [onevent, limit];
    }

    /** Takes the next part of the stream, cut anywhere; keeps it until its events are over. Nothing can follow an event that is too large. */
    add(bytes) {
        let start = 0;
        for (let end; (end = bytes.indexOf(lineFeed, start)) >= 0; start = end + 1) {
            this.#keep(bytes.subarray(start, end));
            // A long event comes in many parts: they are joined once.
            this.#line(joined(this.#pieces));
            this.#pieces = [];
        }
        this.#keep(bytes.subarray(start));
    }

    #keep(piece) {
        this.#size += piece.length;
        if (this.#size > this.#limit) {
            throw new GatewayError(0, "too-large", t("An event of the stream has more than {bytes} bytes.", { bytes: this.#limit }));
        }
        this.#pieces.push(piece);
    }

    #line(line) {
        if (line.length === 0) return this.#dispatch();
        const colon = line.indexOf(colonSign);
        if (colon === 0) {
            // A comment, with which an idle stream is kept open.
            this.#size -= line.length;
            return;
        }
        const field = decoder.decode(colon < 0 ? line : line.subarray(0, colon));
        const value = colon < 0 ? line.subarray(line.length) : line.subarray(line[colon + 1] === space ? colon + 2 : colon + 1);
        if (field === "data") return void this.#data.push(value);
        const text = decoder.decode(value);
        if (field === "event") this.#type = text;
        else if (field === "id" && !text.includes("\0")) this.#id = text;
        else if (field === "retry" && /^[0-9]+$/.test(text)) this.retry = Math.min(Number(text), 60_000);
    }

    #dispatch() {
        const [type, id, data] = [this.#type || "message", this.#id, this.#data];
        [this.#type, this.#id, this.#data, this.#size] = ["", null, [], 0];
        const lines = data.flatMap((line, place) => (place === 0 ? [line] : [new Uint8Array([lineFeed]), line]));
        if (data.length > 0) this.#onevent({ type, id, data: joined(lines) });
    }
}

/** One list of bytes; the only one is not copied. */
function joined(pieces) {
    if (pieces.length === 1) return pieces[0];
    const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) {
        whole.set(piece, at);
        at += piece.length;
    }
    return whole;
}
