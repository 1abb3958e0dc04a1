/**
 * Paints strokes on a canvas, as few of them as possible.
 *
 * Pictures: `base` has the older strokes, and the visible canvas all. A new stroke is drawn on top; when one goes, only the
 * pixels that it touched are painted again, from the base on. Where there are live strokes, one being drawn and those not
 * yet acknowledged, `board` has all but these. A browser copies a whole canvas that is drawn on after it was drawn from, so
 * the canvases that are drawn on often are not drawn from.
 *
 * @module
 */

import { CentreLine } from "./centreline.js";
import { Coverage, PixelBox } from "./coverage.js";
import { Element } from "./curves.js";

/** Strokes above the base. */
const mostNewest = 48;
/** Pictures that are kept of boards painted before, pixels of all of them, and strokes on one that is worth it. */
const mostKept = 6;
const mostKeptPixels = 16 << 20;
const leastOnKept = 16;
/** Rows of pixels that are composited at a time. */
const stripHeight = 64;
/** The largest side of a canvas in pixels. */
const largestSide = 4096;
/** Milliseconds of painting before the page may do something else. */
const slice = 10;

/** Draws single strokes on 2-D contexts. One is enough for a page: it keeps its memory. */
class StrokeBrush {
    #line = new CentreLine();
    #coverage = new Coverage();
    #scratch = null;
    #strip = new Uint32Array(0);

    /** The pixels that a stroke may touch. */
    box(stroke, { style, scale, unit }) {
        this.#line.trace(stroke, style, scale, unit);
        return Coverage.boxOf(this.#line);
    }

    /** Draws a stroke on the pixels of `clip` of some canvases. */
    draw(contexts, stroke, { style, scale, unit }, clip) {
        this.#line.trace(stroke, style, scale, unit);
        this.#coverage.cover(this.#line, clip, {
            tip: style.startsWith("stamp") && stroke.element === Element.freehand ? style.slice(6) || "round" : null, scale,
        });
        if (this.#coverage.box.isEmpty) return;
        const operation = stroke.element === Element.eraser ? "destination-out" : "source-over";
        const colour = pixelOf(stroke.colour);
        for (const context of contexts) context.globalCompositeOperation = operation;
        for (let row = 0; row < this.#coverage.box.height; row += stripHeight) this.#composite(contexts, row, colour);
        for (const context of contexts) context.globalCompositeOperation = "source-over";
    }

    #composite(contexts, top, colour) {
        const { box, bytes, firsts, ends } = this.#coverage;
        const bottom = Math.min(top + stripHeight, box.height);
        let [first, past] = [box.width, 0];
        for (let row = top; row < bottom; row++) {
            if (firsts[row] < first) first = firsts[row];
            if (ends[row] > past) past = ends[row];
        }
        if (first >= past) return;
        const [width, height] = [past - first, bottom - top];
        if (this.#strip.length < width * height) this.#strip = new Uint32Array(width * height);
        const pixels = this.#strip.subarray(0, width * height);
        for (let row = 0, to = 0; row < height; row++) {
            let from = (top + row) * box.width + first;
            for (const end = from + width; from < end; ) pixels[to++] = colour | (bytes[from++] << 24);
        }
        const scratch = this.#scratchOf(width);
        scratch.putImageData(
            new ImageData(new Uint8ClampedArray(pixels.buffer, 0, width * height * 4), width, height), 0, 0);
        for (const context of contexts) {
            context.drawImage(scratch.canvas, 0, 0, width, height, box.left + first, box.top + top, width, height);
        }
    }

    #scratchOf(width) {
        if (!this.#scratch || this.#scratch.canvas.width < width) {
            const canvas = makeCanvas(Math.max(width, 256), stripHeight);
            this.#scratch = canvas.getContext("2d", { willReadFrequently: true });
        }
        return this.#scratch;
    }
}

/** The blue, green and red bytes of a pixel, as a little-endian number. */
function pixelOf(colour) {
    const number = Number.parseInt(colour.slice(1), 16);
    return ((number & 0xff) << 16) | (number & 0xff00) | (number >> 16);
}

function makeCanvas(width, height) {
    if (typeof OffscreenCanvas !== "undefined") return new OffscreenCanvas(width, height);
    return Object.assign(document.createElement("canvas"), { width, height });
}

/** Paints the strokes of one board on one canvas. */
export class Painter {
    #canvas;
    #context;
    #brush = new StrokeBrush();
    /** All strokes but the live ones; null unless there have been any. */
    #board = null;
    #base = null;
    /** The ink style, pixels a board unit, and a 1024th of the board's longer side in board units. */
    #ink = { style: "smooth", scale: 1, unit: 1 };
    #bounds = new PixelBox(0, 0, 0, 0);
    /** The room's strokes from the bottom to the top; the first `#settled` of them are in the base. */
    #strokes = [];
    #settled = 0;
    #live = [];
    #boxes = new WeakMap();
    #job = null;
    /** Pictures of other boards, the last one painted last: a page that is turned back to is there at once. */
    #kept = [];

    /** Called when a picture that took more than one slice is begun, and when it is there. */
    onprogress = () => {};

    /** @param {HTMLCanvasElement} canvas what to paint on; its size in pixels is set by {@link resize} */
    constructor(canvas) {
        this.#canvas = canvas;
        this.#context = canvas.getContext("2d");
    }

    /** Pixels a board unit. */
    get scale() {
        return this.#ink.scale;
    }

    /** How strokes become pixels: the style, pixels a board unit, and a 1024th of the board's longer side in board units. */
    get ink() {
        return this.#ink;
    }

    /** Whether a whole board is being painted, and how much of it is there: 0 … 1. */
    get progress() {
        if (!this.#job) return 1;
        return this.#job.isStale ? 0 : this.#job.position / (this.#strokes.length + 1);
    }

    /**
     * Paints the strokes of a board of `width` × `height` units, so many pixels wide.
     *
     * The old picture stays until the new one is complete, stretched to its place.
     */
    reset(strokes, { style, width, height, pixels }) {
        const scale = Math.min(pixels, largestSide, (largestSide * width) / height) / width;
        const ink = { style, scale, unit: Math.max(width, height) / 1024 };
        const [columns, rows] = [width, height].map((side) => Math.max(Math.round(side * scale), 1));
        const isSameInk = Object.keys(ink).every((key) => ink[key] === this.#ink[key]);
        if (!isSameInk) this.#boxes = new WeakMap();
        if (isSameInk && columns === this.#bounds.width && rows === this.#bounds.height) this.#keep();
        else this.#kept = [];
        this.#ink = ink;
        this.#strokes = [...strokes];
        this.#paintAll(columns, rows);
    }

    /** Keeps the picture of the board before another one is painted. */
    #keep() {
        if (this.#job || this.#strokes.length < leastOnKept) return;
        const picture = makeCanvas(this.#bounds.width, this.#bounds.height).getContext("2d");
        copy(this.#board?.canvas ?? this.#canvas, picture, this.#bounds);
        // One of the same page is older.
        this.#kept = this.#kept.filter(({ strokes }) => strokes[0] !== this.#strokes[0]);
        this.#kept.push({ strokes: this.#strokes, picture });
        const most = Math.min(mostKept, Math.floor(mostKeptPixels / (this.#bounds.width * this.#bounds.height)));
        this.#kept.splice(0, this.#kept.length - most);
    }

    /** A kept picture of the lowest strokes, if there is one. */
    #keptPicture() {
        return this.#kept.find(({ strokes }) => strokes.every((stroke, place) => stroke === this.#strokes[place]));
    }

    /** Adds strokes at the places of their indices, and takes others off. */
    change(shown, hidden) {
        if (hidden.length > 0 && hidden.length === this.#strokes.length) {
            this.#strokes = [...shown];
            return this.#paintAll(this.#bounds.width, this.#bounds.height);
        }
        for (const stroke of hidden) this.#remove(stroke);
        for (const stroke of shown) this.#insert(stroke);
    }

    /**
     * Shows strokes above those of the room, which have no index yet.
     *
     * @param {Stroke[]} strokes from the bottom to the top; a stroke that changes is a new object
     * @param {PixelBox} [changed] what to paint again; all that changed unless it is known better
     */
    showLive(strokes, changed) {
        if (!changed) {
            changed = new PixelBox(0, 0, 0, 0);
            for (const stroke of this.#live) if (!strokes.includes(stroke)) changed = changed.union(this.#box(stroke));
            for (const stroke of strokes) if (!this.#live.includes(stroke)) changed = changed.union(this.#box(stroke));
        }
        if (!this.#board && !this.#job && strokes.length > 0) {
            // Nothing live is on the canvas yet.
            this.#board = makeCanvas(this.#bounds.width, this.#bounds.height).getContext("2d");
            copy(this.#canvas, this.#board, this.#bounds);
        }
        this.#live = strokes;
        this.#present(changed);
    }

    #box(stroke) {
        let box = this.#boxes.get(stroke);
        if (!box) this.#boxes.set(stroke, (box = this.#brush.box(stroke, this.#ink)));
        return box;
    }

    #draw(contexts, stroke, clip) {
        const box = this.#box(stroke).intersection(clip);
        if (!box.isEmpty) this.#brush.draw(contexts, stroke, this.#ink, box);
    }

    /** Where the room's strokes are drawn. */
    get #targets() {
        if (!this.#board) return [this.#context];
        return this.#live.length > 0 ? [this.#board] : [this.#board, this.#context];
    }

    #insert(stroke) {
        let place = this.#strokes.length;
        while (place > 0 && this.#strokes[place - 1].index > stroke.index) place--;
        const isOnTop = place === this.#strokes.length;
        this.#strokes.splice(place, 0, stroke);
        if (this.#job) return this.#job.insert(place);
        if (place < this.#settled) {
            this.#settled++;
            this.#repaintBase(this.#box(stroke));
        } else if (isOnTop) {
            this.#draw(this.#targets, stroke, this.#bounds);
            if (this.#live.length > 0) this.#present(this.#box(stroke));
            return this.#settle();
        }
        this.#repaint(this.#box(stroke));
    }

    #remove(stroke) {
        const place = this.#strokes.findLastIndex(({ index }) => index === stroke.index);
        if (place < 0) return;
        this.#strokes.splice(place, 1);
        if (this.#job) return this.#job.remove(place);
        if (place < this.#settled) {
            this.#settled--;
            this.#repaintBase(this.#box(stroke));
        }
        this.#repaint(this.#box(stroke));
    }

    /** Moves the older half of the newest strokes into the base. */
    #settle() {
        if (this.#strokes.length - this.#settled <= mostNewest) return;
        const end = this.#settled + mostNewest / 2;
        for (; this.#settled < end; this.#settled++) this.#draw([this.#base], this.#strokes[this.#settled], this.#bounds);
    }

    #repaintBase(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty) return;
        this.#base.clearRect(clip.left, clip.top, clip.width, clip.height);
        for (let i = 0; i < this.#settled; i++) this.#draw([this.#base], this.#strokes[i], clip);
    }

    #repaint(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty) return;
        const targets = this.#targets;
        for (const context of targets) copy(this.#base.canvas, context, clip);
        for (let i = this.#settled; i < this.#strokes.length; i++) this.#draw(targets, this.#strokes[i], clip);
        if (this.#live.length > 0) this.#present(clip);
    }

    #present(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty || !this.#board || this.#job) return;
        copy(this.#board.canvas, this.#context, clip);
        for (const stroke of this.#live) this.#draw([this.#context], stroke, clip);
    }

    /** Paints everything on new canvases, a slice at a time. */
    #paintAll(width, height) {
        this.#job?.cancel();
        const job = (this.#job = new PaintJob());
        let [base, board] = [null, null];
        const bounds = new PixelBox(0, 0, width, height);
        const start = () => {
            base = makeCanvas(width, height).getContext("2d");
            board = makeCanvas(width, height).getContext("2d");
            const kept = this.#keptPicture();
            if (kept) copy(kept.picture.canvas, base, bounds);
            job.settled = kept ? kept.strokes.length : Math.max(this.#strokes.length - mostNewest / 2, 0);
            job.position = kept ? job.settled : 0;
            job.isStale = false;
        };
        start();
        let isSlow = false;
        const go = () => {
            if (job.isCancelled) return;
            if (job.isStale) start();
            const end = performance.now() + slice;
            while (job.position < this.#strokes.length) {
                if (job.position === job.settled) copy(base.canvas, board, bounds);
                const context = job.position < job.settled ? base : board;
                this.#draw([context], this.#strokes[job.position++], bounds);
                if (performance.now() > end && job.position < this.#strokes.length) {
                    isSlow = true;
                    this.onprogress();
                    return void setTimeout(go, 0);
                }
            }
            // All above the base were taken off meanwhile.
            if (job.position === job.settled) copy(base.canvas, board, bounds);
            [this.#base, this.#bounds, this.#settled] = [base, bounds, job.settled];
            this.#job = null;
            if (this.#canvas.width !== width) this.#canvas.width = width;
            if (this.#canvas.height !== height) this.#canvas.height = height;
            copy(board.canvas, this.#context, bounds);
            const isNeeded = this.#board || this.#live.length > 0;
            this.#board = isNeeded ? board : null;
            if (this.#live.length > 0) this.#present(bounds);
            this.#settle();
            if (isSlow) this.onprogress();
        };
        go();
    }
}

/** A whole picture under way. */
class PaintJob {
    /** Strokes drawn so far, and how many of all belong to the base. */
    position = 0;
    settled = 0;
    isStale = false;
    isCancelled = false;

    insert(place) {
        if (place < this.position) this.isStale = true;
    }

    remove(place) {
        if (place < Math.max(this.position, this.settled)) this.isStale = true;
    }

    cancel() {
        this.isCancelled = true;
    }
}

/** Replaces the pixels of a box by those of another canvas. */
function copy(canvas, context, box) {
    context.clearRect(box.left, box.top, box.width, box.height);
    context.drawImage(canvas, box.left, box.top, box.width, box.height, box.left, box.top, box.width, box.height);
}
