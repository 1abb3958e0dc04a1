/**
 * Sends an outbox to the room, in order, until it has an answer for each operation.
 *
 * @module
 */

import { Backoff, GatewayError, pause } from "./gateway.js";

/** Messages and characters of one request. */
const mostLines = 64;
const mostCharacters = 512 << 10;
/** Messages a second, and how many may go out at once: the service takes 200 a second from an author. */
const rate = 150;
const burst = 100;
/** Rejections that say nothing about the operation: it is sent again, under a new number. */
const passing = new Set(["rate-limited", "too-many-pending", "room-full", "not-ready"]);

/** Sends what is in an outbox. One request at a time, so that the room gets it in order. */
export class Sender {
    #gateway;
    #room;
    #author;
    #outbox;
    #listener;
    #closed = new AbortController();
    #backoff = new Backoff({ first: 400, most: 8000 });
    #wake = null;
    #budget = burst;
    #budgetAt = performance.now();
    #pausing = null;

    /**
     * @param {object} listener told what becomes of operations: `applied(entry, index)`, `rejected(entry, error)`,
     *   `sessionOver()`, and `connection(state)` as in events.js
     */
    constructor(gateway, room, author, outbox, listener) {
        [this.#gateway, this.#room, this.#author] = [gateway, room, author];
        [this.#outbox, this.#listener] = [outbox, listener];
        this.#run();
    }

    /** Something new is in the outbox. */
    wake() {
        this.#wake?.();
    }

    /** Tries again at once if it waits to do so. */
    retry() {
        this.#pausing?.abort();
    }

    close() {
        this.#closed.abort();
        this.#wake?.();
        this.#pausing?.abort();
    }

    get #isClosed() {
        return this.#closed.signal.aborted;
    }

    async #run() {
        while (!this.#isClosed) {
            const batch = this.#batch();
            if (batch.length === 0) {
                await new Promise((resolve) => (this.#wake = resolve));
                continue;
            }
            await this.#pace(batch);
            try {
                const isSettled = await this.#post(batch);
                if (this.#isClosed) return;
                this.#listener.connection({ state: "live" });
                if (isSettled) this.#backoff.reset();
                else await this.#pause(this.#backoff.next());
            } catch (error) {
                if (this.#isClosed) return;
                const isRefused = error instanceof GatewayError && !error.isTransient;
                const wait = isRefused ? 15_000 : this.#backoff.next(error.retryAfter);
                this.#listener.connection({
                    state: isRefused ? "refused" : "waiting", code: error.code, reason: error.message,
                    retryAt: Date.now() + wait,
                });
                await this.#pause(wait);
            }
        }
    }

    /** Waits until the rate allows a batch. */
    async #pace(batch) {
        const at = performance.now();
        this.#budget = Math.min(this.#budget + ((at - this.#budgetAt) * rate) / 1000, burst);
        this.#budgetAt = at;
        this.#budget -= batch.reduce((sum, { messages }) => sum + messages.length, 0);
        if (this.#budget < 0) await pause((-this.#budget * 1000) / rate, this.#closed.signal);
    }

    async #pause(wait) {
        this.#pausing = new AbortController();
        await pause(wait, this.#pausing.signal);
    }

    /** The first operations that fit a request, of one session. */
    #batch() {
        const batch = [];
        let [lines, characters] = [0, 0];
        for (const entry of this.#outbox.entries) {
            const size = entry.messages.reduce((sum, message) => sum + message.length + 1, 0);
            const isFull = lines + entry.messages.length > mostLines || characters + size > mostCharacters;
            if (batch.length > 0 && (isFull || entry.session !== batch[0].session)) break;
            batch.push(entry);
            lines += entry.messages.length;
            characters += size;
        }
        return batch;
    }

    /** Sends operations; a stroke that is too long for one request goes out in several. Returns whether all are settled. */
    async #post(batch) {
        const [{ session }] = batch;
        const lines = batch.flatMap(({ messages }) => messages);
        const outcomes = new Map();
        for (let start = 0; start < lines.length; ) {
            let [end, characters] = [start, 0];
            while (end < lines.length && end - start < mostLines && characters + lines[end].length < mostCharacters) {
                characters += lines[end++].length + 1;
            }
            end = Math.max(end, start + 1);
            const { results } = await this.#gateway.json(`api/rooms/${encodeURIComponent(this.#room)}/strokes`, {
                method: "POST", query: { author: this.#author }, body: lines.slice(start, end).join("\n") + "\n",
                headers: { "Content-Type": "application/x-ndjson", "Ink-Session": session }, signal: this.#closed.signal,
            });
            for (const outcome of results) outcomes.set(outcome.n, strongest(outcomes.get(outcome.n), outcome));
            start = end;
        }
        return this.#settle(batch, outcomes);
    }

    #settle(batch, outcomes) {
        const [applied, settled] = [[], []];
        let isOver = false;
        for (const entry of batch) {
            // It was numbered anew meanwhile.
            if (!this.#outbox.has(entry)) continue;
            const outcome = outcomes.get(entry.n);
            if (outcome?.index !== undefined) {
                applied.push(entry);
                this.#listener.applied(entry, outcome.index);
            } else if (outcome?.error?.code === "session-over") isOver = true;
            else if (outcome?.error && passing.has(outcome.error.code)) this.#outbox.renumber(entry);
            else if (outcome?.error) {
                settled.push(entry);
                this.#listener.rejected(entry, outcome.error);
            }
        }
        this.#outbox.remove(settled);
        this.#outbox.applied(applied);
        if (isOver) {
            this.close();
            this.#listener.sessionOver();
        }
        return applied.length + settled.length === batch.length;
    }
}

/** Of the outcomes of a stroke's shards the one that counts. */
function strongest(one, other) {
    const rank = (outcome) => (!outcome ? 0 : outcome.index !== undefined ? 3 : outcome.error ? 2 : 1);
    return rank(one) >= rank(other) ? one : other;
}
