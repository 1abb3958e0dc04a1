/**
 * Draws the items of a page on 2-D contexts: strokes, images, and what lassos have made of them.
 *
 * @module
 */

import { followed, identity, inverted, isSimilarity, moved, stretchOf } from "./affine.js";
import { CentreLine } from "./centreline.js";
import { Coverage, PixelBox } from "./coverage.js";
import { Element } from "./curves.js";
import { Group, Part, Snapshot, imageBox, isEraser, isImage } from "./scene.js";

/** Rows of pixels that are composited at a time. */
const stripHeight = 64;
/** Pixels of the picture of a stroke that is stretched unevenly, and of all layers; the least side of a layer. */
const mostPixels = 16 << 20;
const leastLayer = 32;
/** Pixels by which the edge of a moved item may lie beyond its box: an anti-aliased edge, and a stamp of the least size. */
const margin = 2;
/** The frame of an image that is not there: board units, and its colour. */
const frameWidth = 1.5;
const frameColour = "#b0b0b0";

/** Draws single items on 2-D contexts. One is enough for a painter: it keeps its memory. */
export class Brush {
    #line = new CentreLine();
    #coverage = new Coverage();
    #scratch = null;
    #strip = new Uint32Array(0);
    /** Where layers, and parts that are cut, are drawn before they are put on what is below; by their use and size. */
    #layers = new Map();
    #layerPixels = 0;
    #images;
    #scene = null;

    /** @param {ImageStore | null} images where pictures of assets come from; without them images are frames */
    constructor(images) {
        this.#images = images;
    }

    /** The scene that the items belong to. */
    set scene(scene) {
        this.#scene = scene;
    }

    /** The pixels that an item may touch. */
    box(item, { style, scale, unit }) {
        if (item instanceof Part || item instanceof Group || item instanceof Snapshot || isImage(item)) {
            const { left, top, right, bottom, isEmpty } = this.#scene.boxOf(item);
            if (isEmpty) return new PixelBox(0, 0, 0, 0);
            return new PixelBox(
                Math.floor(left * scale - margin), Math.floor(top * scale - margin), Math.ceil(right * scale + margin),
                Math.ceil(bottom * scale + margin));
        }
        this.#line.trace(item, style, scale, unit);
        return Coverage.boxOf(this.#line);
    }

    /** Draws an item on the pixels of `clip` of some canvases; `clip` is inside of its box. */
    draw(contexts, item, ink, clip) {
        if (item instanceof Part) this.#drawPart(contexts, item, ink, clip);
        else if (item instanceof Group) this.#drawGroup(contexts, item, ink, clip);
        else this.#drawSource(contexts, item, null, ink, clip);
    }

    #drawPart(contexts, { source, map, chain }, ink, clip) {
        const { scale } = ink;
        const place = [clip.left, clip.top, clip.right, clip.bottom].map((side) => side / scale);
        const cuts = chain.clips.filter((path) => !path.isClear(...place));
        if (cuts.length === 0) return this.#drawSource(contexts, source, map, ink, clip);
        // By filling, not by clipping: browsers do not smooth the edges of clips everywhere.
        const mask = this.#layerFor("part", clip);
        this.#drawSource([mask], source, map, ink, clip);
        mask.save();
        clipTo(mask, clip);
        for (const path of cuts) {
            mask.globalCompositeOperation = path.isOutside ? "destination-out" : "destination-in";
            mask.fill(path.pathAt(scale), "evenodd");
        }
        mask.restore();
        putLayer(mask, contexts, clip);
    }

    /**
     * An empty canvas of at least the size of a box, with the box at its origin. It is little larger: a browser copies all of a
     * canvas that is drawn on after it was drawn from.
     */
    #layerFor(use, { left, top, width, height }) {
        const [columns, rows] = [width, height].map((side) => 2 ** Math.ceil(Math.log2(Math.max(side, leastLayer))));
        const key = `${use} ${columns} ${rows}`;
        let layer = this.#layers.get(key);
        if (!layer) {
            this.#layerPixels += columns * rows;
            if (this.#layerPixels > mostPixels) {
                this.#layers.clear();
                this.#layerPixels = columns * rows;
            }
            this.#layers.set(key, (layer = makeCanvas(columns, rows).getContext("2d")));
        }
        layer.resetTransform();
        layer.clearRect(0, 0, width, height);
        layer.translate(-left, -top);
        return layer;
    }

    #drawSource(contexts, source, map, ink, clip) {
        if (source instanceof Snapshot) this.#drawSnapshot(contexts, source, map, ink, clip);
        else if (isImage(source)) this.#drawImage(contexts, source, map, ink, clip);
        else if (!map || isSimilarity(map)) this.#drawStroke(contexts, source, map, ink, clip, operationOf(source));
        else this.#drawStretched(contexts, source, map, ink, clip);
    }

    #drawStroke(contexts, stroke, map, { style, scale, unit }, clip, operation) {
        const tip = style.startsWith("stamp") && stroke.element === Element.freehand ? style.slice(6) || "round" : null;
        const stretch = map ? stretchOf(map) : 1;
        this.#line.trace(stroke, style, scale * stretch, unit);
        let turn = identity;
        if (map) {
            const [a, b, c, d, e, f] = map;
            turn = [a / stretch, b / stretch, c / stretch, d / stretch, e * scale, f * scale];
            this.#line.move(turn, tip === "marker");
        }
        this.#coverage.cover(this.#line, clip, { tip, scale: scale * stretch, turn });
        if (this.#coverage.box.isEmpty) return;
        const colour = pixelOf(stroke.colour);
        for (const context of contexts) context.globalCompositeOperation = operation;
        for (let row = 0; row < this.#coverage.box.height; row += stripHeight) this.#composite(contexts, row, colour);
        for (const context of contexts) context.globalCompositeOperation = "source-over";
    }

    /** Where circles become ellipses: the stroke's own pixels, as fine as where it is stretched most, and then pressed. */
    #drawStretched(contexts, stroke, map, ink, clip) {
        if (!inverted(map)) return;
        const wanted = ink.scale * Math.min(stretchOf(map), 64);
        // All of it, whatever the clip: the same pixels each time.
        const box = grown(this.#scene.boxOf(stroke), margin / wanted);
        const scale = Math.min(wanted, Math.sqrt(mostPixels / (box.width * box.height)));
        const pixels = new PixelBox(
            Math.floor(box.left * scale), Math.floor(box.top * scale), Math.ceil(box.right * scale), Math.ceil(box.bottom * scale));
        const context = makeCanvas(pixels.width, pixels.height).getContext("2d");
        context.translate(-pixels.left, -pixels.top);
        this.#drawStroke([context], stroke, null, { ...ink, scale }, pixels, "source-over");
        this.#press(contexts, context.canvas, pixels, scale, map, ink.scale, clip, operationOf(stroke));
    }

    /** Draws pixels of a picture in board units, at a scale of its own, where a map puts them. */
    #press(contexts, canvas, pixels, ownScale, map, scale, clip, operation = "source-over") {
        const whole = followed(followed([1 / ownScale, 0, 0, 1 / ownScale, 0, 0], map ?? identity), [scale, 0, 0, scale, 0, 0]);
        for (const context of contexts) {
            context.save();
            clipTo(context, clip);
            context.globalCompositeOperation = operation;
            context.imageSmoothingQuality = "high";
            context.transform(...whole);
            context.drawImage(canvas, pixels.left, pixels.top);
            context.restore();
        }
    }

    #drawImage(contexts, image, map, { scale }, clip) {
        const box = imageBox(image);
        if (box.isEmpty) return;
        const picture = this.#images?.picture(image.asset, image.assetPage, box.width * scale * (map ? stretchOf(map) : 1));
        for (const context of contexts) {
            context.save();
            clipTo(context, clip);
            context.transform(scale, 0, 0, scale, 0, 0);
            if (picture) {
                if (map) context.transform(...map);
                context.imageSmoothingQuality = "high";
                context.drawImage(picture, box.left, box.top, box.width, box.height);
            } else {
                context.fillStyle = frameColour;
                context.fill(framePath(box, map ?? identity));
            }
            context.restore();
        }
    }

    /** Draws the items of a layer for themselves, and then the layer. */
    #drawGroup(contexts, { items }, ink, clip) {
        const layer = this.#layerFor("group", clip);
        for (const item of items) this.#drawWithin(layer, item, ink, clip);
        putLayer(layer, contexts, clip);
    }

    #drawWithin(context, item, ink, clip) {
        const box = this.box(item, ink).intersection(clip);
        if (!box.isEmpty) this.draw([context], item, ink, box);
    }

    #drawSnapshot(contexts, snapshot, map, ink, clip) {
        if (snapshot.picture?.scale !== ink.scale) {
            const box = this.box(snapshot, ink).intersection(new PixelBox(0, 0, ink.columns, ink.rows));
            if (box.isEmpty) return;
            const context = makeCanvas(box.width, box.height).getContext("2d");
            context.translate(-box.left, -box.top);
            for (const item of snapshot.items) this.#drawWithin(context, item, ink, box);
            // What is below it needs its own pixels no more.
            for (const item of snapshot.items) {
                const source = item instanceof Part ? item.source : item;
                if (source instanceof Snapshot) source.picture = null;
            }
            snapshot.picture = { scale: ink.scale, canvas: context.canvas, box };
        }
        this.#press(contexts, snapshot.picture.canvas, snapshot.picture.box, ink.scale, map, ink.scale, clip);
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

function putLayer(layer, contexts, { left, top, width, height }) {
    for (const context of contexts) context.drawImage(layer.canvas, 0, 0, width, height, left, top, width, height);
}

/** Leaves the pixels around a box as they are. */
function clipTo(context, { left, top, width, height }) {
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
}

/**
 * The frame of an image that is not there, with its two diagonals: lines of one width wherever it is moved, inside of the moved
 * rectangle, as the server draws them. One too small for them is filled.
 */
function framePath({ left, top, right: end, bottom }, map) {
    const [x0, y0] = moved(map, left, top);
    const sideTo = (x, y) => {
        const [toX, toY] = moved(map, x, y);
        return [toX - x0, toY - y0];
    };
    const [right, down] = [sideTo(end, top), sideTo(left, bottom)];
    const size = Math.abs(right[0] * down[1] - right[1] * down[0]);
    const corner = (across, along) =>
        [x0 + right[0] * across + down[0] * along, y0 + right[1] * across + down[1] * along];
    const path = new Path2D();
    const polygon = (corners) => {
        for (const [place, [x, y]] of corners.entries()) {
            if (place === 0) path.moveTo(x, y);
            else path.lineTo(x, y);
        }
        path.closePath();
    };
    polygon([corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)]);
    // The parts of the sides that the lines along the other sides take.
    const [x, y] = [down, right].map((side) => (frameWidth * Math.hypot(...side)) / size);
    if (!(x < 0.5 && y < 0.5)) return path;
    const inner = [corner(x, y), corner(1 - x, y), corner(1 - x, 1 - y), corner(x, 1 - y)];
    polygon(inner.toReversed());
    // Wound as the outside is, for the nonzero rule.
    const turn = Math.sign(right[0] * down[1] - right[1] * down[0]);
    for (const [from, to] of [[inner[0], inner[2]], [inner[1], inner[3]]]) {
        const [wayX, wayY] = [to[0] - from[0], to[1] - from[1]];
        const half = (turn * frameWidth) / 2 / Math.hypot(wayX, wayY);
        const [asideX, asideY] = [-wayY * half, wayX * half];
        polygon([
            [from[0] - asideX, from[1] - asideY], [to[0] - asideX, to[1] - asideY], [to[0] + asideX, to[1] + asideY],
            [from[0] + asideX, from[1] + asideY],
        ]);
    }
    return path;
}

function operationOf(stroke) {
    return isEraser(stroke) ? "destination-out" : "source-over";
}

/** The blue, green and red bytes of a pixel, as a little-endian number. */
function pixelOf(colour) {
    const number = Number.parseInt(colour.slice(1), 16);
    return ((number & 0xff) << 16) | (number & 0xff00) | (number >> 16);
}

function grown({ left, top, right, bottom }, by) {
    return new PixelBox(left - by, top - by, right + by, bottom + by);
}

/** A canvas that is not on the page. */
export function makeCanvas(width, height) {
    if (typeof OffscreenCanvas !== "undefined") return new OffscreenCanvas(width, height);
    return Object.assign(document.createElement("canvas"), { width, height });
}
