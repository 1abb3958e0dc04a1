/**
 * Questions about the items of a page: what has changed, which of them show an image, and which image is at a point.
 *
 * @module
 */

import { LassoShape } from "./lasso-shape.js";
import { Group, Part, Snapshot, cornersOf, isImage } from "./scene.js";

/** Boxes that changes are told in, at most. */
const mostBoxes = 8;

/** An item, or the parts of a group. */
function partsOf(item) {
    return item instanceof Group ? item.items : [item];
}

function sourceOf(item) {
    return item instanceof Part ? item.source : item;
}

/**
 * Where two lists of items may differ.
 *
 * @param {(item: object) => PixelBox} boxOf
 * @param {PixelBox} bounds what is beyond is not told
 * @returns {PixelBox[]} a few boxes that do not meet
 */
export function differences(before, after, boxOf, bounds) {
    const counts = new Map();
    for (const [items, by] of [[before, -1], [after, 1]]) {
        for (const part of items.flatMap(partsOf)) counts.set(part, (counts.get(part) ?? 0) + by);
    }
    const boxes = [];
    for (const [part, difference] of counts) {
        if (difference === 0) continue;
        let box = boxOf(part).intersection(bounds);
        if (box.isEmpty) continue;
        // Boxes that meet become one; where there are too many, it takes any.
        for (let place = 0; place < boxes.length; ) {
            if (!boxes[place].meets(box) && boxes.length < mostBoxes) {
                place++;
                continue;
            }
            box = box.union(boxes.splice(place, 1)[0]);
            place = 0;
        }
        boxes.push(box);
    }
    return boxes;
}

/** Whether an item shows a page of an asset. Pixels that were made with the old picture of it are forgotten. */
export function showsAsset(item, asset, page) {
    if (item instanceof Group) return item.items.some((part) => showsAsset(part, asset, page));
    const source = sourceOf(item);
    if (source instanceof Snapshot) {
        if (!source.items.some((part) => showsAsset(part, asset, page))) return false;
        source.picture = null;
        return true;
    }
    return isImage(source) && source.asset === asset && source.assetPage === page;
}

/**
 * The corners of the topmost image at a point of the board, where lassos have put them; null where there is none.
 *
 * @param {object[]} items bottom to top
 */
export function imageAt(items, x, y) {
    for (const item of items.flatMap(partsOf).reverse()) {
        const source = sourceOf(item);
        if (source instanceof Snapshot || !isImage(source)) continue;
        if (item instanceof Part && !item.chain.clips.every((clip) => clip.shows(x, y, 0))) continue;
        const corners = cornersOf(source, item instanceof Part ? item.map : null);
        if (new LassoShape(corners).contains(x, y)) return corners;
    }
    return null;
}
