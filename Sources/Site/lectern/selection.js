/** What a lasso has selected, and where it was moved, turned and scaled to; its loop and its frame above the board. */

/** The least and the greatest factor by which a selection is scaled. */
const leastScale = 0.05;
const mostScale = 50;

/** A selection under the hand of a teacher. Lengths are board units, angles radians, clockwise on the screen. */
export class Selection {
    /** The path around it, where it was selected. */
    path;
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
        const { left, right, top, bottom } = boundsOf(path);
        this.centre = { x: (left + right) / 2, y: (top + bottom) / 2 };
        this.half = { x: Math.max((right - left) / 2, 0.5), y: Math.max((bottom - top) / 2, 0.5) };
        this.at = { ...this.centre };
    }

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

export function boundsOf(points) {
    const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
    return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

function placeOf({ x, y }) {
    return { x, y };
}

function bounded(factor) {
    return Math.min(Math.max(factor, leastScale), mostScale);
}

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

/** CSS pixels from the box to the handle that turns it, and outside of the board where handles may be. */
const turnReach = 36;
const handleMargin = 6;
/** The same inside of a part of the board that is seen: nothing is seen outside of it. */
const zoomedMargin = 10;

/** Lays loops and frames over the board, as a view shows it. */
export class SelectionFrame {
    corners;
    #view;
    #root;
    #loop = null;
    #selection = null;

    constructor(view, root) {
        [this.#view, this.#root] = [view, root];
        this.corners = [...root.querySelectorAll("#selection [data-across]")];
    }

    #part(id) { return this.#root.getElementById(id); }

    get hasLoop() { return this.#loop !== null; }

    /** Shows a loop of points in board units; null for none. */
    showLoop(points) {
        this.#loop = points;
        this.#part("loop").setAttribute("d", points ? pathData(points, false) : "");
        this.#layOutline();
    }

    /** Shows the frame of a selection where that is now; null for none. */
    show(selection) {
        this.#selection = selection;
        this.#part("selection").hidden = !selection;
        this.#layOutline();
        if (!selection) {
            for (const id of ["selection-path", "selection-box"]) this.#part(id).setAttribute("d", "");
            return;
        }
        const view = this.#view;
        const { perUnit } = view;
        const path = this.#part("selection-path");
        if (path.dataset.length !== String(selection.path.length) || path.getAttribute("d") === "") {
            path.dataset.length = selection.path.length;
            path.setAttribute("d", pathData(selection.path, true));
        }
        path.setAttribute("transform", `matrix(${selection.map.join(" ")})`);
        const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([across, down]) => selection.point(across, down));
        this.#part("selection-box").setAttribute("d", pathData(corners, true));
        const { bounds } = view;
        // What lies outside of what is seen stays within reach.
        const margin = view.isZoomed ? -zoomedMargin : handleMargin;
        const near = (at, start, end) => Math.min(Math.max(at, start - margin), end + margin);
        const place = (target, { x, y }) => {
            target.style.left = `${near(x, bounds.left, bounds.right)}px`;
            target.style.top = `${near(y, bounds.top, bounds.bottom)}px`;
        };
        const inPixels = ({ x, y }) => ({ x: view.x + x * perUnit, y: view.y + y * perUnit });
        const middle = inPixels(selection.at);
        const beyond = (across, down, reach) => {
            const point = inPixels(selection.point(across, down));
            const length = Math.hypot(point.x - middle.x, point.y - middle.y) || 1;
            return { x: point.x + ((point.x - middle.x) / length) * reach, y: point.y + ((point.y - middle.y) / length) * reach };
        };
        for (const corner of this.corners) {
            place(corner, beyond(Number(corner.dataset.across), Number(corner.dataset.down), 10));
        }
        const top = inPixels(selection.point(0, -1));
        // Above the box, or below it where there is no room.
        const isBelow = top.y < bounds.top + turnReach + 8 && Math.cos(selection.turn) > 0;
        place(this.#part("selection-turn"), beyond(0, isBelow ? 1 : -1, turnReach));
        this.#placeTools(corners.map(inPixels), middle.x, bounds, isBelow);
    }

    /** Puts the buttons below the selection, above it where it is low, and never outside of what is seen. */
    #placeTools(corners, middle, bounds, isTurnBelow) {
        const tools = this.#part("selection-tools");
        const { top, bottom } = boundsOf(corners);
        const { offsetWidth, offsetHeight } = tools;
        const gap = 28;
        const below = bottom + gap + (isTurnBelow ? turnReach : 0);
        const above = top - gap - turnReach - offsetHeight;
        const fits = (y) => y >= bounds.top && y + offsetHeight <= bounds.bottom;
        const y = fits(below) ? below : fits(above) ? above : bounds.bottom - offsetHeight - 8;
        const x = middle - offsetWidth / 2;
        tools.style.left = `${Math.min(Math.max(x, bounds.left + 8), Math.max(bounds.right - offsetWidth - 8, bounds.left + 8))}px`;
        tools.style.top = `${y}px`;
    }

    /** Lays the outline over the board, in board units. */
    #layOutline() {
        const outline = this.#part("outline");
        const isSeen = this.hasLoop || this.#selection !== null;
        outline.toggleAttribute("hidden", !isSeen);
        if (!isSeen) return;
        const { perUnit, x, y } = this.#view;
        const { clientWidth, clientHeight } = this.#part("board");
        outline.setAttribute("viewBox", [-x, -y, clientWidth, clientHeight].map((length) => length / perUnit).join(" "));
    }
}

function pathData(points, isClosed) {
    return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}${isClosed ? "Z" : ""}`;
}
