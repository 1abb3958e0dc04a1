/**
 * Paints a page of a board on a canvas, by the core: its pixels are those of the service's pictures.
 *
 * The core draws what has changed in slices of a task, and gives the pixels that are other than before. It has the board itself,
 * or is told of entries, which are kept here for an instance that takes the place of one that failed.
 */

import { CoreHost } from "./core.js";
import { nextTask } from "./dom.js";
import { textPicture } from "./images.js";
import { PaintedCanvases } from "./painted-canvases.js";
import { Input } from "./records.js";

/** Milliseconds of drawing, and of a task in all, before the page may do something else. */
const slice = 8;
const longestTask = 12;
/** The first id of an entry that the room does not have: above all indices. */
export const firstLiveID = 2 ** 52;

let lastLiveID = firstLiveID;
/** The ids of entries above the room's. */
const liveIDs = new WeakMap();

function liveID(entry) {
    let id = liveIDs.get(entry);
    if (id === undefined) liveIDs.set(entry, (id = ++lastLiveID));
    return id;
}

/**
 * A stroke, an image or a lasso: an entry of a page.
 *
 * @typedef {object} Entry
 * @property {number} [index] its operation's place in the room; not needed of one that the room does not have
 * @property {object} message the compact message
 */

/** Paints the strokes of one board on one canvas. */
export class Painter {
    /** Called while a picture takes more than one slice, and when that, or one after {@link reset}, is there. */
    onprogress = () => {};
    /** Called when an image has got another picture. */
    onimage = () => {};
    /** Called when the picture of a part is there that was asked for, with its canvas and the part; with null when that of the whole page is. */
    onpart = () => {};
    /** Called with whether the page has the colours of a dark board, when that is other than before. */
    onground = () => {};
    /** Called with the texts of the page, from the bottom to the top, when they are other ones. */
    ontexts = () => {};
    #canvases;
    /** The part that is to be seen, null for the whole page, and whether the core does not know it. */
    #part = null;
    #isPartNew = false;
    /** Whether the ground is to be dark, and whether what was painted last has its colours. */
    #isDark = false;
    #isPaintedDark = false;
    #images;
    #host;
    /** The room's entries by their indices, and how they are drawn; null before the first page. */
    #entries = new Map();
    #options = null;
    #live = [];
    /** Whether there is anything to paint, and what the core does not know yet: all, or the live entries. */
    #isShown = false;
    #isNew = false;
    #isLiveNew = false;
    #texts = "[]";
    /** The live entries that the core has. */
    #told = new Set();
    /** Whether something is to be drawn or shown, by a task that comes. */
    #isBusy = false;
    /** Whether the picture under way takes more than one slice, or is of another page or size. */
    #isTold = false;

    /**
     * @param {HTMLCanvasElement} canvas what to paint on; its size in pixels is set by {@link reset}
     * @param {import("./images.js").ImageStore | null} [images] pictures of assets; without it images are empty frames
     * @param {CoreHost} [host] of the core that has the board; without it {@link reset} and {@link change} say what is seen
     */
    constructor(canvas, images = null, host = new CoreHost()) {
        [this.#images, this.#host] = [images, host];
        this.#canvases = new PaintedCanvases(canvas);
        if (images) {
            images.onpicture = () => {
                this.onimage();
                this.#schedule();
            };
        }
        host.add({ onready: () => this.#begin() });
    }

    #begin() {
        [this.#isNew, this.#isLiveNew, this.#told] = [this.#options !== null, true, new Set()];
        this.#isPartNew = true;
        // A board is there when it has been joined again; the canvas keeps its picture until then.
        [this.#isShown, this.#isBusy] = [this.#isNew, false];
        this.#schedule();
    }

    /** Pixels a board unit. */
    get scale() {
        return this.#host.core?.scale ?? (this.#options ? this.#options.pixels / this.#options.width : 1);
    }

    /** Whether the page is being painted, and how much of it is there: 0 … 1. */
    get progress() {
        const { core } = this.#host;
        if (!this.#isShown || (!this.#isBusy && core)) return 1;
        return core && !this.#isNew ? Math.min(core.progress, 0.999) : 0;
    }

    /**
     * Paints the entries of a page of a board of `width` × `height` units, so many pixels wide.
     *
     * The old picture stays until the new one is complete, stretched to its place.
     *
     * @param {Entry[]} entries
     * @param {{style: string, palette: string[], width: number, height: number, pixels: number}} options
     */
    reset(entries, options) {
        this.#entries = new Map(entries.map((entry) => [entry.index, entry]));
        this.#options = options;
        this.#isNew = true;
        this.show(true);
    }

    /** Paints what the core has. @param {boolean} isOther whether it is another page, or in another size: progress is told */
    show(isOther = false) {
        this.#isShown = true;
        this.#isTold ||= isOther;
        if (isOther) this.#canvases.isWholeStale = true;
        this.#schedule();
    }

    /** Adds entries at the places of their indices, and takes others off. */
    change(shown, hidden) {
        for (const { message } of shown) if (message.i) this.#images?.retry(message.i);
        for (const { index } of hidden) {
            this.#entries.delete(index);
            if (!this.#isNew) this.#host.call((core) => core.call("remove", index));
        }
        for (const entry of shown) {
            this.#entries.set(entry.index, entry);
            if (this.#isNew) continue;
            const message = new Input().raw(JSON.stringify(entry.message));
            this.#host.call((core) => core.call("insert", entry.index, message));
        }
        this.#schedule();
    }

    /**
     * Shows strokes, images and lassos above those of the room, which have no index yet.
     *
     * @param {Entry[]} strokes from the bottom to the top; a stroke that changes is a new object
     */
    showLive(strokes) {
        if (strokes.length === 0 && this.#live.length === 0) return;
        this.#live = strokes;
        this.#isLiveNew = true;
        this.#schedule();
    }

    /**
     * Paints a part of the page on a canvas of its own, which {@link onpart} is told of; null for all of it on the canvas of the page.
     *
     * While there is a part, the canvas of the page has what was painted of it last, less sharp where that was a part.
     *
     * @param {{x: number, y: number, width: number, height: number, scale: number, page: number} | null} part at `scale` pixels
     *   a board unit: whole pixels from the page's upper left corner, the size of the canvas, and the width of the whole page
     */
    look(part) {
        this.#part = part;
        this.#isPartNew = true;
        this.#schedule();
    }

    /** Whether the ground is to be dark, and colours are to be seen on it: a page that images cover stays as it is. */
    get isDark() { return this.#isDark; }
    set isDark(isDark) {
        if (isDark === this.#isDark) return;
        [this.#isDark, this.#isPartNew] = [isDark, true];
        this.#schedule();
    }

    // What is where, as it is seen now. Places and lengths are board units.

    /**
     * Selects what is inside of a path.
     *
     * @param {{x: number, y: number}[]} points of the path
     * @returns {((map: number[]) => {canvas: HTMLCanvasElement, box: object} | null) | null} makes a picture of it where a map
     *   puts it, `[a, b, c, d, e, f]`, until the next selection; `box`: the pixels of the whole page that it is for, {@link scale} a board
     *   unit. Null where there is nothing
     */
    select(points) {
        if (!this.#tool((count) => count === 1, "select", new Input().places(points))) return null;
        return (map) => this.#host.call((core) => {
            const box = core.box("selection", ...map);
            if (!box) return null;
            const { x: left, y: top, pixels } = box;
            const { width, height } = pixels;
            const canvas = Object.assign(document.createElement("canvas"), { width, height });
            canvas.getContext("2d").putImageData(pixels, 0, 0);
            return { canvas, box: { left, top, right: left + width, bottom: top + height, width, height } };
        }) ?? null;
    }

    /**
     * The strokes and texts inside of the path that was selected last: `{entries, left}`, from the bottom to the top each entry
     * `{id, message}`, with what draws it where it is seen; `left`: how many more cannot be drawn anew.
     */
    selectedInk() {
        return this.#tool((count, found) => {
            const left = found.word();
            const entryOf = () => ({ id: found.number(), message: JSON.parse(found.text()) });
            return { entries: found.times(count, entryOf), left };
        }, "find", 2, 0, 0) ?? { entries: [], left: 0 };
    }

    /**
     * Hides the strokes that an eraser of whole strokes touches.
     *
     * @param {{x: number, y: number}[]} path of the eraser
     * @param {number} radius of the eraser
     * @returns {number[]} their indices; they are seen again when {@link putBack} is called, unless the room has removed them
     */
    lift(path, radius) {
        const indices = this.#tool(numbersOf, "lift", radius, new Input().places(path)) ?? [];
        if (indices.length > 0) this.#schedule();
        return indices;
    }

    /** Those of some entries of the page, by their indices, that an author has drawn. */
    own(indices, author) {
        return this.#tool(numbersOf, "lift", -3, new Input().data(author).numbers(indices)) ?? [];
    }

    /** Hides entries of the room by their indices, until {@link putBack}. */
    hide(indices) {
        this.#tool(() => {}, "lift", -1, new Input().numbers(indices));
        this.#schedule();
    }

    /** Shows strokes again that were hidden, unless the room has removed them. */
    putBack(indices) {
        this.#tool(() => {}, "lift", -2, new Input().numbers(indices));
        this.#schedule();
    }

    /**
     * The topmost image at a point: `{id, corners, isWhole, asset, page}`, `isWhole`: nothing of it is cut away, and it is upright; null
     * where there is none.
     */
    pictureAt(x, y) {
        return this.#tool((count, found) => (count === 0 ? null : {
            corners: found.times(4, () => ({ x: found.number(), y: found.number() })),
            id: found.number(), isWhole: found.word() === 1, asset: found.text(), page: found.word(),
        }), "find", 0, x, y) ?? null;
    }

    /**
     * The topmost text at a point: `{id, x, y, width, height, lineHeight, colour, text}`; `id` is the index of its operation, or a number
     * from 2^52 on where the room has not told it yet; null where there is none.
     */
    textAt(x, y) {
        return this.#tool((count, found) => (count === 0 ? null : {
            id: found.number(), x: found.number(), y: found.number(), width: found.number(), height: found.number(),
            lineHeight: found.number(), colour: found.word(), text: found.text(),
        }), "find", 1, x, y) ?? null;
    }

    /** Whether a text reads from right to left; undefined where the page's core has no tools. */
    isRightToLeft(text) {
        return this.#host.call((core) => (core.hasTools ? core.call("isRightToLeft", new Input().raw(text)) === 1 : undefined));
    }

    /**
     * The topmost stroke or text of the room that is as near to a point as `radius`.
     *
     * @returns {{index: number, time: number} | null} the index of its operation, and the media time in milliseconds at which it was
     *   drawn, NaN where that is not known; null where there is none
     */
    strokeAt(x, y, radius) {
        return this.#ask((core) => {
            if (core.call("strokeAt", x, y, radius) !== 1) return null;
            const found = core.answer;
            return { index: found.number(), time: found.number() };
        }) ?? null;
    }

    /** What `read` makes of what a teacher's tool returns and answers; undefined where the page's core has no tools. */
    #tool(read, name, ...values) {
        return this.#ask((core) => (core.hasTools ? read(core.call(name, ...values), core.answer) : undefined));
    }

    /** Asks the core when it knows all that is seen; undefined where there is none. */
    #ask(body) {
        this.#update();
        return this.#host.call(body);
    }

    /** Paints when the task that goes on is over: before the next frame. */
    #schedule() {
        if (!this.#isShown || this.#isBusy) return;
        this.#isBusy = true;
        queueMicrotask(() => this.#paint());
    }

    /** Tells the core what it does not know. */
    #update() {
        this.#host.call((core) => {
            const entries = (input, list) => list.reduce((input, { id, message }) => input.entry(id, message), input);
            if (this.#isNew) {
                const { style, palette, width, height, pixels } = this.#options;
                const colours = palette.map((colour) => Number.parseInt(colour.slice(1), 16));
                const page = [...this.#entries].map(([id, { message }]) => ({ id, message }));
                const input = new Input().byte(style.length).raw(style).list(colours);
                core.call("show", width, height, pixels, entries(input, page));
                this.#isNew = false;
            }
            if (this.#isPartNew) {
                this.#isPartNew = false;
                this.#canvases.begin(this.#part);
                const { x, y, width, height, scale } = this.#part ?? { x: 0, y: 0, width: 0, height: 0, scale: 1 };
                core.call("view", x, y, width, height, scale, this.#isDark ? 1 : 0);
            }
            if (this.#isLiveNew) {
                this.#isLiveNew = false;
                // Those that the core has go without their messages.
                const live = this.#live.map((entry) =>
                    ({ id: liveID(entry), message: this.#told.has(entry) ? null : entry.message }));
                core.call("showLive", entries(new Input(), live));
                this.#told = new Set(this.#live);
            }
            this.#updateImages(core);
        });
    }

    #updateImages(core) {
        const texts = [];
        this.#images?.startPass();
        for (const image of core.neededImages()) {
            if (image.text !== undefined) {
                texts.push(image.text);
                const { width, height, known, number } = image;
                if (width !== known) this.#give(core, -1 - number, textPicture(image, width, height));
                continue;
            }
            const { asset, page, width, known } = image;
            const bitmap = this.#images?.picture(asset, page, width);
            if (bitmap && bitmap.width !== known) this.#give(core, page, pixelsOf(bitmap), asset);
        }
        const told = JSON.stringify(texts);
        if (told === this.#texts) return;
        this.#texts = told;
        this.ontexts(texts);
    }

    /** Gives the core the pixels of a page of an asset, or of a text: see `setImage` in WebCore.swift. */
    #give(core, page, { width, height, data }, asset = "") {
        core.call("setImage", page, width, height, new Input().raw(asset).raw(data));
    }

    #paint() {
        if (!this.#isShown) return;
        this.#isBusy = true;
        const end = performance.now() + longestTask;
        this.#update();
        const isOver = this.#host.call((core) => {
            if (core.call("draw", slice) !== 1) {
                this.#isTold = true;
                return false;
            }
            // It is blank.
            if (this.#canvases.fit(core)) core.call("presentAll");
            do {
                const box = core.box("nextBox");
                if (!box) return true;
                this.#canvases.put(box);
            } while (performance.now() < end);
            return false;
        });
        // It failed: its successor goes on.
        if (isOver === undefined) return;
        if (!isOver) nextTask(() => this.#paint());
        else {
            this.#isBusy = false;
            this.#host.succeeded();
            const isDark = this.#host.call((core) => core.isDark) ?? false;
            if (isDark !== this.#isPaintedDark) this.onground((this.#isPaintedDark = isDark));
            const shown = this.#canvases.present();
            if (shown) this.onpart(shown.canvas, shown.part);
        }
        if (this.#isTold) this.onprogress();
        if (isOver) this.#isTold = false;
    }
}

const numbersOf = (count, found) => found.times(count, () => found.number());

function pixelsOf(bitmap) {
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, width, height);
}
