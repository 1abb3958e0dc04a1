/**
 * The core: the service's own code that draws, as WebAssembly. An instance holds one board, and draws one page of it.
 *
 * @module
 */

import { Backoff } from "./gateway.js";
import { RecordReader } from "./records.js";

const address = new URL("lectern.wasm", import.meta.url);
const functions = 6;
let compiled = null;
const [writer, reader] = [new TextEncoder(), new TextDecoder()];

async function compile() {
    const reply = await fetch(address);
    if (!reply.ok) throw new Error(`${address} answers ${reply.status}`);
    return WebAssembly.compile(await reply.arrayBuffer());
}

/** Instances that failed one after the other without a complete picture until no further one is made. */
const mostFailures = 3;

/** Loads a core, and makes another one where it fails: a trap ends an instance. */
export class CoreHost {
    /** The instance; null while there is none. */
    core = null;
    #users = [];
    #failures = 0;
    #isClosed = false;

    constructor() {
        this.#load();
    }

    /** Drops the instance: what is called from now on is not done. */
    close() {
        this.#isClosed = true;
        this.core = null;
    }

    /** @param {{onready: (core: Core) => void, onfailure?: (error: Error) => void}} user told of each instance, and of its end */
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
            for (const { onfailure } of this.#users) onfailure?.(error);
            if (++this.#failures <= mostFailures) this.#load();
            return undefined;
        }
    }

    /** A picture is complete: the instance is sound. */
    succeeded() {
        this.#failures = 0;
    }

    async #load() {
        for (const backoff = new Backoff(); !this.core && !this.#isClosed; ) {
            try {
                const module = await Core.load();
                if (!this.#isClosed) this.core = new Core(module);
            } catch (error) {
                console.error(error);
                // The network comes back; nothing else can be done.
                await new Promise((resolve) => setTimeout(resolve, backoff.next()));
            }
        }
        if (this.#isClosed) return;
        for (const { onready } of this.#users) onready(this.core);
    }
}

/** One instance of the core. Its memory is gone with it. */
export class Core {
    #functions;
    #memory;

    /**
     * Loads what instances are made of, once for all; a failed load is tried again by the next call.
     *
     * @returns {Promise<WebAssembly.Module>}
     */
    static load() {
        compiled ??= compile().catch((error) => {
            compiled = null;
            throw error;
        });
        return compiled;
    }

    /** @param {WebAssembly.Module} module as {@link Core.load} gives it */
    constructor(module) {
        const page = {
            now: () => performance.now(),
            random: (address, count) => crypto.getRandomValues(new Uint8Array(this.#memory.buffer, address, count)),
        };
        const { exports } = new WebAssembly.Instance(module, { page });
        [this.#functions, this.#memory] = [exports, exports.memory];
        exports._initialize?.();
        if (exports.version() !== functions) throw new Error("the page and its core are of different releases");
    }

    /** The size of the canvas in pixels, and pixels a board unit. */
    get width() { return this.#functions.measure(0); }
    get height() { return this.#functions.measure(1); }
    get scale() { return this.#functions.measure(2); }
    /** How much of the picture is there: 0 … 1. */
    get progress() { return this.#functions.measure(3); }
    /** Whether the page has the colours of a dark board. */
    get isDark() { return this.#functions.measure(4) === 1; }
    /** Bytes of the instance. */
    get bytes() { return this.#memory.buffer.byteLength; }

    /**
     * Shows a page of a board.
     *
     * @param {{id: number, message: object}[]} entries
     * @param {{style: string, palette: string[], width: number, height: number, pixels: number}} options `pixels`: the width
     *   of the canvas
     */
    show(entries, { style, palette, width, height, pixels }) {
        const input = new InputWriter();
        input.byte(style.length);
        input.text(style);
        input.word(palette.length);
        for (const colour of palette) input.word(Number.parseInt(colour.slice(1), 16));
        for (const { id, message } of entries) input.entry(id, message);
        this.#functions.show(width, height, pixels, this.#send(input.bytes));
    }

    insert({ id, message }) {
        this.#functions.insert(id, this.#send(writer.encode(JSON.stringify(message))));
    }

    remove(id) {
        this.#functions.remove(id);
    }

    /** @param {{id: number, message: object | null}[]} entries without a message where it is shown already */
    showLive(entries) {
        const input = new InputWriter();
        for (const { id, message } of entries) input.entry(id, message);
        this.#functions.showLive(this.#send(input.bytes));
    }

    /** Draws for so many milliseconds; returns whether the picture is complete. */
    draw(milliseconds) {
        return this.#functions.draw(milliseconds) === 1;
    }

    /**
     * The next pixels that are other than before; null when all were told.
     *
     * @returns {{x: number, y: number, pixels: ImageData} | null} to be used before the next call
     */
    nextBox() {
        return this.#functions.nextBox() === 1 ? this.#box() : null;
    }

    /**
     * Shows a part of the page on a canvas of its own; null for all of it again.
     *
     * @param {{x: number, y: number, width: number, height: number, scale: number} | null} part `x`, `y`: whole pixels from the upper left
     *   corner of the page, at `scale` pixels a board unit; `width`, `height`: of the canvas
     * @param {boolean} isDark whether the ground is dark; a page that images cover keeps its colours
     */
    view(part, isDark) {
        const { x, y, width, height, scale } = part ?? { x: 0, y: 0, width: 0, height: 0, scale: 1 };
        this.#functions.view(x, y, width, height, scale, isDark ? 1 : 0);
    }

    /** The page's canvas is blank: all pixels are told anew. */
    presentAll() {
        this.#functions.presentAll();
    }

    /**
     * The images and texts that are seen, the width that each is needed with, and the one that is there: `{width, known, asset, page}`,
     * and `{width, height, known, number, text, colour, isRightToLeft, boxWidth, boxHeight}` of a text.
     */
    neededImages() {
        const count = this.#functions.neededImages();
        const output = new RecordReader(this.#output(), 0, 0);
        return Array.from({ length: count }, (_, number) => {
            const [width, known, height] = [output.word(), output.word(), output.word()];
            if (height === 0) return { width, known, asset: output.text(), page: output.word() };
            return {
                width, height, known, number, text: output.text(), colour: `#${output.word().toString(16).padStart(6, "0")}`,
                isRightToLeft: output.word() === 1, boxWidth: output.float(), boxHeight: output.float(),
            };
        });
    }

    /** @param {ImageData} image */
    setImage(asset, page, { width, height, data }) {
        const bytes = new Uint8Array(64 + data.length);
        writer.encodeInto(asset, bytes);
        bytes.set(data, 64);
        this.#functions.setImage(page, width, height, this.#send(bytes));
    }

    /** @param {number} number of the text in the last answer of {@link neededImages} @param {ImageData} image */
    setText(number, { width, height, data }) {
        this.#functions.setImage(-1 - number, width, height, this.#send(data));
    }

    /**
     * The topmost text at a point of the board; null where there is none. Its place and size are board units, its colour is that
     * of messages.
     */
    textAt(x, y) {
        if (this.#functions.find(1, x, y, 0) !== 1) return null;
        const output = new RecordReader(this.#output(), 0, 0);
        const [id, left, top, width, height] = [output.float(), output.float(), output.float(), output.float(), output.float()];
        return { id, x: left, y: top, width, height, lineHeight: output.float(), colour: output.word(), text: output.text() };
    }

    /** Selects what is inside of a path in board units; returns whether there is anything. */
    select(points) {
        const numbers = new Float64Array(points.flatMap(({ x, y }) => [x, y]));
        return this.#functions.select(this.#send(new Uint8Array(numbers.buffer))) === 1;
    }

    /** The selection where a map puts it, as {@link nextBox}. */
    selection(map) {
        return this.#functions.selection(...map) === 1 ? this.#box() : null;
    }

    /** Hides the strokes that an eraser of whole strokes touches; returns their indices. */
    lift(path, radius) {
        const numbers = new Float64Array(path.flatMap(({ x, y }) => [x, y]));
        const count = this.#functions.lift(radius, this.#send(new Uint8Array(numbers.buffer)));
        const view = this.#output();
        return Array.from({ length: count }, (_, place) => view.getFloat64(place * 8, true));
    }

    /** Hides entries of the room. */
    hide(indices) {
        this.#functions.lift(-1, this.#send(new Uint8Array(new Float64Array(indices).buffer)));
    }

    /** Shows strokes again that were hidden, unless the room has removed them. */
    putBack(indices) {
        this.#functions.putBack(this.#send(new Uint8Array(new Float64Array(indices).buffer)));
    }

    /**
     * The topmost image at a point of the board: `{id, corners, isWhole, asset, page}`, `isWhole`: nothing of it is cut away, and it is
     * upright; null where there is none.
     */
    imageAt(x, y) {
        if (this.#functions.find(0, x, y, 0) !== 1) return null;
        const output = new RecordReader(this.#output(), 0, 0);
        const corners = [0, 1, 2, 3].map(() => ({ x: output.float(), y: output.float() }));
        return { corners, id: output.float(), isWhole: output.word() === 1, asset: output.text(), page: output.word() };
    }

    /**
     * The strokes and texts inside of the path that was selected last: `{entries, left}`, from the bottom to the top each entry
     * `{id, message}`, with what draws it where it is seen; `left`: how many more cannot be drawn anew.
     */
    selectedInk() {
        const count = this.#functions.find(2, 0, 0, 0);
        const output = new RecordReader(this.#output(), 0, 0);
        const left = output.word();
        const entries = Array.from({ length: count }, () => ({ id: output.float(), message: JSON.parse(output.text()) }));
        return { entries, left };
    }

    /**
     * The topmost stroke or text of the room that is as near to a point as `radius`, all in board units; null where there is none:
     * the index of its operation, and the media time at which that was drawn, NaN where its message has none.
     */
    strokeAt(x, y, radius) {
        if (this.#functions.find(3, x, y, radius) !== 1) return null;
        const view = this.#output();
        return { index: view.getFloat64(0, true), time: view.getFloat64(8, true) };
    }

    /** Begins a student's board, or begins with another cohort. */
    studentBegin(followsPlayer, isHead, maximumHold) {
        this.#functions.studentBegin(followsPlayer ? 1 : 0, isHead ? 1 : 0, maximumHold);
        return this.#records();
    }

    /** @param {string} type of an event @param {Uint8Array} data @param {number} player media time; NaN while unknown */
    studentReceive(type, data, player) {
        this.#functions.studentReceive(["board", "op", "wet", "mark"].indexOf(type), this.#send(data), player);
        return this.#records();
    }

    studentLook(player) {
        this.#functions.studentLook(player);
        return this.#records();
    }

    studentGrow(player) {
        this.#functions.studentGrow(player);
        return this.#records();
    }

    /**
     * Shows the pointer of the person at this board.
     *
     * @param {{x: number, y: number} | null} place in board units; null when it is lifted
     */
    studentPoint(place, { author, colour, width }) {
        const input = new InputWriter();
        input.word(place ? 1 : 0);
        for (const number of [place?.x ?? 0, place?.y ?? 0]) input.float(number);
        input.word(colour);
        input.float(width);
        // Names of authors are ASCII.
        input.word(author.length);
        input.text(author);
        this.#functions.studentPoint(this.#send(input.bytes));
        return this.#records();
    }

    /** @param {number | null} page null for the shown one */
    studentView(page) {
        this.#functions.studentView(page ?? -1);
        return this.#records();
    }

    studentResize(pixels) {
        this.#functions.studentResize(pixels);
        return this.#records();
    }

    /** @param {string} session "" for none */
    studentOwnSession(session) {
        this.#functions.studentOwnSession(this.#send(writer.encode(session)));
    }

    /**
     * Begins a recorded lesson.
     *
     * @param {boolean} grows whether strokes grow
     * @param {number} mostPoints points that are kept
     * @param {number} [epoch] the encoder session; the last one unless said
     */
    replayBegin(grows, mostPoints, epoch = NaN) {
        this.#functions.replayBegin(grows ? 1 : 0, mostPoints, epoch);
        return this.#records();
    }

    /** What is to be fetched now: parameters of a query without the cohort; null for nothing. */
    replayRequest() {
        if (this.#functions.replayRequest() !== 1) return null;
        const [record] = this.#records();
        const [from, after, limit, ep] = [record.float(), record.float(), record.float(), record.float()];
        const query = { from, after, limit, ep, room: record.text() };
        return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "" && !Number.isNaN(value)));
    }

    /** @param {Uint8Array} reply to the last request */
    replayReceive(reply) {
        this.#functions.replayReceive(this.#send(reply));
        return this.#records();
    }

    /** Adds what was received, for so many milliseconds. */
    replayAdd(milliseconds) {
        this.#functions.replayAdd(milliseconds);
        return this.#records();
    }

    /** @param {string} why one sentence */
    replayRestart(why) {
        this.#functions.replayRestart(this.#send(writer.encode(why)));
        return this.#records();
    }

    /** @param {number} time of the player; NaN while unknown */
    replayLook(time) {
        this.#functions.replayLook(time);
        return this.#records();
    }

    replayEpoch(epoch = NaN, time = NaN) {
        this.#functions.replayEpoch(epoch, time);
        return this.#records();
    }

    replayResize(pixels) {
        this.#functions.replayResize(pixels);
        return this.#records();
    }

    /** The records of the last answer; see `Records.swift`. Copies: they hold for good. */
    #records() {
        const bytes = new Uint8Array(this.#memory.buffer, this.#functions.output(), this.#functions.outputSize()).slice();
        const view = new DataView(bytes.buffer);
        const records = [];
        for (let at = 0; at < bytes.length; at += 8 + 4 * view.getUint32(at + 4, true)) {
            records.push(new RecordReader(view, view.getUint32(at, true), at + 8));
        }
        return records;
    }

    #send(bytes) {
        const address = this.#functions.input(bytes.length);
        new Uint8Array(this.#memory.buffer, address, bytes.length).set(bytes);
        return bytes.length;
    }

    #output() {
        return new DataView(this.#memory.buffer, this.#functions.output(), this.#functions.outputSize());
    }

    #box() {
        const view = this.#output();
        const [x, y, width, height] = [0, 4, 8, 12].map((offset) => view.getInt32(offset, true));
        const pixels = new Uint8ClampedArray(view.buffer, view.byteOffset + 16, 4 * width * height);
        return { x, y, pixels: new ImageData(pixels, width, height) };
    }
}

/** Bytes for the core, in the order of the machine that it is: the least first. */
class InputWriter {
    #bytes = new Uint8Array(4096);
    #view = new DataView(this.#bytes.buffer);
    #size = 0;

    get bytes() {
        return this.#bytes.subarray(0, this.#size);
    }

    byte(number) {
        this.#reserve(1);
        this.#view.setUint8(this.#size++, number);
    }

    word(number) {
        this.#reserve(4);
        this.#view.setUint32(this.#size, number, true);
        this.#size += 4;
    }

    float(number) {
        this.#reserve(8);
        this.#view.setFloat64(this.#size, number, true);
        this.#size += 8;
    }

    text(text) {
        // No character takes more.
        this.#reserve(3 * text.length);
        const { written } = writer.encodeInto(text, this.#bytes.subarray(this.#size));
        this.#size += written;
        return written;
    }

    entry(id, message) {
        this.#reserve(12);
        this.#view.setFloat64(this.#size, id, true);
        const at = this.#size + 8;
        this.#size += 12;
        const size = message ? this.text(JSON.stringify(message)) : 0;
        this.#view.setUint32(at, size, true);
    }

    #reserve(count) {
        if (this.#size + count <= this.#bytes.length) return;
        const bytes = new Uint8Array(2 * (this.#size + count));
        bytes.set(this.bytes);
        [this.#bytes, this.#view] = [bytes, new DataView(bytes.buffer)];
    }
}
