/**
 * The session of one teacher in one room: the core says what is to be done, and this does it, with the browser's store, its lock, its
 * clock and the gateway.
 */

import { remember, remembered } from "./dom.js";
import { Backoff, GatewayError, pause, unreachable } from "./gateway.js";
import { OutboxStore, WriterLock } from "./outbox-store.js";
import { Input } from "./records.js";
import { TeacherCore } from "./teacher-core.js";

/** Milliseconds until an update of wet ink counts as lost. */
const wetTimeout = 3000;
/** Milliseconds after which a session of the core that has failed is not the reason for the next one to fail. */
const soundTime = 60_000;

/** Runs the core of one teacher, and makes another one where that fails. */
export class TeacherSession {
    /** As in the event `writer` of a teacher; `waiting` at first. */
    state = "waiting";
    #options;
    #listener;
    #core = null;
    #failures = new Backoff();
    #failedAt = -Infinity;
    #store;
    #lock;
    /** Whether this page has the right to write; null while that is not known. */
    #hasLock = null;
    /** Where the browser notes that this author writes here. */
    #writerKey;
    #timer = null;
    #leaving = new AbortController();

    /**
     * `options`: gateway, room, author, name. `listener` has `began()`: a core is there, the first or another one; `failed(error)`: it has
     * ended; `told(type, detail)`: an event of a teacher; `live(shown)`: something else is shown above the room's entries, as
     * `TeacherCore.live`.
     */
    constructor(options, listener) {
        TeacherCore.expectTeacher();
        [this.#options, this.#listener] = [options, listener];
        const key = `${options.gateway.url} ${options.room} ${options.author}`;
        this.#writerKey = `lectern-writer ${key}`;
        this.#store = new OutboxStore(key);
        this.#lock = new WriterLock(key, (hasLock) => {
            this.#hasLock = hasLock;
            this.#tellRight();
        });
    }

    /** Asks for the right to write, and makes the first core. */
    begin() {
        this.#lock.request();
        this.#makeCore();
    }

    /** Tells the core of something, as `TeacherCore.tell`; `input` is asked for where there is a core. */
    tell(call, input = () => undefined) {
        return this.#call((core) => core.tell(call, input())) === true;
    }

    /** A pointer on the board, as `TeacherCore.pen`; without a core nothing is drawn. */
    pen(phase, event, flags, numbers) {
        const change = this.#call((core) => core.pen(phase, event, flags, numbers));
        return change ?? { isCancelled: phase > 1, hasBegun: false, hasEnded: false, first: null };
    }

    /** Writes here from now on, wherever this author wrote before. */
    takeOver() {
        if (this.state === "elsewhere") this.#lock.takeOver();
        else this.tell("takeOver");
    }

    /** The page goes, and with it a stroke whose pen is down. */
    leave() {
        const post = this.#core?.leave();
        if (post) this.#post(this.#core, post);
        this.#call(() => {});
    }

    /** Ends it; what waits stays in the browser for the next page. */
    close() {
        this.leave();
        this.#leaving.abort();
        this.#core = null;
        clearTimeout(this.#timer);
        this.#lock.close();
    }

    #tellRight() {
        if (this.#hasLock !== null) this.tell("right", () => new Input().word(this.#hasLock));
    }

    /** Makes a core, the first or after one has failed: it reads from the store what there is to send. */
    async #makeCore() {
        const { signal } = this.#leaving;
        for (const backoff = new Backoff(); !this.#core && !signal.aborted; ) {
            try {
                const module = await TeacherCore.load();
                if (!signal.aborted) this.#core = new TeacherCore(module, this.#options.author, this.#options.name);
            } catch (error) {
                console.error(error);
                await pause(backoff.next(), signal);
            }
        }
        if (signal.aborted) return;
        this.#listener.began();
        this.#tellRight();
    }

    /** Calls the core, and does what it wants then. One that fails is replaced. */
    #call(body) {
        const core = this.#core;
        if (!core) return undefined;
        try {
            const result = body(core);
            this.#run(core);
            return result;
        } catch (error) {
            if (!(error instanceof WebAssembly.RuntimeError)) throw error;
            console.error(error);
            if (this.#core !== core) return undefined;
            this.#core = null;
            this.#listener.failed(error);
            // Not at once, for what the next one reads from the store may be the reason.
            if (performance.now() - this.#failedAt > soundTime) this.#failures.reset();
            this.#failedAt = performance.now();
            clearTimeout(this.#timer);
            this.#timer = setTimeout(() => this.#makeCore(), this.#failures.next());
            return undefined;
        }
    }

    #run(core) {
        clearTimeout(this.#timer);
        while (core === this.#core) {
            const { step, ...detail } = core.next();
            switch (step) {
                case "wait":
                    if (Number.isNaN(detail.until)) return;
                    this.#timer = setTimeout(() => this.#call(() => {}), Math.max(detail.until - performance.now(), 0));
                    return;
                case "load": this.#load(core); break;
                case "store": this.#keep(core, detail); break;
                case "post": this.#post(core, detail); break;
                case "look": this.#look(core); break;
                case "note": remember(this.#writerKey, detail.writesHere ? "here" : "elsewhere"); break;
                case "live": this.#listener.live(core.live()); break;
                default:
                    if (step === "writer") this.state = detail.state;
                    this.#listener.told(step, detail);
            }
        }
    }

    async #load(core) {
        const records = await this.#store.read();
        const input = new Input().word(records !== null).word(remembered(this.#writerKey) === "here");
        for (const { session, n, bytes } of records ?? []) input.data(session).number(n).data(bytes);
        if (core === this.#core) this.tell("loaded", () => input);
    }

    async #keep(core, { id, records, deleted }) {
        const isKept = await this.#store.write(records, deleted);
        if (core === this.#core) this.tell("stored", () => new Input().word(id).word(isKept));
    }

    async #post(core, { id, target, outlives, session, body }) {
        const { gateway, room, author } = this.#options;
        let answer;
        try {
            const response = await gateway.request(`api/rooms/${encodeURIComponent(room)}/${target}`, {
                method: "POST", isRepeated: true, query: { author }, body, keepalive: outlives,
                headers: { "Content-Type": "application/x-ndjson", "Ink-Session": session },
                ...(target === "wet" ? { limit: wetTimeout } : { signal: this.#leaving.signal }),
            });
            const bytes = new Uint8Array(await response.arrayBuffer());
            answer = ["answered", new Input().word(id).data(bytes)];
        } catch (error) {
            const { status, code, message, retryAfter } = error instanceof GatewayError ? error : unreachable();
            answer = ["failed", new Input().word(id).word(status).number(retryAfter).data(code).data(message)];
        }
        if (core === this.#core) this.tell(answer[0], () => answer[1]);
    }

    async #look(core) {
        const { gateway, room, author } = this.#options;
        // 2: nobody has said.
        let [isWriting, isMuted] = [2, 2];
        try {
            const { writers, muted } = await gateway.json(`api/rooms/${encodeURIComponent(room)}`, { signal: this.#leaving.signal });
            [isWriting, isMuted] = [(writers ?? []).includes(author), (muted ?? []).includes(author)];
        } catch (error) {
            // A room that was closed has nobody muted.
            if (error.status === 404) isMuted = false;
        }
        if (core === this.#core) this.tell("looked", () => new Input().word(isWriting).word(isMuted));
    }
}
