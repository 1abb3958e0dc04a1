/**
 * One writer an author: of several tabs of a browser one writes, the others are told and may take over.
 *
 * Between devices the room decides: whoever begins a new session ends the one before.
 *
 * @module
 */

/** Holds the right to write, by a lock of the browser. */
export class WriterLock {
    #name;
    #onchange;
    #release = null;
    #waiting = null;

    /**
     * @param {string} name of the author in the room
     * @param {(isWriter: boolean) => void} onchange called when this page becomes the writer or no longer is
     */
    constructor(name, onchange) {
        [this.#name, this.#onchange] = [`lectern-writer ${name}`, onchange];
    }

    /** Asks for the right; where another page has it, waits for it. */
    request() {
        this.#ask({});
        navigator.locks?.query().then(({ held }) => {
            if (!this.#waiting.signal.aborted && !this.#release && held.some(({ name }) => name === this.#name)) this.#onchange(false);
        });
    }

    /** Takes the right from whichever page has it. */
    takeOver() {
        this.#ask({ steal: true });
    }

    /** Gives the right back. */
    close() {
        this.#waiting?.abort();
        this.#release?.();
        this.#release = null;
    }

    #ask(options) {
        // Locks need a secure context. Without them every page may write, and the room's sessions decide.
        if (!navigator.locks) return void this.#onchange(true);
        this.#waiting?.abort();
        const waiting = (this.#waiting = new AbortController());
        const hold = () => {
            // A lock that is stolen cannot be asked for with a signal.
            if (waiting.signal.aborted) return undefined;
            return new Promise((resolve) => {
                this.#release = resolve;
                this.#onchange(true);
            });
        };
        navigator.locks.request(this.#name, options.steal ? options : { signal: waiting.signal }, hold).catch(() => {
            if (waiting.signal.aborted) return;
            // Another page has taken over.
            this.#release = null;
            this.#onchange(false);
        });
    }
}
