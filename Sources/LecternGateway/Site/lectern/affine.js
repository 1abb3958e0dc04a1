/**
 * Affine maps of the plane: `[a, b, c, d, e, f]` stands for x' = a·x + c·y + e, y' = b·x + d·y + f.
 *
 * @module
 */

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
