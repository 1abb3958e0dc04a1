/** What a lasso has selected, and where it was moved, turned and scaled to. */

/** The least and the greatest factor by which a selection is scaled. */
const leastScale = 0.05;
const mostScale = 50;

/** A selection under the hand of a teacher. Lengths are board units, angles radians, clockwise on the screen. */
export class Selection {
    /** The path around it, where it was selected. */
    path;
    /** The page that it is on. */
    page;
    /** Whether it is a copy: the original stays. */
    isCopy;
    /** The box of the path, by its centre and half its size. */
    centre;
    half;
    /** Where the centre is now, and how the box is turned and scaled around it. */
    at;
    turn = 0;
    scale = { x: 1, y: 1 };
    #board;

    /** Its centre stays on a board of that size. */
    constructor(path, page, board, isCopy = false) {
        [this.path, this.page, this.isCopy, this.#board] = [path, page, isCopy, board];
        const [xs, ys] = [path.map(({ x }) => x), path.map(({ y }) => y)];
        const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
        this.centre = { x: (left + right) / 2, y: (top + bottom) / 2 };
        this.half = { x: Math.max((right - left) / 2, 0.5), y: Math.max((bottom - top) / 2, 0.5) };
        this.at = { ...this.centre };
    }

    /** Where it goes. */
    get matrix() {
        const { centre, at, turn, scale } = this;
        const degrees = (turn * 180) / Math.PI;
        return new DOMMatrix().translate(at.x, at.y).rotate(degrees).scale(scale.x, scale.y).translate(-centre.x, -centre.y);
    }

    /** The same as the `m` of a lasso. */
    get map() {
        const { a, b, c, d, e, f } = this.matrix;
        return [a, b, c, d, e, f];
    }

    /** Whether it is anywhere else than where it was selected. */
    get isMoved() {
        const { centre, at, scale, turn } = this;
        return at.x !== centre.x || at.y !== centre.y || turn !== 0 || scale.x !== 1 || scale.y !== 1;
    }

    /** The path where it is now. */
    get movedPath() {
        const { matrix } = this;
        return this.path.map((point) => placeOf(matrix.transformPoint(point)));
    }

    /** A point of its box: −1 … 1 across and down, beyond 1 outside. */
    point(across, down) {
        const { centre, half } = this;
        return placeOf(this.matrix.transformPoint({ x: centre.x + across * half.x, y: centre.y + down * half.y }));
    }

    shift(x, y) {
        this.#put(this.at.x + x, this.at.y + y);
    }

    /** Turns by an angle, in steps of 15° where it is to be even. */
    turnTo(angle, isEven = false) {
        const step = Math.PI / 12;
        this.turn = isEven ? Math.round(angle / step) * step : angle;
        if (Math.abs(this.turn) < 1e-9) this.turn = 0;
    }

    /** Scales around its centre. */
    scaleBy(factor) {
        const { x, y } = this.scale;
        const bounded = boundedFactor(factor, x, y);
        this.scale = { x: x * bounded, y: y * bounded };
    }

    /** Scales so that a corner, −1 or 1 across and down, comes to a point; the opposite one stays, and its shape unless it is free. */
    scaleTo({ across, down }, to, isFree) {
        const anchor = this.point(-across, -down);
        const [cosine, sine] = [Math.cos(this.turn), Math.sin(this.turn)];
        const [dx, dy] = [to.x - anchor.x, to.y - anchor.y];
        const [x, y] = [dx * cosine + dy * sine, dy * cosine - dx * sine];
        const whole = { x: 2 * across * this.half.x, y: 2 * down * this.half.y };
        if (isFree) {
            this.scale = { x: bounded(x / whole.x), y: bounded(y / whole.y) };
        } else {
            const [w, h] = [whole.x * this.scale.x, whole.y * this.scale.y];
            this.scaleBy((x * w + y * h) / (w * w + h * h));
        }
        const [w, h] = [(whole.x * this.scale.x) / 2, (whole.y * this.scale.y) / 2];
        this.#put(anchor.x + w * cosine - h * sine, anchor.y + w * sine + h * cosine);
    }

    #put(x, y) {
        const { width, height } = this.#board;
        this.at = { x: Math.min(Math.max(x, 0), width), y: Math.min(Math.max(y, 0), height) };
    }
}

function placeOf({ x, y }) {
    return { x, y };
}

function bounded(factor) {
    return Math.min(Math.max(factor, leastScale), mostScale);
}

/** A factor that leaves both scales within bounds. */
function boundedFactor(factor, x, y) {
    const least = leastScale / Math.min(x, y);
    return Math.min(Math.max(factor, Math.min(least, 1)), Math.max(mostScale / Math.max(x, y), 1));
}

/**
 * A closed path with at most so many points, 4 or more: the ones that matter most (Douglas–Peucker), that is, those of the smallest
 * tolerance that leaves no more.
 */
export function simplified(points, most) {
    if (points.length <= most) return points;
    // How far each point is from the chord that it divides, and no more than the point that divided before it.
    const weights = new Float64Array(points.length);
    weights[0] = weights[points.length - 1] = Infinity;
    const open = [[0, points.length - 1, Infinity]];
    while (open.length > 0) {
        const [first, last, bound] = open.pop();
        const [a, b] = [points[first], points[last]];
        const length = Math.hypot(b.x - a.x, b.y - a.y);
        let [farthest, distance] = [-1, -1];
        for (let place = first + 1; place < last; place++) {
            const { x, y } = points[place];
            const along = length > 0 ? ((x - a.x) * (b.x - a.x) + (y - a.y) * (b.y - a.y)) / (length * length) : 0;
            const foot = Math.min(Math.max(along, 0), 1);
            const off = Math.hypot(x - a.x - foot * (b.x - a.x), y - a.y - foot * (b.y - a.y));
            if (off > distance) [farthest, distance] = [place, off];
        }
        if (farthest < 0) continue;
        weights[farthest] = Math.min(distance, bound);
        open.push([first, farthest, weights[farthest]], [farthest, last, weights[farthest]]);
    }
    const least = [...weights].sort((one, other) => other - one)[most - 1];
    let ties = most - weights.reduce((count, weight) => count + (weight > least ? 1 : 0), 0);
    return points.filter((_, place) => weights[place] > least || (weights[place] === least && ties-- > 0));
}
