/**
 * The session of one teacher in one room: the core says what is to be done, and this does it, with the browser's store, its lock, its
 * clock and the gateway.
 */

import { Instance } from "./core.js";
import { remember, remembered } from "./dom.js";
import { Backoff, GatewayError, pause, unreachable } from "./gateway.js";
import { OutboxStore, WriterLock } from "./outbox-store.js";
import { Input } from "./records.js";

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

const states = ["waiting", "writer", "elsewhere", "superseded"];
const kinds = { mouse: 0, touch: 1, pen: 2 };
/** The calls of `teacher` in Sources/WebTeacher/Teacher.swift. */
const calls = {
    begin: 0, right: 1, loaded: 2, stored: 3, answered: 4, failed: 5, looked: 6, takeOver: 7, muted: 8, joined: 9, board: 10,
    pages: 11, shown: 12, covered: 13, command: 14, preview: 15, retry: 16, leave: 17, fingers: 18, even: 19,
};

/** The numbers of commands; of those of the log the values of a message's `a`. */
export const commands = {
    undo: 2, redo: 3, clear: 4, turn: 5, arrange: 6, image: 7, lasso: 8, paper: 9, remove: 10, text: 11, slide: 12, redraw: 13,
};

/** One session. A method that fails has ended it. */
export class TeacherCore extends Instance {
    constructor(module, author, name) {
        super(module);
        const seed = crypto.getRandomValues(new Uint32Array(2));
        this.tell("begin", new Input().number(performance.timeOrigin).words(seed).data(author).data(name ?? ""));
    }

    /** Tells the session of something, by the name of a call. Returns whether it was taken. */
    tell(call, input = new Input()) {
        return this.call("teacher", calls[call], performance.now(), input) === 1;
    }

    /**
     * A pointer on the board: `phase` 0 down, 1 moved, 2 up, 3 cancelled, 4 above it, 5 at rest. Of what it returns, `tap`: so many
     * fingers have tapped, 0, 2 or 3; `first`: from there the points are others; `element`: the stroke is an even shape now, of that element.
     */
    pen(phase, { pointerId, pointerType }, flags, numbers) {
        const [kind, input] = [kinds[pointerType] ?? 0, new Input().numbers(numbers)];
        const change = this.call("pen", phase, pointerId, kind, flags, performance.now(), input);
        const output = this.answer;
        const [first, count, predicted] = change & 8 ? [output.word(), output.word(), output.word()] : [null, 0, 0];
        return {
            isCancelled: (change & 1) !== 0, hasBegun: (change & 2) !== 0, hasEnded: (change & 4) !== 0,
            element: change & 128 ? change >> 8 : null, isErasing: (change & 16) !== 0, tap: change & 32 ? 2 : change & 64 ? 3 : 0, first,
            points: output.times(count, () => pointOf(output)), predicted: output.times(predicted, () => pointOf(output)),
        };
    }

    /** The next thing to do: its `step` and what belongs to it. */
    next() {
        const step = this.call("teacherNext", performance.now());
        const output = this.answer;
        switch (step) {
            case 0: return { step: "wait", until: output.number() };
            case 1: return { step: "writer", state: states[output.word()] };
            case 2: return { step: "muted", isMuted: output.word() === 1 };
            case 3: return { step: "outbox", waiting: output.word(), isKept: output.word() === 1, isFull: output.word() === 1 };
            case 4: {
                const [state, until] = [["live", "waiting", "refused"][output.word()], output.number()];
                if (state === "live") return { step: "sending", state };
                return { step: "sending", state, retryAt: performance.timeOrigin + until, code: output.text(), reason: output.text() };
            }
            case 5: return { step: "applied", n: output.number(), index: output.number() };
            case 6: {
                const [n, code, message] = [output.number(), output.text(), output.text()];
                return { step: "rejected", n, error: { code, message }, operation: JSON.parse(output.text()) };
            }
            case 7: return { step: "drawing", isDrawing: output.word() === 1 };
            case 8: return { step: "live" };
            case 9: return { step: "pages", ...pagesOf(output) };
            case 10: return { step: "load" };
            case 11: {
                const id = output.word();
                const records = output.list(() => ({ session: output.text(), n: output.number(), bytes: output.bytes().slice() }));
                return { step: "store", id, records, deleted: output.list(() => ({ session: output.text(), n: output.number() })) };
            }
            case 12: return { step: "note", writesHere: output.word() === 1 };
            case 13: return this.#post(output);
            default: return { step: "look" };
        }
    }

    /** The last post of a page that goes; null where there is none. */
    leave() {
        return this.tell("leave") ? this.#post(this.answer) : null;
    }

    /** What is shown above the room's entries: the page that is seen, the pages, and entries, those told before without message. */
    live() {
        this.call("teacherLive");
        const output = this.answer;
        const [session, page, pages] = [output.text(), output.word(), pagesOf(output)];
        return { session, page, pages, entries: output.list(() => ({ id: output.number(), text: output.text() })) };
    }

    #post(output) {
        const [id, target, outlives] = [output.word(), ["strokes", "wet"][output.word()], output.word() === 1];
        return { step: "post", id, target, outlives, session: output.text(), body: output.text() };
    }
}

/** The pages, and `unused`, a number for a new one, if there is one. */
function pagesOf(output) {
    const [shown, order, hidden, unused] = [output.word(), output.words(), output.words(), output.word()];
    return { shown, order, hidden, unused: unused < 1000 ? unused : undefined };
}

/** A point as messages have it. */
function pointOf(output) {
    const point = { x: output.number(), y: output.number() };
    for (const key of ["f", "i", "z", "m"]) {
        const value = output.number();
        if (!Number.isNaN(value)) point[key] = value;
    }
    return point;
}
