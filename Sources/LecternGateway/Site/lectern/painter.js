/**
 * Paints a page of a board on a canvas, by the core: its pixels are those of the service's pictures.
 *
 * The core draws what has changed in slices of a task, and gives the pixels that are other than before. It has the board itself,
 * or is told of entries, which are kept here for an instance that takes the place of one that failed.
 *
 * @module
 */

import { CoreHost } from "./core.js";

/** Milliseconds of drawing, and of a task in all, before the page may do something else. */
const slice = 8;
const longestTask = 12;
/** The first id of an entry that the room does not have: above all indices. */
const firstLiveID = 2 ** 52;

let lastLiveID = firstLiveID;
/** The ids of entries above the room's. */
const liveIDs = new WeakMap();

function liveID(entry) {
    let id = liveIDs.get(entry);
    if (id === undefined) liveIDs.set(entry, (id = ++lastLiveID));
    return id;
}

const tasks = [];
/** Made when it is needed: an open one keeps Node alive that only imports this. */
let channel = null;

/** Runs a function in a task of its own, at once. */
export function nextTask(body) {
    if (!channel) {
        channel = new MessageChannel();
        channel.port1.onmessage = () => tasks.shift()();
    }
    tasks.push(body);
    channel.port2.postMessage(null);
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
    #canvas;
    #context;
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
        [this.#canvas, this.#images, this.#host] = [canvas, images, host];
        this.#context = canvas.getContext("2d");
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
        this.#schedule();
    }

    /** Adds entries at the places of their indices, and takes others off. */
    change(shown, hidden) {
        for (const { message } of shown) if (message.i) this.#images?.retry(message.i);
        for (const { index } of hidden) {
            this.#entries.delete(index);
            if (!this.#isNew) this.#host.call((core) => core.remove(index));
        }
        for (const entry of shown) {
            this.#entries.set(entry.index, entry);
            if (!this.#isNew) this.#host.call((core) => core.insert({ id: entry.index, message: entry.message }));
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
     * Selects what is inside of a path, as it is seen now.
     *
     * @param {{x: number, y: number}[]} points of the path in board units
     * @returns {((map: number[]) => {canvas: CanvasImageSource, box: object} | null) | null} makes a picture of it where a map
     *   puts it, see affine.js; `box`: the pixels of the board that it is for; null where there is nothing. It is that of the
     *   last selection
     */
    select(points) {
        this.#update();
        if (!this.#host.call((core) => core.select(points))) return null;
        return (map) => this.#host.call((core) => {
            const box = core.selection(map);
            if (!box) return null;
            const { x: left, y: top, pixels } = box;
            const { width, height } = pixels;
            const canvas = new OffscreenCanvas(width, height);
            canvas.getContext("2d").putImageData(pixels, 0, 0);
            return { canvas, box: { left, top, right: left + width, bottom: top + height, width, height } };
        }) ?? null;
    }

    /** The corners of the topmost image at a point of the board, where they are now; null where there is none. */
    imageAt(x, y) {
        this.#update();
        return this.#host.call((core) => core.imageAt(x, y)) ?? null;
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
            if (this.#isNew) {
                core.show([...this.#entries].map(([id, { message }]) => ({ id, message })), this.#options);
                this.#isNew = false;
            }
            if (this.#isLiveNew) {
                this.#isLiveNew = false;
                core.showLive(this.#live.map((entry) => {
                    const known = this.#told.has(entry);
                    return { id: liveID(entry), message: known ? null : entry.message };
                }));
                this.#told = new Set(this.#live);
            }
            if (this.#images) this.#updateImages(core);
        });
    }

    #updateImages(core) {
        for (const { asset, page, width, known } of core.neededImages()) {
            const bitmap = this.#images.picture(asset, page, width);
            if (bitmap && bitmap.width !== known) core.setImage(asset, page, pixelsOf(bitmap));
        }
    }

    #paint() {
        if (!this.#isShown) return;
        this.#isBusy = true;
        const end = performance.now() + longestTask;
        this.#update();
        const isOver = this.#host.call((core) => {
            if (!core.draw(slice)) {
                this.#isTold = true;
                return false;
            }
            this.#resize(core);
            do {
                const box = core.nextBox();
                if (!box) return true;
                this.#context.putImageData(box.pixels, box.x, box.y);
            } while (performance.now() < end);
            return false;
        });
        // It failed: its successor goes on.
        if (isOver === undefined) return;
        if (!isOver) nextTask(() => this.#paint());
        else {
            this.#isBusy = false;
            this.#host.succeeded();
        }
        if (this.#isTold) this.onprogress();
        if (isOver) this.#isTold = false;
    }

    #resize(core) {
        const { width, height } = core;
        if (this.#canvas.width === width && this.#canvas.height === height) return;
        [this.#canvas.width, this.#canvas.height] = [width, height];
        core.presentAll();
    }
}

/** The numbers of an image. */
function pixelsOf(bitmap) {
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, width, height);
}
