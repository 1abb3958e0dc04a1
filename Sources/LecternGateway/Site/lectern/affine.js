/**
 * Affine maps of the plane: `[a, b, c, d, e, f]` stands for x' = a·x + c·y + e, y' = b·x + d·y + f.
 *
 * @module
 */

import { PixelBox } from "./coverage.js";

/** The map that leaves everything where it is. */
export const identity = Object.freeze([1, 0, 0, 1, 0, 0]);

/** The map that does one and then the other. */
export function followed([a, b, c, d, e, f], [p, q, r, s, t, u]) {
    return [
        p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, p * e + r * f + t, q * e + s * f + u,
    ];
}

/** The map that undoes another; null where that is flat. */
export function inverted([a, b, c, d, e, f]) {
    const determinant = a * d - b * c;
    if (determinant === 0 || !Number.isFinite(determinant)) return null;
    const [p, q, r, s] = [d / determinant, -b / determinant, -c / determinant, a / determinant];
    return [p, q, r, s, -(p * e + r * f), -(q * e + s * f)];
}

/** Where a point goes. */
export function moved([a, b, c, d, e, f], x, y) {
    return [a * x + c * y + e, b * x + d * y + f];
}

/** The greatest factor by which a map stretches a length. */
export function stretchOf([a, b, c, d]) {
    const sum = a * a + b * b + c * c + d * d;
    const determinant = a * d - b * c;
    return Math.sqrt((sum + Math.sqrt(Math.max(sum * sum - 4 * determinant * determinant, 0))) / 2);
}

/** Whether circles stay circles: turns, mirrors, moves and even scales. */
export function isSimilarity([a, b, c, d]) {
    const slack = 1e-6 * Math.max(Math.abs(a), Math.abs(b), Math.abs(c), Math.abs(d));
    const isTurn = Math.abs(a - d) <= slack && Math.abs(b + c) <= slack;
    return isTurn || (Math.abs(a + d) <= slack && Math.abs(b - c) <= slack);
}

/** The least box around a box that was moved. */
export function movedBox(map, box) {
    if (!map || box.isEmpty) return box;
    const { left, top, right, bottom } = box;
    const corners = [[left, top], [right, top], [right, bottom], [left, bottom]].map(([x, y]) => moved(map, x, y));
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    return new PixelBox(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys));
}
