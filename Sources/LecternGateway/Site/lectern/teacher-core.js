/**
 * The teacher's half of the core: the session of one teacher in an instance of its own.
 *
 * @module
 */

import { Core } from "./core.js";

const [writer, reader] = [new TextEncoder(), new TextDecoder()];
const states = ["waiting", "writer", "elsewhere", "superseded"];
const kinds = { mouse: 0, touch: 1, pen: 2 };
/** The calls of `teacher` in Sources/WebCore/Teacher.swift. */
const calls = {
    begin: 0, right: 1, loaded: 2, stored: 3, answered: 4, failed: 5, looked: 6, takeOver: 7, muted: 8, joined: 9, board: 10,
    pages: 11, shown: 12, covered: 13, command: 14, preview: 15, retry: 16, leave: 17, fingers: 18, even: 19,
};

/** One session. A method that fails has ended it. */
export class TeacherCore {
    #functions;
    #memory;

    /** @param {WebAssembly.Module} module as `Core.load` gives it */
    constructor(module, author, name) {
        const page = {
            now: () => performance.now(),
            random: (address, count) => crypto.getRandomValues(new Uint8Array(this.#memory.buffer, address, count)),
        };
        const { exports } = new WebAssembly.Instance(module, { page });
        [this.#functions, this.#memory] = [exports, exports.memory];
        exports._initialize?.();
        const seed = crypto.getRandomValues(new Uint32Array(2));
        this.tell("begin", new Input().number(performance.timeOrigin).words(seed).text(author).text(name ?? ""));
    }

    static load() {
        return Core.load();
    }

    /**
     * Tells the session of something.
     *
     * @param {keyof calls} call
     * @param {Input} [input]
     * @returns {boolean} whether it was taken
     */
    tell(call, input = new Input()) {
        return this.#functions.teacher(calls[call], performance.now(), this.#send(input)) === 1;
    }

    /**
     * A pointer on the board.
     *
     * @param {number} phase 0 down, 1 moved, 2 up, 3 cancelled
     * @returns {{isCancelled: boolean, hasBegun: boolean, hasEnded: boolean, isErasing: boolean, first: number | null,
     *   points: object[], predicted: object[], tap: number, element: number | null}} `tap`: so many fingers have tapped, 0, 2 or 3; `element`: the
     *   stroke is an even shape now, and that is its element
     */
    pen(phase, { pointerId, pointerType }, flags, numbers) {
        const size = this.#send(new Input().numbers(numbers));
        const change = this.#functions.pen(phase, pointerId, kinds[pointerType] ?? 0, flags, performance.now(), size);
        const output = this.#output();
        const [first, count, predicted] = change & 8 ? [output.word(), output.word(), output.word()] : [null, 0, 0];
        return {
            isCancelled: (change & 1) !== 0, hasBegun: (change & 2) !== 0, hasEnded: (change & 4) !== 0,
            element: change & 128 ? change >> 8 : null, isErasing: (change & 16) !== 0, tap: change & 32 ? 2 : change & 64 ? 3 : 0, first, points: output.points(count), predicted: output.points(predicted),
        };
    }

    /** The next thing to do: its `step` and what belongs to it. */
    next() {
        const step = this.#functions.teacherNext(performance.now());
        const output = this.#output();
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
            case 9: return { step: "pages", ...output.pages() };
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
        return this.tell("leave") ? this.#post(this.#output()) : null;
    }

    /** What is shown above the room's entries: the page that is seen, the pages, and entries, those told before without message. */
    live() {
        this.#functions.teacherLive();
        const output = this.#output();
        const [session, page, pages] = [output.text(), output.word(), output.pages()];
        return { session, page, pages, entries: output.list(() => ({ id: output.number(), text: output.text() })) };
    }

    #post(output) {
        const [id, target, outlives] = [output.word(), ["strokes", "wet"][output.word()], output.word() === 1];
        return { step: "post", id, target, outlives, session: output.text(), body: output.text() };
    }

    #send(input) {
        const { bytes } = input;
        const address = this.#functions.input(bytes.length);
        new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
        return bytes.length;
    }

    #output() {
        return new Output(new DataView(this.#memory.buffer, this.#functions.output(), this.#functions.outputSize()));
    }
}

/** What a call is told, in the order of its description. */
export class Input {
    #parts = [];

    words(values) {
        this.#parts.push(new Uint8Array(Uint32Array.from(values).buffer));
        return this;
    }

    word(value) {
        return this.words([Number(value)]);
    }

    /** Those that are undefined are not there. */
    numbers(values) {
        this.#parts.push(new Uint8Array(Float64Array.from(values, (value) => value ?? NaN).buffer));
        return this;
    }

    number(value) {
        return this.numbers([value]);
    }

    raw(text) {
        this.#parts.push(writer.encode(text));
        return this;
    }

    data(bytes) {
        this.word(bytes.length).#parts.push(bytes);
        return this;
    }

    text(text) {
        return this.data(writer.encode(text));
    }

    list(values) {
        return this.word(values.length).words(values);
    }

    corners(points) {
        return this.word(points.length).numbers(points.flatMap(({ x, y }) => [x, y]));
    }

    get bytes() {
        const bytes = new Uint8Array(this.#parts.reduce((size, part) => size + part.length, 0));
        let at = 0;
        for (const part of this.#parts) {
            bytes.set(part, at);
            at += part.length;
        }
        return bytes;
    }
}

/** An answer, read in its order. */
class Output {
    #view;
    #at = 0;

    constructor(view) {
        this.#view = view;
    }

    word() {
        this.#at += 4;
        return this.#view.getUint32(this.#at - 4, true);
    }

    number() {
        this.#at += 8;
        return this.#view.getFloat64(this.#at - 8, true);
    }

    bytes() {
        const size = this.word();
        const at = this.#at;
        this.#at += Math.ceil(size / 4) * 4;
        return new Uint8Array(this.#view.buffer, this.#view.byteOffset + at, size);
    }

    text() {
        return reader.decode(this.bytes());
    }

    list(read) {
        return Array.from({ length: this.word() }, read);
    }

    pages() {
        const word = () => this.word();
        const [shown, order, hidden, unused] = [this.word(), this.list(word), this.list(word), this.word()];
        return { shown, order, hidden, unused: unused < 1000 ? unused : undefined };
    }

    points(count) {
        return Array.from({ length: count }, () => {
            const point = { x: this.number(), y: this.number() };
            for (const key of ["f", "i", "z", "m"]) {
                const value = this.number();
                if (!Number.isNaN(value)) point[key] = value;
            }
            return point;
        });
    }
}
