/**
 * What is seen of a board: all of it, or a part that hands, wheels and keys choose. No message tells anybody.
 *
 * While the hand moves, the canvases that there are are moved and scaled by style alone; when it rests, the core paints the part
 * that is seen.
 */

import { t } from "./language.js";
import { iconButton, letterKeys, onPixelRatio } from "./dom.js";
import { bindHands, controls } from "./view-hands.js";

/** How many times larger than the whole page a page is seen at most, and by how much keys and buttons scale. */
const most = 16;
const step = 1.5;
/** What rests below it becomes the whole page. */
const least = 1.02;
/** Milliseconds without a movement after which it is made sharp. */
const restTime = 30;
/** CSS pixels that arrow keys move by. */
const arrowStep = 80;
/** Pixels of a canvas at most, each way. */
const longestSide = 4096;

const bounded = (zoom) => Math.min(Math.max(zoom, 1), most);

const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Zooms and moves the page that a canvas shows.
 *
 * Two fingers, or a wheel with Ctrl, zoom where they are; two fingers, a wheel, a mouse with Space or its middle button, and the arrow
 * keys move; `+`, `−` and `0` zoom in, out, and to the whole page. Another page begins at its top left.
 *
 * Events: `change`: something has moved; `rest`: it is painted as it is seen, with `{milliseconds}` since the last movement.
 */
export class BoardView extends EventTarget {
    /** How much larger than the whole page it is seen: 1 … 16. */
    zoom = 1;
    /** How far the upper left corner of the page is from its place, in CSS pixels. */
    x = 0;
    y = 0;
    #board;
    #canvas;
    #frame;
    #options;
    /** The canvas of a part, and the part that it has; null while the whole page is seen. */
    #sharp = null;
    #part = null;
    /** Whether the painter was asked for a part. */
    #asksPart = false;
    #hands;
    /** What of the page is at the upper left corner of the frame: parts of its width and height. */
    #corner = { x: 0, y: 0 };
    #timer = null;
    #movedAt = 0;
    #observer;
    #leaving = new AbortController();

    /**
     * @param {import("./board.js").Board | import("./replay.js").Replay} board
     * @param {HTMLCanvasElement} canvas the board's, in an element of its size, which has a position
     * @param {HTMLElement} frame where the page is seen while it is larger; it may be the element of the canvas
     * @param {object} [options]
     * @param {boolean} [options.isPulled] whether one finger or a mouse moves the page: where nobody draws
     * @param {Pick<import("./pen.js").Pen, "isBusy" | "giveUp"> | null} [options.pen] what draws on the canvas
     * @param {HTMLElement | null} [options.beside] lies in the frame, too, above the board or to its left
     */
    constructor(board, canvas, frame, { isPulled = false, pen = null, beside = null } = {}) {
        super();
        [this.#board, this.#canvas, this.#frame, this.#options] = [board, canvas, frame, { isPulled, pen, beside }];
        const { signal } = this.#leaving;
        this.#hands = bindHands(this, frame, this.#options, (...place) => this.#zoomAt(...place), () => this.#settle(), signal);
        board.addEventListener("page", () => this.#turn(), { signal });
        board.painter.onpart = (canvas, part) => this.#present(canvas, part);
        this.#observer = new ResizeObserver(() => this.#resize());
        this.#observer.observe(frame);
        this.#observer.observe(canvas);
        onPixelRatio(() => this.#resize(), signal);
    }

    /** Whether a part of the page is seen. */
    get isZoomed() { return this.zoom > 1; }
    /** Whether one finger or a mouse moves the page, `"touch"`: a finger alone; not while they draw above it. */
    get isPulled() { return this.#options.isPulled; }
    set isPulled(isPulled) { this.#options.isPulled = isPulled; }
    /** What draws above the page; as for the constructor. */
    set pen(pen) { this.#options.pen = pen; }
    /** CSS pixels a board unit. */
    get perUnit() { return this.#home().width * this.zoom / this.#board.size.width; }
    /** The box in which the page is seen, in CSS pixels from the place of the whole page. */
    get bounds() {
        const [home, frame] = [this.#home(), this.#box()];
        return { left: frame.left - home.left, top: frame.top - home.top, right: frame.right - home.left, bottom: frame.bottom - home.top };
    }

    /** Zooms to so many times the size of the whole page, around the middle of what is seen. */
    zoomTo(zoom) {
        const { left, top, right, bottom } = this.#box();
        this.#zoomAt(zoom, (left + right) / 2, (top + bottom) / 2);
        this.#settle();
    }

    zoomIn() { this.zoomTo(this.zoom * step); }
    zoomOut() { this.zoomTo(this.zoom / step); }
    showWhole() { this.zoomTo(1); }

    /** Moves the page by CSS pixels. @returns {boolean} whether it has moved */
    moveBy(x, y) {
        const before = [this.x, this.y];
        this.#put(this.zoom, this.x + x, this.y + y);
        return this.x !== before[0] || this.y !== before[1];
    }

    /** Makes the page as wide as its frame, where it is not, and shows its upper left corner. */
    fitWidth() {
        const [home, { left, right }] = [this.#home(), this.#box()];
        if (home.width < 1) return;
        this.#put((right - left) / home.width, Infinity, Infinity, true);
    }

    /** Takes a key that zooms or moves. */
    key(event) {
        if (letterKeys.of(event) === null) return;
        const [target] = event.composedPath();
        const isControl = Boolean(target.closest?.(controls));
        if (event.key === "+" || event.key === "=") this.zoomIn();
        else if (event.key === "-" || event.key === "−") this.zoomOut();
        else if (event.key === "0") this.showWhole();
        else if (event.key === " " && this.isZoomed && !isControl && this.#options.isPulled !== true) this.#hands.isSpaceDown = true;
        else if (arrows[event.key] && this.isZoomed && !isControl && !target.closest?.("[role=radiogroup], [role=listbox]")) {
            const [x, y] = arrows[event.key];
            this.moveBy(x * arrowStep, y * arrowStep);
        } else return;
        event.preventDefault();
    }

    /** Ends it, and shows the whole page as before. */
    close() {
        this.#leaving.abort();
        this.#observer.disconnect();
        [this.zoom, this.x, this.y] = [1, 0, 0];
        this.#settle();
        this.#board.painter.onpart = () => {};
        this.#sharp?.remove();
        this.#sharp = null;
        this.#hands.close();
        this.#move();
    }

    // Where things are.

    #home() {
        const { left, top, width, height } = this.#canvas.getBoundingClientRect();
        return { left: left - this.x, top: top - this.y, width: width / this.zoom, height: height / this.zoom };
    }

    #box() {
        const home = this.#home();
        const { left, top, right, bottom } = this.#frame.getBoundingClientRect();
        const style = getComputedStyle(this.#frame);
        const pad = (side) => Number.parseFloat(style[`padding${side}`]) || 0;
        const box = { left: left + pad("Left"), top: top + pad("Top"), right: right - pad("Right"), bottom: bottom - pad("Bottom") };
        const other = this.#options.beside?.getBoundingClientRect();
        if (other && other.width > 1) {
            if (other.bottom <= home.top + 1) box.top = Math.max(box.top, other.bottom);
            else if (other.right <= home.left + 1) box.left = Math.max(box.left, other.right);
        }
        return {
            left: Math.min(box.left, home.left), top: Math.min(box.top, home.top),
            right: Math.max(box.right, home.left + home.width), bottom: Math.max(box.bottom, home.top + home.height),
        };
    }

    /** Zooms so that what is at a place of the window stays there. */
    #zoomAt(zoom, clientX, clientY, x = this.x, y = this.y) {
        const to = bounded(zoom);
        const home = this.#home();
        const factor = to / this.zoom;
        const at = (place, start, offset) => place - start - (place - start - offset) * factor;
        this.#put(to, at(clientX, home.left, x), at(clientY, home.top, y));
    }

    /** Puts the page to a place, or as near as it may be. */
    #put(zoom, x, y, isForced = false) {
        if (this.#place(zoom, x, y, isForced)) this.#rest();
    }

    /** The same; what comes then is for the caller. */
    #place(zoom, x, y, isForced) {
        const [home, box] = [this.#home(), this.#box()];
        const to = bounded(zoom);
        const along = (place, start, end, origin, length) => {
            const room = end - start - length * to;
            if (to === 1) return 0;
            return room >= 0 ? start + room / 2 - origin : Math.min(Math.max(place, start + room - origin), start - origin);
        };
        const [toX, toY] = [
            along(x, box.left, box.right, home.left, home.width), along(y, box.top, box.bottom, home.top, home.height),
        ];
        if (!isForced && to === this.zoom && toX === this.x && toY === this.y) return false;
        [this.zoom, this.x, this.y] = [to, toX, toY];
        this.#corner = { x: (box.left - home.left - toX) / (home.width * to), y: (box.top - home.top - toY) / (home.height * to) };
        this.#move(home, box);
        return true;
    }

    /** The page or its frame may have another size: what was in the corner stays there. */
    #resize() {
        if (!this.isZoomed) return;
        this.#placeCorner();
        this.#rest();
    }

    #placeCorner() {
        const [home, box] = [this.#home(), this.#box()];
        if (home.width < 1) return;
        const { x, y } = this.#corner;
        this.#place(this.zoom, box.left - home.left - x * home.width * this.zoom, box.top - home.top - y * home.height * this.zoom, true);
    }

    #move(home = this.#home(), box = this.#box()) {
        const { style, parentElement } = this.#canvas;
        const { zoom, x, y, isZoomed } = this;
        parentElement.toggleAttribute("data-zoomed", isZoomed);
        this.#frame.toggleAttribute("data-zoomed", isZoomed);
        style.transform = isZoomed ? `translate(${x}px, ${y}px) scale(${zoom})` : "";
        style.transformOrigin = isZoomed ? "0 0" : "";
        style.willChange = isZoomed ? "transform" : "";
        const inset = [box.top - home.top, home.left + home.width - box.right, home.top + home.height - box.bottom, box.left - home.left];
        // Nothing of the page lies above what is around its frame.
        parentElement.style.clipPath = isZoomed ? `inset(${inset.map((length) => `${length}px`).join(" ")})` : "";
        this.#placeSharp(home);
        this.#board.showPointers();
        this.dispatchEvent(new Event("change"));
    }

    #placeSharp(home) {
        if (!this.#sharp) return;
        const { x, y, page } = this.#part;
        // CSS pixels a pixel of the part.
        const factor = (home.width * this.zoom) / page;
        this.#sharp.style.transform = `translate(${this.x + x * factor}px, ${this.y + y * factor}px) scale(${factor})`;
    }

    // What is painted.

    #rest() {
        this.#movedAt = performance.now();
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#settle(), restTime);
    }

    /** Has the part painted that is seen. */
    #settle() {
        clearTimeout(this.#timer);
        const { painter, size } = this.#board;
        // Not earlier: slow hands and wheels go on from there.
        if (!this.#hands.isHolding && this.isZoomed && this.zoom < least) this.#place(1, 0, 0);
        if (!this.isZoomed) {
            if (this.#asksPart) painter.look(null);
            this.#asksPart = false;
            return;
        }
        // What lies around it may have moved it since.
        this.#placeCorner();
        const [home, box] = [this.#home(), this.#box()];
        const [across, down] = [box.right - box.left, box.bottom - box.top];
        const ratio = Math.min(globalThis.devicePixelRatio ?? 1, longestSide / (across + 1), longestSide / (down + 1));
        // Pixels of the part lie on pixels of the screen.
        const even = (offset, origin) => Math.round((origin + offset) * ratio) / ratio - origin;
        [this.x, this.y] = [even(this.x, home.left), even(this.y, home.top)];
        this.#move(home, box);
        const page = home.width * this.zoom * ratio;
        const scale = page / size.width;
        const span = (start, end, origin, length) => {
            const low = Math.max(Math.floor((start - origin) * ratio + 1e-6), 0);
            return [low, Math.max(Math.min(Math.ceil((end - origin) * ratio - 1e-6), Math.ceil(length)) - low, 1)];
        };
        const [x, width] = span(box.left, box.right, home.left + this.x, page);
        const [y, height] = span(box.top, box.bottom, home.top + this.y, size.height * scale);
        this.#asksPart = true;
        painter.look({ x, y, width, height, scale, page });
    }

    /** A picture is there: of a part, or of the whole page. */
    #present(canvas, part) {
        if (this.#sharp && this.#sharp !== canvas) this.#sharp.remove();
        [this.#sharp, this.#part] = [canvas, part];
        if (canvas) {
            canvas.className = "lectern-part";
            canvas.setAttribute("aria-hidden", "true");
            const { offsetLeft, offsetTop, clientLeft, clientTop } = this.#canvas;
            // A page's style sheets are about other canvases.
            canvas.style.cssText = `all: initial; position: absolute; pointer-events: none; transform-origin: 0 0; will-change: transform;
                left: ${offsetLeft + clientLeft}px; top: ${offsetTop + clientTop}px; width: ${canvas.width}px; height: ${canvas.height}px;
                background: ${getComputedStyle(this.#canvas).backgroundColor};`;
            this.#placeSharp(this.#home());
            if (this.#canvas.nextSibling !== canvas) this.#canvas.after(canvas);
        }
        this.dispatchEvent(new CustomEvent("rest", { detail: { milliseconds: performance.now() - this.#movedAt } }));
    }

    /** Another page: it is seen as large, from its beginning. */
    #turn() {
        if (this.isZoomed) this.#put(this.zoom, Infinity, Infinity, true);
    }
}

/**
 * Buttons for a view: zoom out, zoom in, the whole page. What cannot be done is disabled.
 *
 * @param {BoardView} view
 * @returns {HTMLButtonElement[]}
 */
export function viewButtons(view) {
    const button = (icon, name, key, act) => {
        const made = iconButton(icon, name, key);
        made.addEventListener("click", act);
        return made;
    };
    const [out, into, whole] = [
        button("zoom-out", t("Zoom out"), "-", () => view.zoomOut()),
        button("zoom-in", t("Zoom in"), "+", () => view.zoomIn()),
        button("zoom-whole", t("Show the whole page"), "0", () => view.showWhole()),
    ];
    const show = () => {
        out.disabled = whole.disabled = !view.isZoomed;
        into.disabled = view.zoom >= most;
    };
    view.addEventListener("change", show);
    show();
    return [out, into, whole];
}
