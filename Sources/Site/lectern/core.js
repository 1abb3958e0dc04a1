/** The core: the service's own code that draws, as WebAssembly. An instance holds one board, and draws one page of it. */

import { Backoff, pause } from "./gateway.js";
import { t } from "./language.js";
import { RecordReader } from "./records.js";

/** The core of boards and replays, and the one that has a teacher's session as well. */
const addresses = {
    board: new URL("../lectern/board.wasm", import.meta.url),
    teacher: new URL("../lectern/lectern.wasm", import.meta.url),
};
const functions = 9;
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
    #functions;
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
        [this.#functions, this.#memory] = [exports, exports.memory];
        exports._initialize?.();
        if (exports.version() !== functions) {
            for (const name of Object.keys(compiled)) delete compiled[name];
            throw new VersionError(t("The server has another release: load this page again."));
        }
    }

    get bytes() { return this.#memory.buffer.byteLength; }

    /** Whether the core has a teacher's tools. */
    get hasTools() { return "select" in this.#functions; }

    /** Calls a function of Sources/WebCore or Sources/WebTeacher. Bytes go over by their number. */
    call(name, ...values) {
        return this.#functions[name](...values.map((value) => (value?.bytes ? this.#send(value) : value)));
    }

    /** The answer of the last call: in the memory of the instance, until the next one. */
    get answer() { return new RecordReader(this._output); }

    /** @protected */
    get _output() {
        return new DataView(this.#memory.buffer, this.#functions.output(), this.#functions.outputSize());
    }

    /** Hands bytes over; returns how many. */
    #send({ bytes }) {
        const address = this.#functions.input(bytes.length);
        new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
        return bytes.length;
    }
}

/** An instance that has a board. */
export class Core extends Instance {
    /** The size of the canvas in pixels, and pixels a board unit. */
    get width() { return this.call("measure", 0); }
    get height() { return this.call("measure", 1); }
    get scale() { return this.call("measure", 2); }
    /** How much of the picture is there: 0 … 1. */
    get progress() { return this.call("measure", 3); }
    /** Whether the page has the colours of a dark board. */
    get isDark() { return this.call("measure", 4) === 1; }

    /** Calls a function that answers with pixels: `{x, y, pixels}`, to be used before the next call; null for none. */
    box(name, ...values) {
        if (this.call(name, ...values) !== 1) return null;
        const view = this._output;
        const [x, y, width, height] = [0, 4, 8, 12].map((offset) => view.getInt32(offset, true));
        const pixels = new Uint8ClampedArray(view.buffer, view.byteOffset + 16, 4 * width * height);
        return { x, y, pixels: new ImageData(pixels, width, height) };
    }

    /**
     * The images and texts that are seen, the width that each is needed with, and the one that is there: `{width, known, asset, page}`,
     * and `{width, height, known, number, text, colour, isRightToLeft, boxWidth, boxHeight}` of a text.
     */
    neededImages() {
        const count = this.call("neededImages");
        const output = this.answer;
        return output.times(count, (_, number) => {
            const [width, known, height] = [output.word(), output.word(), output.word()];
            if (height === 0) return { width, known, asset: output.text(), page: output.word() };
            return {
                width, height, known, number, text: output.text(), colour: output.colour(),
                isRightToLeft: output.word() === 1, boxWidth: output.number(), boxHeight: output.number(),
            };
        });
    }

    /** Calls a function of Sources/WebCore/Student.swift or Replay.swift. Returns copies of the records of its answer. */
    ask(name, ...values) {
        this.call(name, ...values);
        const { buffer, byteOffset, byteLength } = this._output;
        const view = new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
        const records = [];
        for (let at = 0; at < byteLength; at += 8 + 4 * view.getUint32(at + 4, true)) {
            records.push(new RecordReader(view, view.getUint32(at, true), at + 8));
        }
        return records;
    }
}
