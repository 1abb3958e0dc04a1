/**
 * Paints a page of a board on a canvas, by the core: its pixels are those of the service's pictures.
 *
 * What is to be seen is kept here; the core is told of it, draws what has changed in slices of a task, and gives the pixels that
 * are other than before. An instance that fails is replaced by a new one.
 *
 * @module
 */

import { Core } from "./core.js";
import { Backoff } from "./gateway.js";
import { Element } from "./model.js";

/** Milliseconds of drawing, and of a task in all, before the page may do something else. */
const slice = 8;
const longestTask = 12;
/** Instances that failed one after the other without a complete picture until no further one is made. */
const mostFailures = 3;
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

/** Runs a function in a task of its own, at once. */
const nextTask = (() => {
    const waiting = [];
    const channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.shift()();
    return (body) => {
        waiting.push(body);
        channel.port2.postMessage(null);
    };
})();

/** Paints the strokes of one board on one canvas. */
export class Painter {
    /** Called while a picture takes more than one slice, and when that, or one after {@link reset}, is there. */
    onprogress = () => {};
    /** Called when an image has got another picture. */
    onimage = () => {};
    #canvas;
    #context;
    #images;
    #core = null;
    /** The room's entries by their indices, and how they are drawn; null before the first page. */
    #entries = new Map();
    #options = null;
    #live = [];
    /** What the core does not know yet: all, the live entries, or images. */
    #isNew = false;
    #isLiveNew = false;
    #hasImages = false;
    /** The live entries that the core has. */
    #told = new Set();
    /** Whether something is to be drawn or shown, by a task that comes. */
    #isBusy = false;
    /** Whether the picture under way takes more than one slice, or is of another page or size. */
    #isTold = false;
    #failures = 0;

    /**
     * @param {HTMLCanvasElement} canvas what to paint on; its size in pixels is set by {@link reset}
     * @param {ImageStore | null} [images] pictures of assets; without it images are empty frames
     */
    constructor(canvas, images = null) {
        [this.#canvas, this.#images] = [canvas, images];
        this.#context = canvas.getContext("2d");
        if (images) {
            images.onpicture = () => {
                this.onimage();
                this.#schedule();
            };
        }
        this.#load();
    }

    async #load() {
        for (const backoff = new Backoff(); !this.#core; ) {
            try {
                const module = await Core.load();
                this.#core = new Core(module);
            } catch (error) {
                console.error(error);
                // The network comes back; nothing else can be done.
                await new Promise((resolve) => setTimeout(resolve, backoff.next()));
            }
        }
        [this.#isNew, this.#isLiveNew, this.#told] = [this.#options !== null, true, new Set()];
        if (this.#options) this.#paint();
    }

    /** Pixels a board unit. */
    get scale() {
        return this.#core?.scale ?? (this.#options ? this.#options.pixels / this.#options.width : 1);
    }

    /** Whether the page is being painted, and how much of it is there: 0 … 1. */
    get progress() {
        if (!this.#options || (!this.#isBusy && this.#core)) return 1;
        return this.#core && !this.#isNew ? Math.min(this.#core.progress, 0.999) : 0;
    }

    /**
     * Paints the entries of a page of a board of `width` × `height` units, so many pixels wide.
     *
     * The old picture stays until the new one is complete, stretched to its place.
     *
     * @param {Stroke[]} entries
     * @param {{style: string, palette: string[], width: number, height: number, pixels: number}} options
     */
    reset(entries, options) {
        this.#entries = new Map(entries.map((entry) => [entry.index, entry]));
        this.#options = options;
        [this.#isNew, this.#isTold] = [true, true];
        this.#schedule();
    }

    /** Adds entries at the places of their indices, and takes others off. */
    change(shown, hidden) {
        for (const { message } of shown) if (message.i) this.#images?.retry(message.i);
        for (const { index } of hidden) {
            this.#entries.delete(index);
            if (!this.#isNew) this.#tell((core) => core.remove(index));
        }
        for (const entry of shown) {
            this.#entries.set(entry.index, entry);
            this.#hasImages ||= isImage(entry);
            if (!this.#isNew) this.#tell((core) => core.insert({ id: entry.index, message: entry.message }));
        }
        this.#schedule();
    }

    /**
     * Shows strokes, images and lassos above those of the room, which have no index yet.
     *
     * @param {Stroke[]} strokes from the bottom to the top; a stroke that changes is a new object
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
     * @returns {((map: number[]) => {canvas: OffscreenCanvas, box: object} | null) | null} makes a picture of it where a map
     *   puts it, see affine.js; `box`: the pixels of the board that it is for; null where there is nothing. It is that of the
     *   last selection
     */
    select(points) {
        this.#update();
        if (!this.#tell((core) => core.select(points))) return null;
        return (map) => this.#tell((core) => {
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
        return this.#tell((core) => core.imageAt(x, y)) ?? null;
    }

    /** Calls the core. One that fails is replaced. */
    #tell(body) {
        if (!this.#core) return undefined;
        try {
            return body(this.#core);
        } catch (error) {
            this.#replace(error);
            return undefined;
        }
    }

    /** A core that has failed is of no use any more; what is seen is here. */
    #replace(error) {
        console.error(error);
        this.#core = null;
        if (++this.#failures <= mostFailures) this.#load();
    }

    /** Paints when the task that goes on is over: before the next frame. */
    #schedule() {
        if (!this.#options || this.#isBusy) return;
        this.#isBusy = true;
        queueMicrotask(() => this.#paint());
    }

    /** Tells the core what it does not know. */
    #update() {
        this.#tell((core) => {
            if (this.#isNew) {
                const entries = [...this.#entries.values()];
                core.show(entries.map(({ index, message }) => ({ id: index, message })), this.#options);
                this.#hasImages = entries.some(isImage);
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
            if (this.#hasImages || this.#live.some(isImage)) this.#updateImages(core);
        });
    }

    #updateImages(core) {
        for (const { asset, page, width, known } of core.neededImages()) {
            const bitmap = this.#images?.picture(asset, page, width);
            if (bitmap && bitmap.width !== known) core.setImage(asset, page, pixelsOf(bitmap));
        }
    }

    #paint() {
        this.#isBusy = true;
        const end = performance.now() + longestTask;
        this.#update();
        const isOver = this.#tell((core) => {
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
        else [this.#isBusy, this.#failures] = [false, 0];
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

function isImage({ message }) {
    return message.e === Element.image;
}

/** The numbers of an image. */
function pixelsOf(bitmap) {
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, width, height);
}
