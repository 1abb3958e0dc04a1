/** The teacher's half of the core: the session of one teacher in an instance of its own. */

import { Instance } from "./core.js";
import { Input, RecordReader } from "./records.js";

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
        return this._functions.teacher(calls[call], performance.now(), this._send(input)) === 1;
    }

    /**
     * A pointer on the board: `phase` 0 down, 1 moved, 2 up, 3 cancelled, 4 above it, 5 at rest. Of what it returns, `tap`: so many
     * fingers have tapped, 0, 2 or 3; `first`: from there the points are others; `element`: the stroke is an even shape now, of that element.
     */
    pen(phase, { pointerId, pointerType }, flags, numbers) {
        const size = this._send(new Input().numbers(numbers));
        const change = this._functions.pen(phase, pointerId, kinds[pointerType] ?? 0, flags, performance.now(), size);
        const output = new RecordReader(this._answer);
        const [first, count, predicted] = change & 8 ? [output.word(), output.word(), output.word()] : [null, 0, 0];
        return {
            isCancelled: (change & 1) !== 0, hasBegun: (change & 2) !== 0, hasEnded: (change & 4) !== 0,
            element: change & 128 ? change >> 8 : null, isErasing: (change & 16) !== 0, tap: change & 32 ? 2 : change & 64 ? 3 : 0, first,
            points: output.times(count, () => pointOf(output)), predicted: output.times(predicted, () => pointOf(output)),
        };
    }

    /** The next thing to do: its `step` and what belongs to it. */
    next() {
        const step = this._functions.teacherNext(performance.now());
        const output = new RecordReader(this._answer);
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
        return this.tell("leave") ? this.#post(new RecordReader(this._answer)) : null;
    }

    /** What is shown above the room's entries: the page that is seen, the pages, and entries, those told before without message. */
    live() {
        this._functions.teacherLive();
        const output = new RecordReader(this._answer);
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
