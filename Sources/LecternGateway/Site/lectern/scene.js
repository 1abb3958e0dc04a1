/**
 * The picture of a page as a list of items: strokes and images, and what lassos have made of them.
 *
 * A lasso makes of each item below it one that is cut to the outside of its path, in place, and above all of these, in the
 * same order, one that is cut to the inside and moved. The moved ones are a layer of their own: an eraser removes what is
 * below it in its layer, so that what it has removed moves with the ink, and it removes nothing of what it is moved over.
 * Within its layer an eraser needs no cutting, for all that it can meet there is cut already.
 *
 * Nothing here is pixels: moved ink is as sharp as drawn ink. Items that a lasso need not touch stay the same objects, and so
 * do the parts that a lasso has made of an item.
 *
 * @module
 */

import { followed, inverted, moved, movedBox, stretchOf } from "./affine.js";
import { CentreLine, stride } from "./centreline.js";
import { PixelBox } from "./coverage.js";
import { Element } from "./curves.js";
import { LassoShape, Side } from "./lasso-shape.js";

/**
 * Parts of items in a scene, corners of the paths that cut them, and parts of pixels among them, which are as large as the board;
 * beyond, what is below a lasso becomes pixels.
 */
const mostParts = 4096;
const mostCorners = 1 << 20;
const mostPixelParts = 4;
/** Board units by which a path along the border of an image may be off: messages have hundredths. */
const borderSlack = 0.02;
/** Scenes up to a lasso that are kept, to go on from. */
const mostStates = 4;

/** One side of a lasso's path, to which parts are cut, where the path is by now. */
class Clip {
    #scale = 0;
    #path = null;

    /** @param {number[] | null} map from where the lasso was drawn to where its path is now */
    constructor(shape, isOutside, map = null) {
        [this.shape, this.isOutside, this.map] = [shape, isOutside, map];
        this.inverse = map && inverted(map);
        this.shrink = this.inverse ? stretchOf(this.inverse) : 1;
    }

    /** The path in pixels, to fill by the even–odd rule. */
    pathAt(scale) {
        if (this.#scale !== scale) {
            const [a, b, c, d, e, f] = this.map ?? [1, 0, 0, 1, 0, 0];
            this.#path = new Path2D();
            const matrix = new DOMMatrix([a * scale, b * scale, c * scale, d * scale, e * scale, f * scale]);
            this.#path.addPath(this.shape.path, matrix);
            this.#scale = scale;
        }
        return this.#path;
    }

    /** Whether a disc can be seen behind it. */
    shows(x, y, radius) {
        if (this.inverse) [x, y] = moved(this.inverse, x, y);
        const reach = radius * this.shrink;
        const side = this.shape.sideOf(x - reach, y - reach, x + reach, y + reach);
        return side !== (this.isOutside ? Side.inside : Side.outside);
    }

    /** Whether a path goes along its own where that is by now: what it has left is inside of that path, too. */
    isAlong({ points }) {
        const own = this.shape.points;
        if (this.isOutside || points.length !== own.length) return false;
        return own.every(({ x, y }, place) => {
            const [toX, toY] = this.map ? moved(this.map, x, y) : [x, y];
            return isNear({ x: toX, y: toY }, points[place]);
        });
    }

    /** Whether it cuts nothing off in a rectangle. */
    isClear(left, top, right, bottom) {
        const box = movedBox(this.inverse, new PixelBox(left, top, right, bottom));
        const side = this.shape.sideOf(box.left, box.top, box.right, box.bottom);
        return side === (this.isOutside ? Side.outside : Side.inside);
    }
}

/** Clips one after the other. Parts that were cut alike share one chain. */
class ClipChain {
    clips;
    corners;
    /** By lasso, what it has made of this chain: cut outside, and cut inside or not at all and moved. */
    #next = new WeakMap();

    constructor(clips = []) {
        this.clips = clips;
        this.corners = clips.reduce((sum, { shape }) => sum + shape.points.length, 0);
    }

    after(lasso, key, make) {
        let made = this.#next.get(lasso);
        if (!made) this.#next.set(lasso, (made = {}));
        return (made[key] ??= new ClipChain(make(this.clips)));
    }
}

const unclipped = new ClipChain();

/** A part of an entry, moved. */
export class Part {
    /**
     * @param {object} source a stroke, an image or a {@link Snapshot}
     * @param {number[] | null} map from where it was drawn to where it is
     * @param {ClipChain} chain what it is cut to
     * @param {PixelBox} box around it, in board units
     */
    constructor(source, map, chain, box) {
        [this.source, this.map, this.chain, this.box] = [source, map, chain, box];
    }
}

/** A layer in which erasers remove ink: it is drawn for itself before it is put on those below. */
export class Group {
    constructor(items) {
        this.items = items;
    }
}

/** All that is below a lasso, where its items became too many: it is drawn once, and its pixels are cut and moved. */
export class Snapshot {
    constructor(items, box) {
        [this.items, this.box] = [items, box];
        /** Its pixels and their scale, once it was drawn. */
        this.picture = null;
    }
}

/** Whether an entry is a lasso, an image, an eraser. */
export const isLasso = (entry) => entry.element === Element.lasso;
export const isImage = (entry) => entry.element === Element.image;
export const isEraser = (item) => (item instanceof Part ? item.source : item).element === Element.eraser;

/** The box of an image's two corners, in board units. */
export function imageBox({ points }) {
    const [a, b] = [points[0], points[points.length - 1]];
    return new PixelBox(Math.min(a.x, b.x), Math.min(a.y, b.y), Math.max(a.x, b.x), Math.max(a.y, b.y));
}

/** The corners of an image, where a map puts them. */
export function cornersOf(image, map) {
    const { left, top, right, bottom } = imageBox(image);
    return [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) => {
        const [toX, toY] = map ? moved(map, x, y) : [x, y];
        return { x: toX, y: toY };
    });
}

function isNear(a, b) {
    return Math.abs(a.x - b.x) < borderSlack && Math.abs(a.y - b.y) < borderSlack;
}

/** Whether a path goes along the border of an image. */
function isAround({ points }, corners) {
    return points.length === corners.length && corners.every((corner) => points.some((point) => isNear(corner, point)));
}

/** Makes items of the entries of pages. What it has worked out for one page it uses again for the next. */
export class Scene {
    #style;
    #unit;
    #line = new CentreLine();
    #boxes = new WeakMap();
    #shapes = new WeakMap();
    /** By lasso, what it makes of items. */
    #splits = new WeakMap();
    /** Groups by their first items. */
    #groups = new WeakMap();
    /** Layers after some lasso, with the entries that lead there; the last one used last. */
    #states = [];

    /** Style and unit as in the ink of a painter: they decide how wide strokes are. */
    constructor(style, unit) {
        [this.#style, this.#unit] = [style, unit];
    }

    /**
     * The items of a page, bottom to top.
     *
     * @param {Stroke[]} entries bottom to top
     * @returns {(Stroke | Part | Group)[]}
     */
    items(entries) {
        const end = entries.findLastIndex(isLasso) + 1;
        if (end === 0) return [...entries];
        const items = this.#flat(this.#layersOf(entries, end));
        for (let place = end; place < entries.length; place++) items.push(entries[place]);
        return items;
    }

    /**
     * What is inside of a path.
     *
     * @param {Stroke[]} entries bottom to top
     * @param {Stroke} lasso its path, and how it is moved
     * @returns {{items: (Stroke | Part | Group)[], box: PixelBox}} in board units
     */
    inside(entries, lasso) {
        const end = entries.findLastIndex(isLasso) + 1;
        const layers = end > 0 ? [...this.#layersOf(entries, end)] : [[]];
        this.#draw(layers, entries.slice(end));
        const { lifted } = this.#apply(layers, { ...lasso, keepsOriginal: true });
        let box = new PixelBox(0, 0, 0, 0);
        for (const layer of lifted) for (const item of layer) if (!isEraser(item)) box = box.union(this.boxOf(item));
        // The lowest layer is isolated, too: there is something below it.
        return { items: lifted.map((layer) => (layer.some(isEraser) ? new Group(layer) : layer)).flat(), box };
    }

    /** A box around an item, in board units. */
    boxOf(item) {
        if (item instanceof Part || item instanceof Snapshot) return item.box;
        let box = this.#boxes.get(item);
        if (!box) {
            if (item instanceof Group) {
                box = new PixelBox(0, 0, 0, 0);
                for (const part of item.items) if (!isEraser(part)) box = box.union(this.boxOf(part));
            } else if (isImage(item)) box = imageBox(item);
            else {
                this.#line.trace(item, this.#style, 1, this.#unit);
                const { count, left, top, right, bottom } = this.#line;
                box = count > 0 ? new PixelBox(left, top, right, bottom) : new PixelBox(0, 0, 0, 0);
            }
            this.#boxes.set(item, box);
        }
        return box;
    }

    #layersOf(entries, end) {
        const isPrefix = ({ prefix }) =>
            prefix.length <= end && prefix.every((entry, place) => entry === entries[place]);
        let best = null;
        for (const state of this.#states) {
            if (state.prefix.length > (best?.prefix.length ?? 0) && isPrefix(state)) best = state;
        }
        let layers = best ? [...best.layers] : [[]];
        let from = best?.prefix.length ?? 0;
        for (let place = from; place < end; place++) {
            if (!isLasso(entries[place])) continue;
            this.#draw(layers, entries.slice(from, place));
            const { left, lifted } = this.#apply(layers, entries[place]);
            layers = this.#bounded([left[0], ...left.slice(1).filter(({ length }) => length > 0), ...lifted], entries[place]);
            from = place + 1;
        }
        if (best) this.#states.splice(this.#states.indexOf(best), 1);
        if (best && best.prefix.length !== end) this.#states.push(best);
        this.#states.push({ prefix: entries.slice(0, end), layers });
        this.#states.splice(0, this.#states.length - mostStates);
        return layers;
    }

    /** Draws on the top layer; erasers on all. */
    #draw(layers, entries) {
        if (entries.length === 0) return;
        const top = layers.length - 1;
        const owned = new Set();
        const own = (place) => {
            if (!owned.has(place)) layers[place] = [...layers[place]];
            owned.add(place);
            return layers[place];
        };
        for (const entry of entries) {
            if (!isEraser(entry)) {
                own(top).push(entry);
                continue;
            }
            for (let place = 0; place <= top; place++) if (this.#meetsInk(entry, layers[place])) own(place).push(entry);
        }
    }

    #meetsInk(eraser, items) {
        const box = this.boxOf(eraser);
        return items.some((item) => !isEraser(item) && this.boxOf(item).meets(box));
    }

    /** @returns {{left: Item[][], lifted: Item[][]}} what stays of each layer, and the layers that lie above them all */
    #apply(layers, lasso) {
        const shape = this.#shapeOf(lasso);
        const [left, lifted] = [[], []];
        const map = lasso.map && inverted(lasso.map) ? lasso.map : null;
        for (const layer of layers) {
            const [rest, above] = [[], []];
            let isChanged = false;
            for (const item of layer) {
                if (isEraser(item)) {
                    if (this.#meetsInk(item, rest)) rest.push(item);
                    if (this.#meetsInk(item, above)) above.push(item);
                    continue;
                }
                const split = this.#splitOf(lasso, shape, item);
                if (split.side !== Side.outside) isChanged = true;
                const kept = lasso.keepsOriginal ? item : split.rest;
                if (kept) rest.push(kept);
                if (split.inside) above.push(split.inside);
            }
            left.push(isChanged && !lasso.keepsOriginal ? rest : layer);
            if (map && above.length > 0) lifted.push(above.map((item) => this.#move(lasso, item)));
        }
        return { left, lifted };
    }

    #shapeOf(lasso) {
        let shape = this.#shapes.get(lasso.points);
        if (!shape) this.#shapes.set(lasso.points, (shape = new LassoShape(lasso.points)));
        return shape;
    }

    /** What of an item is outside and inside of a path, in place. */
    #splitOf(lasso, shape, item) {
        let splits = this.#splits.get(lasso.points);
        if (!splits) this.#splits.set(lasso.points, (splits = { parts: new WeakMap(), moves: new Map() }));
        let split = splits.parts.get(item);
        if (split) return split;
        const side = this.#sideOf(item, shape);
        split = { side, rest: side === Side.outside ? item : null, inside: side === Side.inside ? item : null };
        if (side === Side.cut) {
            const { source, map, chain } = partOf(item);
            const cut = (isOutside) =>
                chain.after(lasso.points, isOutside ? "outside" : "inside", (clips) => [...clips, new Clip(shape, isOutside)]);
            const box = this.boxOf(item);
            split.rest = new Part(source, map, cut(true), box);
            split.inside = new Part(source, map, cut(false), box.intersection(shape.box));
        }
        splits.parts.set(item, split);
        return split;
    }

    #move(lasso, item) {
        const { moves } = this.#splits.get(lasso.points) ?? { moves: new Map() };
        const key = lasso.map.join();
        let parts = moves.get(key);
        if (!parts) {
            // A selection that is dragged about asks for many.
            if (moves.size > 4) moves.clear();
            moves.set(key, (parts = new WeakMap()));
        }
        let part = parts.get(item);
        if (!part) {
            const { source, map, chain } = partOf(item);
            const next = chain === unclipped ? chain : chain.after(lasso.points, key, (clips) =>
                clips.map((clip) => new Clip(clip.shape, clip.isOutside, clip.map ? followed(clip.map, lasso.map) : lasso.map)));
            part = new Part(source, map ? followed(map, lasso.map) : lasso.map, next, movedBox(lasso.map, this.boxOf(item)));
            parts.set(item, part);
        }
        return part;
    }

    #sideOf(item, shape) {
        if (!this.boxOf(item).meets(shape.box)) return Side.outside;
        const { source, map, chain } = partOf(item);
        // A cut along an edge would leave the smoothed half of it.
        if (chain.clips.some((clip) => clip.isAlong(shape))) return Side.inside;
        if (source instanceof Snapshot || isImage(source)) {
            if (isImage(source) && isAround(shape, cornersOf(source, map))) return Side.inside;
            const { left, top, right, bottom } = this.boxOf(item);
            return shape.sideOf(left, top, right, bottom);
        }
        this.#line.trace(source, this.#style, 1, this.#unit);
        const { samples, count } = this.#line;
        const stretch = map ? stretchOf(map) : 1;
        let side = null;
        /** Looks at a disc. Returns false once more need not be known. */
        const look = (x, y, radius) => {
            if (!chain.clips.every((clip) => clip.shows(x, y, radius))) return true;
            const here = shape.sideOf(x - radius, y - radius, x + radius, y + radius);
            if (side !== null && here !== side) side = Side.cut;
            side ??= here;
            return side !== Side.cut;
        };
        let before = null;
        for (let at = 0; at < count * stride; at += stride) {
            let [x, y] = [samples[at], samples[at + 1]];
            if (map) [x, y] = moved(map, x, y);
            const radius = samples[at + 2] * stretch + 0.5;
            if (before) {
                // Between two samples the line is straight.
                const steps = Math.min(Math.ceil(Math.hypot(x - before[0], y - before[1]) / Math.max(radius, 2)), 4096);
                for (let step = 1; step < steps; step++) {
                    const part = step / steps;
                    const wide = Math.max(radius, before[2]) + 1;
                    if (!look(before[0] + (x - before[0]) * part, before[1] + (y - before[1]) * part, wide)) return side;
                }
            }
            if (!look(x, y, radius)) return side;
            before = [x, y, radius];
        }
        return side ?? Side.outside;
    }

    /** Makes pixels of layers with too many parts, in place of which one item stands. */
    #bounded(layers, lasso) {
        let [parts, corners, pixelParts] = [0, 0, 0];
        for (const layer of layers) {
            for (const item of layer) {
                if (!(item instanceof Part)) continue;
                parts++;
                corners += item.chain.corners;
                if (item.source instanceof Snapshot) pixelParts++;
            }
        }
        if (parts <= mostParts && corners <= mostCorners && pixelParts <= mostPixelParts) return layers;
        const items = this.#flat(layers);
        // The same one for the same items.
        const known = this.#groups.get(lasso);
        if (known && isSame(known.items, items)) return [[known]];
        let box = new PixelBox(0, 0, 0, 0);
        for (const layer of layers) for (const item of layer) if (!isEraser(item)) box = box.union(this.boxOf(item));
        const snapshot = new Snapshot(items, box);
        this.#groups.set(lasso, snapshot);
        return [[snapshot]];
    }

    /** One list of all layers; those above the lowest in which erasers remove ink become groups. */
    #flat(layers) {
        const items = [...layers[0]];
        for (const layer of layers.slice(1)) {
            if (!layer.some(isEraser)) {
                for (const item of layer) items.push(item);
                continue;
            }
            let group = this.#groups.get(layer[0]);
            if (!group || !isSame(group.items, layer)) this.#groups.set(layer[0], (group = new Group(layer)));
            items.push(group);
        }
        return items;
    }
}

function partOf(item) {
    return item instanceof Part ? item : { source: item, map: null, chain: unclipped };
}

function isSame(one, other) {
    return one.length === other.length && one.every((item, place) => item === other[place]);
}
