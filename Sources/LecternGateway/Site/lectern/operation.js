/**
 * The messages of a teacher's operations.
 *
 * @module
 */

import { Element } from "./model.js";

/** Points of one message; a longer stroke goes out in shards. */
const shardPoints = 400;
/** Corners of the path of a lasso, and the size of the numbers of its map. */
export const mostLassoPoints = 1024;
const mostMapNumber = 16384;

/** The fields of a lasso, as {@link Teacher.lasso} takes it. */
export function lassoFields(path, map, keepsOriginal) {
    const bounded = (number) => Math.min(Math.max(rounded(number, 1e6), -mostMapNumber), mostMapNumber);
    // Undefined members do not reach the wire.
    return {
        e: Element.lasso, m: map ? map.map(bounded) : undefined, k: keepsOriginal ? 1 : undefined,
        d: path.map(({ x, y }) => ({ x: rounded(x, 100), y: rounded(y, 100) })),
    };
}

/** The fields of an image in a box. */
export function imageFields(asset, assetPage, x, y, width, height) {
    const corner = (x, y) => ({ x: rounded(x, 100), y: rounded(y, 100) });
    return { e: Element.image, i: asset, p: assetPage, d: [corner(x, y), corner(x + width, y + height)] };
}

/** The messages of an operation: a long stroke is cut into shards of equal size. */
export function shards(operation) {
    const points = operation.d ?? [];
    if (points.length <= shardPoints) return [JSON.stringify(operation)];
    const count = Math.ceil(points.length / shardPoints);
    return Array.from({ length: count }, (_, order) =>
        JSON.stringify({
            ...operation, s: count, o: order, d: points.slice(order * shardPoints, (order + 1) * shardPoints),
        }));
}

/** Whether a message that the room tells of is an operation that was sent to it. */
export function isSame(operation, message) {
    const [a, b] = [operation.d?.[0], message.d?.[0]];
    return (operation.a ?? 1) === (message.a ?? 1) && operation.t === message.t && operation.g === message.g
        && String(operation.v) === String(message.v) && a?.x === b?.x && a?.y === b?.y
        && operation.d?.length === message.d?.length && (operation.e ?? 0) === (message.e ?? 0)
        && String(operation.m) === String(message.m);
}

function rounded(value, parts) {
    return Math.round(value * parts) / parts;
}
