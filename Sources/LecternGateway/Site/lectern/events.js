/**
 * A stream of server-sent events, read with `fetch`: it sends a token and heeds `Retry-After`, which an `EventSource`
 * cannot.
 *
 * @module
 */

import { Backoff, GatewayError, now, pause } from "./gateway.js";

/** Nothing for so long, not even a comment: the connection is dead. The server sends a comment every 15 s. */
const silence = 40_000;
/** How long to wait after the server has refused the reader. */
const refusedPause = 30_000;

/**
 * Where a stream stands.
 *
 * @typedef {object} ConnectionState
 * @property {"connecting" | "live" | "waiting" | "refused" | "closed"} state
 * @property {string} [reason] one sentence, where it waits or was refused
 * @property {string} [code] the gateway's code for that
 * @property {number} [retryAt] when it tries again, as `Date.now()`
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
    #backoff = new Backoff();
    #isRestarted = false;

    /**
     * @param {Gateway} gateway
     * @param {string} path such as `api/rooms/physics/events`
     * @param {object} options
     * @param {object} [options.query] the query of the request
     * @param {(event: {type: string, id: string | null, data: string}) => void} options.onevent called in order
     * @param {(state: ConnectionState) => void} [options.onstate] called with each change
     */
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
        this.#attempt?.abort();
    }

    /** Ends the stream for good. */
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
            }
            if (this.#closed.signal.aborted) break;
            await this.#wait(failure);
        }
        this.#onstate({ state: "closed" });
    }

    async #wait(failure) {
        const isRefused = failure instanceof GatewayError && !failure.isTransient;
        // The first new beginning comes at once, further ones do not: something may be wrong with every board.
        let wait = this.#backoff.next(failure?.retryAfter);
        if (this.#isRestarted) wait = Math.max(wait - 400, 0);
        else if (isRefused) wait = Math.max(wait, refusedPause);
        this.#isRestarted = false;
        this.#onstate({
            state: isRefused ? "refused" : "waiting", code: failure?.code,
            reason: failure instanceof GatewayError ? failure.message : "The connection was lost.",
            retryAt: Date.now() + wait,
        });
        this.#attempt = new AbortController();
        await pause(wait, this.#attempt.signal);
    }

    async #read(signal) {
        const headers = { Accept: "text/event-stream" };
        if (this.lastEventID !== null) headers["Last-Event-ID"] = this.lastEventID;
        const response = await this.#gateway.request(this.#path, { query: this.#query, headers, signal });
        const reader = response.body.getReader();
        const parser = new EventParser((event) => {
            if (event.id !== null) this.lastEventID = event.id;
            this.#backoff.reset();
            this.#onevent(event);
        });
        let heardAt = now();
        const watch = setInterval(() => {
            if (now() - heardAt > silence) this.#attempt.abort();
        }, 5000);
        try {
            this.#onstate({ state: "live" });
            const decoder = new TextDecoder();
            for (;;) {
                const { done, value } = await reader.read();
                if (done || signal.aborted) return;
                heardAt = now();
                parser.add(decoder.decode(value, { stream: true }));
                if (parser.retry) this.#backoff.first = parser.retry / 2;
            }
        } finally {
            clearInterval(watch);
            reader.cancel().catch(() => {});
        }
    }
}

/** Cuts a text stream into events, after the HTML standard's section on server-sent events. */
export class EventParser {
    /** What the server asks clients to wait before they come again, in milliseconds. */
    retry = null;
    #onevent;
    #pieces = [];
    #isAfterReturn = false;
    #type = "";
    #id = null;
    #data = [];

    constructor(onevent) {
        this.#onevent = onevent;
    }

    /** Takes the next part of the text, cut anywhere. */
    add(text) {
        if (this.#isAfterReturn && text.startsWith("\n")) text = text.slice(1);
        if (text === "") return;
        this.#isAfterReturn = text.endsWith("\r");
        const lines = text.split(/\r\n|\n|\r/);
        // A long event comes in many parts: they are joined once.
        this.#pieces.push(lines[0]);
        for (let i = 1; i < lines.length; i++) {
            this.#line(this.#pieces.length === 1 ? this.#pieces[0] : this.#pieces.join(""));
            this.#pieces = [lines[i]];
        }
    }

    #line(line) {
        if (line === "") return this.#dispatch();
        const colon = line.indexOf(":");
        if (colon === 0) return;
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
        if (field === "data") this.#data.push(value);
        else if (field === "event") this.#type = value;
        else if (field === "id" && !value.includes("\0")) this.#id = value;
        else if (field === "retry" && /^[0-9]+$/.test(value)) this.retry = Math.min(Number(value), 60_000);
    }

    #dispatch() {
        const [type, id, data] = [this.#type || "message", this.#id, this.#data];
        [this.#type, this.#id, this.#data] = ["", null, []];
        if (data.length > 0) this.#onevent({ type, id, data: data.join("\n") });
    }
}
