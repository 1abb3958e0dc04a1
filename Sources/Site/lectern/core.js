/** The core: the service's own code that draws, as WebAssembly. An instance holds one board, and draws one page of it. */

import { Backoff, pause } from "./gateway.js";
import { t } from "./language.js";
import { Input, RecordReader } from "./records.js";

/** The core of boards and replays, and the one that has a teacher's session as well. */
const addresses = {
    board: new URL("../lectern/board.wasm", import.meta.url),
    teacher: new URL("../lectern/lectern.wasm", import.meta.url),
};
const functions = 7;
/** Milliseconds for it over the slowest lines; then it is asked for again. */
const loadTime = 60_000;
const compiled = {};
let hasTeacher = false;

async function compile(address) {
    const reply = await fetch(address, { signal: AbortSignal.timeout(loadTime) });
    if (!reply.ok) throw new Error(`${address} answers ${reply.status}`);
    return WebAssembly.compile(await reply.arrayBuffer());
}

/** Instances that failed one after the other without a complete picture until the next one is not made at once. */
const mostFailures = 3;

/** The core that was loaded is not the page's, as while servers of two releases are exchanged. */
export class VersionError extends Error {}

/** Loads a core, and makes another one where it fails: a trap ends an instance. */
export class CoreHost {
    /** The instance; null while there is none. */
    core = null;
    #users = [];
    #failures = 0;
    #waits = new Backoff({ first: 1000, most: 60_000 });
    #isClosed = false;

    constructor() {
        this.#load();
    }

    /** Drops the instance: what is called from now on is not done. */
    close() {
        this.#isClosed = true;
        this.core = null;
    }

    /** Tells of each instance by `onready(core)`, and of its end by `onfailure(error, wait)`, with the milliseconds until the next one is made. */
    add(user) {
        this.#users.push(user);
    }

    /** Calls the core. Where there is none, or it fails, that is undefined. */
    call(body) {
        if (!this.core) return undefined;
        try {
            return body(this.core);
        } catch (error) {
            console.error(error);
            this.core = null;
            // What it was told may be the reason: the room may be another one later.
            const wait = ++this.#failures <= mostFailures ? 0 : this.#waits.next();
            for (const { onfailure } of this.#users) onfailure?.(error, wait);
            this.#load(wait);
            return undefined;
        }
    }

    /** A picture is complete: the instance is sound. */
    succeeded() {
        this.#failures = 0;
        this.#waits.reset();
    }

    async #load(wait = 0) {
        if (wait > 0) await pause(wait);
        for (const backoff = new Backoff(); !this.core && !this.#isClosed; ) {
            try {
                const module = await Core.load();
                if (!this.#isClosed) this.core = new Core(module);
            } catch (error) {
                console.error(error);
                // The network comes back. A page that is older than the server has to be loaded again.
                const wait = backoff.next();
                if (error instanceof VersionError) for (const { onfailure } of this.#users) onfailure?.(error, wait);
                await pause(wait);
            }
        }
        if (this.#isClosed) return;
        for (const { onready } of this.#users) onready(this.core);
    }
}

/** One instance of the core, with its functions for a board or for a teacher. Its memory is gone with it. */
export class Instance {
    /** @protected */
    _functions;
    #memory;

    /** The page has a teacher: what is loaded from now on has a teacher's session, so that boards beside it load no other core. */
    static expectTeacher() {
        hasTeacher = true;
    }

    /** Loads the module that instances are made of, once for all; a failed load is tried again by the next call. */
    static async load() {
        // A page may make a board first, and then a teacher.
        await null;
        const name = hasTeacher ? "teacher" : "board";
        compiled[name] ??= compile(addresses[name]).catch((error) => {
            delete compiled[name];
            throw error;
        });
        return compiled[name];
    }

    constructor(module) {
        const page = {
            now: () => performance.now(),
            random: (address, count) => crypto.getRandomValues(new Uint8Array(this.#memory.buffer, address, count)),
        };
        const { exports } = new WebAssembly.Instance(module, { page });
        [this._functions, this.#memory] = [exports, exports.memory];
        exports._initialize?.();
        if (exports.version() !== functions) {
            for (const name of Object.keys(compiled)) delete compiled[name];
            throw new VersionError(t("The server has another release: load this page again."));
        }
    }

    get bytes() { return this.#memory.buffer.byteLength; }

    /** Hands bytes over; returns how many. @protected */
    _send({ bytes }) {
        const address = this._functions.input(bytes.length);
        new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
        return bytes.length;
    }

    /** The answer of the last call: in the memory of the instance, until the next one. @protected */
    get _answer() {
        return new DataView(this.#memory.buffer, this._functions.output(), this._functions.outputSize());
    }
}

/** An instance that has a board. */
export class Core extends Instance {
    /** The size of the canvas in pixels, and pixels a board unit. */
    get width() { return this._functions.measure(0); }
    get height() { return this._functions.measure(1); }
    get scale() { return this._functions.measure(2); }
    /** How much of the picture is there: 0 … 1. */
    get progress() { return this._functions.measure(3); }
    /** Whether the page has the colours of a dark board. */
    get isDark() { return this._functions.measure(4) === 1; }

    /** Shows entries `{id, message}` as a page of a board; `pixels`: the width of the canvas. */
    show(entries, { style, palette, width, height, pixels }) {
        const input = new Input().byte(style.length).raw(style).list(palette.map((colour) => Number.parseInt(colour.slice(1), 16)));
        for (const { id, message } of entries) input.entry(id, message);
        this._functions.show(width, height, pixels, this._send(input));
    }

    insert({ id, message }) {
        this._functions.insert(id, this._send(new Input().raw(JSON.stringify(message))));
    }

    remove(id) {
        this._functions.remove(id);
    }

    /** Shows entries above those of the page, without a message where one is shown already. */
    showLive(entries) {
        const input = new Input();
        for (const { id, message } of entries) input.entry(id, message);
        this._functions.showLive(this._send(input));
    }

    /** Draws for so many milliseconds; returns whether the picture is complete. */
    draw(milliseconds) {
        return this._functions.draw(milliseconds) === 1;
    }

    /** The next pixels that are other than before, `{x, y, pixels}`, to be used before the next call; null when all were told. */
    nextBox() {
        return this._functions.nextBox() === 1 ? this.#box() : null;
    }

    /**
     * Shows a part of the page on a canvas of its own; null for all of it again. `x`, `y`: whole pixels from the upper left corner of the
     * page, at `scale` pixels a board unit; `width`, `height`: of the canvas. On a dark ground a page that images cover keeps its colours.
     */
    view(part, isDark) {
        const { x, y, width, height, scale } = part ?? { x: 0, y: 0, width: 0, height: 0, scale: 1 };
        this._functions.view(x, y, width, height, scale, isDark ? 1 : 0);
    }

    /** The page's canvas is blank: all pixels are told anew. */
    presentAll() {
        this._functions.presentAll();
    }

    /**
     * The images and texts that are seen, the width that each is needed with, and the one that is there: `{width, known, asset, page}`,
     * and `{width, height, known, number, text, colour, isRightToLeft, boxWidth, boxHeight}` of a text.
     */
    neededImages() {
        const count = this._functions.neededImages();
        const output = new RecordReader(this._answer);
        return output.times(count, (_, number) => {
            const [width, known, height] = [output.word(), output.word(), output.word()];
            if (height === 0) return { width, known, asset: output.text(), page: output.word() };
            return {
                width, height, known, number, text: output.text(), colour: `#${output.word().toString(16).padStart(6, "0")}`,
                isRightToLeft: output.word() === 1, boxWidth: output.number(), boxHeight: output.number(),
            };
        });
    }

    setImage(asset, page, { width, height, data }) {
        this._functions.setImage(page, width, height, this._send(new Input().raw(asset).raw(data)));
    }

    /** `number`: of the text in the last answer of {@link neededImages}. */
    setText(number, { width, height, data }) {
        this._functions.setImage(-1 - number, width, height, this._send({ bytes: data }));
    }

    // What a painter offers; see `Painter`.

    strokeAt(x, y, radius) {
        if (this._functions.strokeAt(x, y, radius) !== 1) return null;
        const output = new RecordReader(this._answer);
        return { index: output.number(), time: output.number() };
    }

    /** Whether the core has a teacher's tools: the functions from here to {@link selectedInk}. */
    get hasTools() { return "select" in this._functions; }

    textAt(x, y) {
        if (this._functions.find(1, x, y) !== 1) return null;
        const output = new RecordReader(this._answer);
        const [id, left, top, width, height] = [output.number(), output.number(), output.number(), output.number(), output.number()];
        return { id, x: left, y: top, width, height, lineHeight: output.number(), colour: output.word(), text: output.text() };
    }

    /** Returns whether there is anything; {@link selection} has it. */
    select(points) {
        return this._functions.select(this._send(new Input().places(points))) === 1;
    }

    /** The selection where a map puts it, as {@link nextBox}. */
    selection(map) {
        return this._functions.selection(...map) === 1 ? this.#box() : null;
    }

    lift(path, radius) {
        return this.#ids(this._functions.lift(radius, this._send(new Input().places(path))));
    }

    own(indices, author) {
        return this.#ids(this._functions.lift(-3, this._send(new Input().data(author).numbers(indices))));
    }

    #ids(count) {
        const output = new RecordReader(this._answer);
        return output.times(count, () => output.number());
    }

    hide(indices) {
        this._functions.lift(-1, this._send(new Input().numbers(indices)));
    }

    putBack(indices) {
        this._functions.lift(-2, this._send(new Input().numbers(indices)));
    }

    pictureAt(x, y) {
        if (this._functions.find(0, x, y) !== 1) return null;
        const output = new RecordReader(this._answer);
        const corners = output.times(4, () => ({ x: output.number(), y: output.number() }));
        return { corners, id: output.number(), isWhole: output.word() === 1, asset: output.text(), page: output.word() };
    }

    selectedInk() {
        const count = this._functions.find(2, 0, 0);
        const output = new RecordReader(this._answer);
        const left = output.word();
        const entries = output.times(count, () => ({ id: output.number(), message: JSON.parse(output.text()) }));
        return { entries, left };
    }

    /** Calls a function of Sources/WebCore/Student.swift or Replay.swift that answers with records. Bytes go over by their number. */
    ask(name, ...values) {
        this._functions[name](...values.map((value) => (value?.bytes ? this._send(value) : value)));
        return this.#records();
    }

    /** The session is "" for none. */
    studentOwnSession(session) {
        this._functions.studentOwnSession(this._send(new Input().raw(session)));
    }

    /** What is to be fetched now: parameters of a query without the cohort; null for nothing. */
    replayRequest() {
        if (this._functions.replayRequest() !== 1) return null;
        const [record] = this.#records();
        const [from, after, limit, ep] = record.times(4, () => record.number());
        const query = { from, after, limit, ep, room: record.text() };
        return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "" && !Number.isNaN(value)));
    }

    /** The records of the last answer; see `Records.swift`. Copies: they hold for good. */
    #records() {
        const { buffer, byteOffset, byteLength } = this._answer;
        const view = new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
        const records = [];
        for (let at = 0; at < byteLength; at += 8 + 4 * view.getUint32(at + 4, true)) {
            records.push(new RecordReader(view, view.getUint32(at, true), at + 8));
        }
        return records;
    }

    #box() {
        const view = this._answer;
        const [x, y, width, height] = [0, 4, 8, 12].map((offset) => view.getInt32(offset, true));
        const pixels = new Uint8ClampedArray(view.buffer, view.byteOffset + 16, 4 * width * height);
        return { x, y, pixels: new ImageData(pixels, width, height) };
    }
}
