/**
 * Paints the entries of a page on a canvas, as few of them as possible.
 *
 * Pictures: `base` has the older items, and the visible canvas all. A new stroke is drawn on top; when one goes, only the
 * pixels that it touched are painted again, from the base on. A lasso makes other items of those that it takes (scene.js),
 * and only the pixels of these are painted again. Where there are live strokes, one being drawn and those not yet
 * acknowledged, `board` has all but these; where they are many, `under` has all but the last one, which is being drawn. A browser copies a whole canvas that is drawn on after it was drawn from, so
 * the canvases that are drawn on often are not drawn from.
 *
 * @module
 */

import { identity } from "./affine.js";
import { Brush, makeCanvas } from "./brush.js";
import { PixelBox } from "./coverage.js";
import { Element } from "./curves.js";
import { differences, imageAt, showsAsset } from "./items.js";
import { Scene, isLasso } from "./scene.js";

/** Items above the base. */
const mostNewest = 48;
/** Live strokes that are drawn one by one, each time that the last one has grown. */
const mostLiveDrawn = 8;
/** Calls of showLive before the picture below the last live stroke is made anew. */
const underPause = 32;
/** Pictures that are kept of boards painted before, pixels of all of them, and items on one that is worth it. */
const mostKept = 6;
const mostKeptPixels = 16 << 20;
const leastOnKept = 16;
/** The largest side of a canvas in pixels. */
const largestSide = 4096;
/** Milliseconds of painting before the page may do something else. */
const slice = 10;
/** Items that are drawn to paint some boxes again; beyond, everything is painted, a slice at a time. */
const mostRepainted = 1000;

/** Paints the strokes of one board on one canvas. */
export class Painter {
    #canvas;
    #context;
    #brush;
    #images;
    #scene = null;
    /** All items but the live ones; null unless there have been any. */
    #board = null;
    #base = null;
    /** The ink style, pixels a board unit, a 1024th of the board's longer side in board units, and the pixels of the board. */
    #ink = { style: "smooth", scale: 1, unit: 1, columns: 0, rows: 0 };
    #bounds = new PixelBox(0, 0, 0, 0);
    /** The room's entries from the bottom to the top, and above them live ones up to the last live lasso. */
    #entries = [];
    #assumed = [];
    /** What is drawn of them; the first `#settled` items are in the base. Above the last lasso they are the entries. */
    #items = [];
    #settled = 0;
    /** Whether the items are not those of the entries: what comes next, or the end of the task, sees to it. */
    #isStale = false;
    #live = [];
    /** The board with the live strokes in `#below` on it; null while they are few. */
    #under = null;
    #below = [];
    #underPause = 0;
    #boxes = new WeakMap();
    #job = null;
    /** Pictures of other boards, the last one painted last: a page that is turned back to is there at once. */
    #kept = [];

    /** Called when a picture that took more than one slice is begun, and when it is there. */
    onprogress = () => {};
    /** Called when an image has got another picture. */
    onimage = () => {};

    /**
     * @param {HTMLCanvasElement} canvas what to paint on; its size in pixels is set by {@link reset}
     * @param {ImageStore | null} [images] pictures of assets; without it images are empty frames
     */
    constructor(canvas, images = null) {
        this.#canvas = canvas;
        this.#context = canvas.getContext("2d");
        this.#brush = new Brush(images);
        this.#images = images;
        if (images) images.onpicture = (asset, page) => this.#repaintImage(asset, page);
        this.#useScene();
    }

    #useScene() {
        this.#scene = new Scene(this.#ink.style, this.#ink.unit);
        this.#brush.scene = this.#scene;
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
        return this.#job.isStale ? 0 : this.#job.position / (this.#items.length + 1);
    }

    /**
     * Paints the entries of a page of a board of `width` × `height` units, so many pixels wide.
     *
     * The old picture stays until the new one is complete, stretched to its place.
     */
    reset(entries, { style, width, height, pixels }) {
        const scale = Math.min(pixels, largestSide, (largestSide * width) / height) / width;
        const [columns, rows] = [width, height].map((side) => Math.max(Math.round(side * scale), 1));
        const before = this.#ink;
        const ink = { style, scale, unit: Math.max(width, height) / 1024, columns, rows };
        const isSameInk = Object.keys(ink).every((key) => ink[key] === before[key]);
        if (!isSameInk) this.#boxes = new WeakMap();
        if (isSameInk && columns === this.#bounds.width && rows === this.#bounds.height) this.#keep();
        else this.#kept = [];
        this.#ink = ink;
        if (style !== before.style || ink.unit !== before.unit) this.#useScene();
        this.#entries = [...entries];
        this.#collect();
        this.#paintAll(columns, rows);
    }

    /** Makes the items of the entries. */
    #collect() {
        this.#items = this.#scene.items([...this.#entries, ...this.#assumed]);
        this.#isStale = false;
    }

    /** Keeps the picture of the board before another one is painted. */
    #keep() {
        if (this.#job || this.#isStale || this.#items.length < leastOnKept) return;
        const picture = makeCanvas(this.#bounds.width, this.#bounds.height).getContext("2d");
        copy(this.#board?.canvas ?? this.#canvas, picture, this.#bounds);
        // One of the same page is older.
        this.#kept = this.#kept.filter(({ items }) => items[0] !== this.#items[0]);
        this.#kept.push({ items: this.#items, picture });
        const most = Math.min(mostKept, Math.floor(mostKeptPixels / (this.#bounds.width * this.#bounds.height)));
        this.#kept.splice(0, this.#kept.length - most);
    }

    /** A kept picture of the lowest items, if there is one. */
    #keptPicture() {
        return this.#kept.find(({ items }) => items.every((item, place) => item === this.#items[place]));
    }

    /** Adds entries at the places of their indices, and takes others off. */
    change(shown, hidden) {
        for (const { asset } of shown) if (asset) this.#images?.retry(asset);
        if (hidden.length > 0 && hidden.length === this.#entries.length) {
            this.#entries = [...shown];
            this.#collect();
            return this.#paintAll(this.#bounds.width, this.#bounds.height);
        }
        const lasso = this.#assumed.length > 0 ? Infinity : (this.#entries.findLast(isLasso)?.index ?? -1);
        const isTaken = (entry) => isLasso(entry) || entry.index < lasso;
        if (this.#isStale || hidden.some(isTaken) || shown.some(isTaken)) {
            for (const entry of hidden) this.#takeOut(entry);
            for (const entry of shown) this.#putIn(entry);
            return this.#markStale();
        }
        for (const stroke of hidden) this.#remove(stroke);
        for (const stroke of shown) this.#insert(stroke);
    }

    #takeOut({ index }) {
        const place = this.#entries.findLastIndex((entry) => entry.index === index);
        if (place >= 0) this.#entries.splice(place, 1);
        return place >= 0;
    }

    #putIn(entry) {
        let place = this.#entries.length;
        while (place > 0 && this.#entries[place - 1].index > entry.index) place--;
        this.#entries.splice(place, 0, entry);
    }

    /** Other items are to be drawn: at once, unless a live lasso is about to be settled by the task that goes on. */
    #markStale() {
        if (this.#assumed.length === 0) return this.#renew();
        if (!this.#isStale) queueMicrotask(() => this.#isStale && this.#renew());
        this.#isStale = true;
    }

    /** Draws what has become of the entries, and only where it is other than before. */
    #renew() {
        const before = this.#items;
        const settled = this.#settled;
        this.#collect();
        if (this.#job) return void (this.#job.isStale = true);
        if (!this.#base) return;
        const boxes = differences(before, this.#items, (item) => this.#box(item), this.#bounds);
        const count = this.#items.reduce((sum, item) => sum + (boxes.some((box) => this.#box(item).meets(box)) ? 1 : 0), 0);
        if (count > mostRepainted) return this.#paintAll(this.#bounds.width, this.#bounds.height);
        for (const item of before.slice(settled)) this.#draw([this.#base], item, this.#bounds);
        this.#settled = this.#items.length;
        for (const box of boxes) {
            this.#repaintBase(box);
            this.#repaint(box);
        }
    }

    /** There is another picture of an image. */
    #repaintImage(asset, page) {
        this.#kept = [];
        const shows = (item) => showsAsset(item, asset, page);
        let [box, base] = [new PixelBox(0, 0, 0, 0), false];
        this.#items.forEach((item, place) => {
            if (!shows(item)) return;
            box = box.union(this.#box(item));
            base ||= place < this.#settled;
        });
        for (const item of this.#live) if (shows(item)) box = box.union(this.#box(item));
        if (box.isEmpty) return;
        this.onimage();
        if (this.#job) return void (this.#job.isStale = true);
        if (base) this.#repaintBase(box);
        this.#repaint(box);
    }

    /**
     * Selects what is inside of a path, as it is seen now.
     *
     * @param {{x: number, y: number}[]} points of the path in board units
     * @returns {((map: number[]) => {canvas: OffscreenCanvas, box: PixelBox} | null) | null} makes a picture of it where a map
     *   puts it, see affine.js; `box`: the pixels of the board that it is for; null where there is nothing
     */
    select(points) {
        const entries = [...this.#entries, ...this.#assumed, ...this.#live];
        const inside = (map) => this.#scene.inside(entries, { element: Element.lasso, points, map, keepsOriginal: true });
        if (inside([...identity]).box.isEmpty) return null;
        return (map) => {
            const { items, box } = inside(map);
            const { scale, columns, rows } = this.#ink;
            // What is moved out of sight may come back.
            const pixels = new PixelBox(
                Math.floor(box.left * scale - 2), Math.floor(box.top * scale - 2), Math.ceil(box.right * scale + 2),
                Math.ceil(box.bottom * scale + 2)).intersection(new PixelBox(-columns, -rows, 2 * columns, 2 * rows));
            if (pixels.isEmpty) return null;
            const context = makeCanvas(pixels.width, pixels.height).getContext("2d");
            context.translate(-pixels.left, -pixels.top);
            for (const item of items) this.#draw([context], item, pixels);
            return { canvas: context.canvas, box: pixels };
        };
    }

    /** The corners of the topmost image at a point of the board, where they are now; null where there is none. */
    imageAt(x, y) {
        return imageAt([...this.#items, ...this.#live], x, y);
    }

    /**
     * Shows strokes, images and lassos above those of the room, which have no index yet.
     *
     * @param {Stroke[]} strokes from the bottom to the top; a stroke that changes is a new object
     * @param {PixelBox} [changed] what to paint again; all that changed unless it is known better
     */
    showLive(strokes, changed) {
        const end = strokes.findLastIndex(isLasso) + 1;
        const isOther = end !== this.#assumed.length || this.#assumed.some((entry, place) => entry !== strokes[place]);
        if (isOther) this.#assumed = strokes.slice(0, end);
        if (isOther || this.#isStale) this.#renew();
        strokes = strokes.slice(end);
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
        this.#drawUnder();
        this.#present(changed);
    }

    /** Keeps the picture below the last live stroke: a stroke that grows is not drawn from its beginning each time. */
    #drawUnder() {
        const below = this.#live.slice(0, -1);
        if (this.#below.some((stroke, place) => stroke !== below[place])) this.#dropUnder();
        if (this.#underPause > 0) return void this.#underPause--;
        if (!this.#board || this.#job || below.length < this.#below.length + mostLiveDrawn) return;
        if (!this.#under) {
            this.#under = makeCanvas(this.#bounds.width, this.#bounds.height).getContext("2d");
            copy(this.#board.canvas, this.#under, this.#bounds);
        }
        for (const stroke of below.slice(this.#below.length)) this.#draw([this.#under], stroke, this.#bounds);
        this.#below = below;
    }

    #dropUnder() {
        // It is worth nothing where others draw, too.
        if (this.#under) this.#underPause = underPause;
        [this.#under, this.#below] = [null, []];
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

    /** Adds an entry above all lassos, which is an item. */
    #insert(stroke) {
        this.#putIn(stroke);
        let place = this.#items.length;
        while (place > 0 && this.#items[place - 1].index > stroke.index) place--;
        const isOnTop = place === this.#items.length;
        this.#items.splice(place, 0, stroke);
        if (this.#job) return this.#job.insert(place);
        if (place < this.#settled) {
            this.#settled++;
            this.#repaintBase(this.#box(stroke));
        } else if (isOnTop) {
            this.#draw(this.#targets, stroke, this.#bounds);
            if (this.#live.length > 0) this.#presentBoard(this.#box(stroke));
            return this.#settle();
        }
        this.#repaint(this.#box(stroke));
    }

    #remove(stroke) {
        if (!this.#takeOut(stroke)) return;
        const place = this.#items.findLastIndex(({ index }) => index === stroke.index);
        this.#items.splice(place, 1);
        if (this.#job) return this.#job.remove(place);
        if (place < this.#settled) {
            this.#settled--;
            this.#repaintBase(this.#box(stroke));
        }
        this.#repaint(this.#box(stroke));
    }

    /** Moves the older half of the newest strokes into the base. */
    #settle() {
        if (this.#items.length - this.#settled <= mostNewest) return;
        const end = this.#settled + mostNewest / 2;
        for (; this.#settled < end; this.#settled++) this.#draw([this.#base], this.#items[this.#settled], this.#bounds);
    }

    #repaintBase(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty) return;
        this.#base.clearRect(clip.left, clip.top, clip.width, clip.height);
        for (let i = 0; i < this.#settled; i++) this.#draw([this.#base], this.#items[i], clip);
    }

    #repaint(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty) return;
        const targets = this.#targets;
        for (const context of targets) copy(this.#base.canvas, context, clip);
        for (let i = this.#settled; i < this.#items.length; i++) this.#draw(targets, this.#items[i], clip);
        if (this.#live.length > 0) this.#presentBoard(clip);
    }

    /** Shows pixels of the board, which are others than before. */
    #presentBoard(box) {
        const clip = box.intersection(this.#bounds);
        if (this.#under && !clip.isEmpty) {
            copy(this.#board.canvas, this.#under, clip);
            for (const stroke of this.#below) this.#draw([this.#under], stroke, clip);
        }
        this.#present(clip);
    }

    #present(box) {
        const clip = box.intersection(this.#bounds);
        if (clip.isEmpty || !this.#board || this.#job) return;
        copy((this.#under ?? this.#board).canvas, this.#context, clip);
        for (const stroke of this.#live.slice(this.#below.length)) this.#draw([this.#context], stroke, clip);
    }

    /** Paints everything on new canvases, a slice at a time. */
    #paintAll(width, height) {
        this.#job?.cancel();
        this.#dropUnder();
        const job = (this.#job = new PaintJob());
        let [base, board] = [null, null];
        const bounds = new PixelBox(0, 0, width, height);
        const start = () => {
            base = makeCanvas(width, height).getContext("2d");
            board = makeCanvas(width, height).getContext("2d");
            const kept = this.#keptPicture();
            if (kept) copy(kept.picture.canvas, base, bounds);
            job.settled = kept ? kept.items.length : Math.max(this.#items.length - mostNewest / 2, 0);
            job.position = kept ? job.settled : 0;
            job.isStale = false;
        };
        start();
        let isSlow = false;
        const go = () => {
            if (job.isCancelled) return;
            if (job.isStale) start();
            const end = performance.now() + slice;
            while (job.position < this.#items.length) {
                if (job.position === job.settled) copy(base.canvas, board, bounds);
                const context = job.position < job.settled ? base : board;
                this.#draw([context], this.#items[job.position++], bounds);
                if (performance.now() > end && job.position < this.#items.length) {
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
