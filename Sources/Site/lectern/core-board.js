/** What a board in class and a recorded lesson share: the core draws them on a canvas, by a player's clock. */

import { t } from "./language.js";
import { CoreHost, VersionError } from "./core.js";
import { onPixelRatio } from "./dom.js";
import { Gateway, now } from "./gateway.js";
import { ImageStore } from "./images.js";
import { Painter } from "./painter.js";
import { Kind, pagesOf, pointersOf } from "./records.js";
import { cleanName } from "./words.js";

/** Authors whose names are remembered. */
const mostNames = 1000;

/** The media time that a clock tells, in milliseconds; NaN where there is none, or it fails. */
export function timeOf(clock) {
    try {
        return clock ? Number(clock()) : NaN;
    } catch {
        return NaN;
    }
}

/**
 * A board on a canvas; `Board` or `Replay`. Members whose names begin with an underscore are for these two.
 */
export class CoreBoard extends EventTarget {
    /** @protected */
    _canvas;
    /** @protected */
    _options;
    /** @protected */
    _host = new CoreHost();
    /** @protected */
    _painter;
    /** @protected */
    _images;
    /** What the core said last, and what it says now and then. @protected */
    _state;
    /** @protected */
    _visits = [];
    #closing = new AbortController();
    /** Names by their authors, as operations tell them. */
    #names = new Map();
    #pointers;
    #seen = [];
    #pages = { shown: 0, order: [0], hidden: [], papers: {} };
    #pagesTold = "";
    #clock;
    /** Tells its observations from those of others. */
    #reader = `r${Math.random().toString(36).slice(2)}`;

    /** The arguments of the two, and the state of a board of which nothing is known. */
    constructor(canvas, { gateway, url, token, ...options }, unknown) {
        super();
        this.gateway = gateway ?? new Gateway({ url, token });
        this._options = options;
        this._state = unknown;
        this.#clock = options.clock;
        const { signal } = this.#closing;
        if (this.#clock && typeof this.#clock !== "function") {
            // It tells of pictures, and is looked at with each.
            const player = this.#clock;
            this.#clock = () => player.time;
            player.addEventListener("change", () => this.look(), { signal });
        }
        this._images = new ImageStore(this.gateway, options.room, () => this._options.cohort);
        this._host.add({ onready: () => this._isClosed || this._begin(), onfailure: (error, wait) => this._failed(error, wait) });
        this._painter = new Painter(canvas, this._images, this._host);
        this.#pointers = new PointerLayer(canvas);
        this._painter.onimage = () => this._tell("image", {});
        this._painter.ontexts = (texts) => this._tell("texts", { texts });
        this._painter.onground = (isDark) => this._tell("ground", { isDark });
        this._painter.onprogress = () => this._tell("progress", { part: this._painter.progress });
        this._canvas = new BoardCanvas(canvas, (size) => this._tell("size", size), () => this._resize(), signal);
        this._canvas.shape(this.size);
    }

    /** The room's name. */
    get room() { return this._options.room; }
    /** The index of the last operation shown. */
    get index() { return this._state.index; }
    /** The digest of what is shown, 16 hexadecimal digits. */
    get digest() { return this._state.digest; }
    /** The board's size in its own units. */
    get size() { return { width: this._state.width, height: this._state.height }; }
    /**
     * Which pages there are: `{shown, order, hidden, papers}`; `papers` has `lines`, `squares`, `dots`, `staves` or `slide` for each
     * page that has one.
     */
    get pages() {
        const { shown, order, hidden, papers } = this.#pages;
        return { shown, order: [...order], hidden: [...hidden], papers: { ...papers } };
    }
    /**
     * When pages came to be shown: `{index, time, page}` each, in the order of the log; media times in milliseconds, NaN where they are
     * not known. Of a board in class: the first stroke of each page, or the turn that it has seen, as far as it knows. Of a lesson: the
     * operations after which they are shown, as far as it was fetched.
     */
    get visits() { return this._visits.map((visit) => ({ ...visit })); }
    /** How many strokes are on the page that is drawn. */
    get strokes() { return this._state.strokes; }
    /** What an author is called, as far as this board knows. */
    nameOf(author) { return this.#names.get(author) ?? author; }
    /**
     * Whether the board is to be seen on a dark ground: black and grey ink is light then, and other dark colours are lighter. A view of
     * this page alone. Pages that a slide or images cover keep their colours; the event `ground` says when to change what is below.
     */
    get isDark() { return this._painter.isDark; }
    set isDark(isDark) { this._painter.isDark = isDark; }
    /** Draws the board; for strokes that the room does not have yet. */
    get painter() { return this._painter; }

    /** Draws the pointers where the canvas is now: call it where that was moved or scaled by style. */
    showPointers() {
        this.#pointers.show(this.#seen, this.size);
    }

    /** The player's media time in milliseconds, NaN while unknown. @protected */
    get _time() {
        return timeOf(this.#clock);
    }

    /** @protected */
    get _isClosed() { return this.#closing.signal.aborted; }

    /** @protected */
    _close() {
        // The canvas may be another board's from now on, and keeps its shape and its picture.
        this.#closing.abort();
        this._host.close();
        this._images.close();
        this.#pointers.close();
    }

    /** The instance is gone, and what it had: another one begins anew, after so many milliseconds. @protected */
    _failed(error, wait) {
        this.#seen = [];
        this.#pointers.close();
        this._state = { ...this._state, flags: 0 };
        const reason = error instanceof VersionError ? error.message : t("The core has failed: {reason}", { reason: error.message });
        this._tell("divergence", { message: reason });
        if (wait > 0) this._tell("connection", { state: "waiting", code: "core-failed", reason, retryAt: now() + wait });
        this.reportFailure(error);
    }

    /** Tells the server that an instance of the core has failed: the board's, or its teacher's. */
    reportFailure({ message }) {
        this._report({ index: this.index, fault: String(message).slice(0, 200) });
    }

    /** @protected */
    _call(body) {
        const records = this._isClosed ? undefined : this._host.call(body);
        if (records) this._take(records);
    }

    /** Draws as many pixels as the canvas has now. @protected */
    _resize() {
        const { pixels } = this._canvas;
        if (pixels > 0) this._call((core) => core.ask(this._resizing, pixels));
    }

    /** Notes the name in a record; the last one counts. Returns its author. @protected */
    _noteName(record) {
        const [author, name] = [record.text(), cleanName(record.text())];
        if (name !== "" && this.#names.get(author) !== name) this.#names.set(author, name);
        if (this.#names.size > mostNames) this.#names.delete(this.#names.keys().next().value);
        return author;
    }

    /** Does what a record of the core says, where both boards do the same. @protected */
    _perform(record) {
        switch (record.kind) {
            case Kind.pages: {
                this.#pages = pagesOf(record);
                const told = JSON.stringify(this.#pages);
                if (told === this.#pagesTold) break;
                this.#pagesTold = told;
                this._tell("pages", this.pages);
                break;
            }
            case Kind.wet: {
                const [n, points, author] = [record.number(), record.word(), record.text()];
                this._tell("wet", { author, n, points });
                break;
            }
            case Kind.pointers:
                this.#seen = pointersOf(record);
                this.showPointers();
                this._tell("pointers", { pointers: this.#seen });
                break;
            case Kind.painted: this._tell("painted", {}); break;
            case Kind.image: this._images.retry(record.text()); break;
        }
    }

    /** @protected */
    _report(observation) {
        this.gateway.observe(this.room, { cohort: this._options.cohort, reader: this.#reader }, observation);
    }

    /** @protected */
    _tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}

/** Keeps a canvas in the shape of a board, and knows how many pixels of the screen it is wide. */
class BoardCanvas {
    /** How many pixels of the screen the canvas is wide; 0 while it is not shown. */
    pixels = 0;
    #canvas;
    #onshape;

    /** The width of the canvas is a style sheet's. `onshape` is told of a size with another shape, `onresize` of other {@link pixels}. */
    constructor(canvas, onshape, onresize, signal) {
        [this.#canvas, this.#onshape] = [canvas, onshape];
        const observer = new ResizeObserver(([entry]) => {
            const box = entry.devicePixelContentBoxSize?.[0];
            const pixels = box ? box.inlineSize : entry.contentRect.width * (globalThis.devicePixelRatio ?? 1);
            if (Math.round(pixels) === this.pixels || pixels < 1) return;
            this.pixels = Math.round(pixels);
            onresize();
        });
        observer.observe(canvas);
        onPixelRatio(() => {
            // It tells the size again.
            observer.unobserve(canvas);
            observer.observe(canvas);
        }, signal);
        signal.addEventListener("abort", () => observer.disconnect());
    }

    shape({ width, height }) {
        const shape = `${width} / ${height}`;
        if (this.#canvas.style.aspectRatio === shape) return;
        this.#canvas.style.aspectRatio = shape;
        this.#onshape({ width, height });
    }
}

/** Radius of a tip in line widths, and in CSS pixels at least. */
const tipSize = 1.5;
const leastTip = 5;
/** Opacity of a trail at its tip. */
const trailOpacity = 0.55;

/**
 * Draws the pointers above a board, tips and the trails behind them, on a canvas of its own, which is in the page while a pointer is
 * seen: no pixel of the board is drawn for them.
 */
class PointerLayer {
    #board;
    #canvas = null;

    constructor(board) {
        this.#board = board;
    }

    /** Draws what is seen now, and nothing else. `size`: the board's, in its units. */
    show(pointers, size) {
        if (pointers.length === 0) return this.close();
        const context = this.#prepare();
        if (!context) return;
        const { left, top, width: across, height: down } = this.#place(size);
        for (const { colour, width, trail, tip } of pointers) {
            const radius = Math.max(width * across * tipSize, leastTip);
            [context.strokeStyle, context.fillStyle] = [colour, colour];
            let last = null;
            for (const [x, y, opacity] of tip[2] > 0 ? [...trail, tip] : trail) {
                const point = [left + x * across, top + y * down];
                if (last) {
                    context.lineWidth = 2 * radius * Math.max(opacity, 0.15);
                    context.beginPath();
                    context.moveTo(...last);
                    context.lineTo(...point);
                    // In place of what is there: where two parts meet it is no darker.
                    [context.globalCompositeOperation, context.globalAlpha] = ["destination-out", 1];
                    context.stroke();
                    [context.globalCompositeOperation, context.globalAlpha] = ["source-over", opacity * trailOpacity];
                    context.stroke();
                }
                last = point;
            }
            if (tip[2] <= 0) continue;
            context.globalAlpha = tip[2];
            context.beginPath();
            context.arc(left + tip[0] * across, top + tip[1] * down, radius, 0, 2 * Math.PI);
            context.fill();
            // So that it is seen on ink of its own colour.
            context.strokeStyle = "#fff";
            context.lineWidth = 1.5;
            context.stroke();
        }
        context.globalAlpha = 1;
    }

    close() {
        this.#canvas?.remove();
        this.#canvas = null;
    }

    /** Where the board is on the layer: its upper left corner, and CSS pixels a board unit. */
    #place(size) {
        const { clientWidth, clientHeight, style } = this.#board;
        if (!style.transform) return { left: 0, top: 0, width: clientWidth / size.width, height: clientHeight / size.height };
        const board = this.#board.getBoundingClientRect();
        const layer = this.#canvas.getBoundingClientRect();
        return { left: board.left - layer.left, top: board.top - layer.top, width: board.width / size.width, height: board.height / size.height };
    }

    /** A blank canvas above the part of the board that the window shows; null where that is not seen. */
    #prepare() {
        const { offsetLeft, offsetTop, clientLeft, clientTop, clientWidth, clientHeight, parentNode } = this.#board;
        if (!parentNode || clientWidth === 0) return null;
        this.#canvas ??= document.createElement("canvas");
        const canvas = this.#canvas;
        canvas.className = "lectern-pointers";
        canvas.setAttribute("aria-hidden", "true");
        let box = { left: 0, top: 0, width: clientWidth, height: clientHeight };
        if (this.#board.style.transform) {
            // Larger than its place, and maybe than any canvas.
            const { left, top, right, bottom } = this.#board.getBoundingClientRect();
            const { m41, m42 } = new DOMMatrix(this.#board.style.transform);
            const home = { left: left - m41, top: top - m42 };
            const seen = { left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight) };
            if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) return null;
            box = { left: seen.left - home.left, top: seen.top - home.top, width: seen.right - seen.left, height: seen.bottom - seen.top };
        }
        // A page's style sheets are about other canvases.
        canvas.style.cssText = `all: initial; position: absolute; pointer-events: none; left: ${offsetLeft + clientLeft + box.left}px;
            top: ${offsetTop + clientTop + box.top}px; width: ${box.width}px; height: ${box.height}px;`;
        // Above a part of the board that is seen more sharply.
        const next = this.#board.nextElementSibling;
        const below = next?.className === "lectern-part" ? next : this.#board;
        if (below.nextSibling !== canvas) below.after(canvas);
        const ratio = globalThis.devicePixelRatio ?? 1;
        [canvas.width, canvas.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
        const context = canvas.getContext("2d");
        context.scale(ratio, ratio);
        [context.lineCap, context.lineJoin] = ["round", "round"];
        return context;
    }
}
