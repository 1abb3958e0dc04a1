/**
 * What is seen of a board: all of it, or a part that hands, wheels and keys choose. No message tells anybody.
 *
 * While the hand moves, the canvases that there are are moved and scaled by style alone; when it rests, the core paints the part
 * that is seen.
 *
 * @module
 */

import { t } from "./language.js";
import { capture, iconButton, letterKeys, onPixelRatio } from "./dom.js";

/** How many times larger than the whole page a page is seen at most, and by how much keys and buttons scale. */
const most = 16;
const step = 1.5;
/** What rests below it becomes the whole page. */
const least = 1.02;
/** Milliseconds without a movement after which it is made sharp. */
const restTime = 30;
/** CSS pixels that fingers that tap do not move, and that arrow keys move by. */
const slop = 8;
const arrowStep = 80;
/** What one turn of a wheel scales by at most, as a power of e, and of a unit of its movement. */
const [mostWheel, wheelUnit] = [0.25, 0.01];
/** Pixels of a canvas at most, each way. */
const longestSide = 4096;

const bounded = (zoom) => Math.min(Math.max(zoom, 1), most);

const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const controls = "button, a, input, select, textarea, summary, video, dialog, [contenteditable]";

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
    /** Fingers on the frame, in their order, with their first and last events. */
    #fingers = new Map();
    /** How fingers or a mouse hold the page: the centre between them, and their distance; null while they do not. */
    #hold = null;
    #mouse = null;
    #isSpaceDown = false;
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
        const first = { signal, capture: true, passive: false };
        for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
            frame.addEventListener(type, (event) => this.#point(event), first);
        }
        frame.addEventListener("wheel", (event) => this.#roll(event), first);
        // Two fingers do not scroll or scale the page around the board.
        frame.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), first);
        addEventListener("blur", () => this.#holdSpace(false), { signal });
        addEventListener("keyup", (event) => event.key === " " && this.#holdSpace(false), { signal });
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
        else if (event.key === " " && this.isZoomed && !isControl && this.#options.isPulled !== true) this.#holdSpace(true);
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
        this.#holdSpace(false);
        this.#frame.removeAttribute("data-pulled");
        this.#move();
    }

    // Where things are.

    /** The place of the whole page in the window. */
    #home() {
        const { left, top, width, height } = this.#canvas.getBoundingClientRect();
        return { left: left - this.x, top: top - this.y, width: width / this.zoom, height: height / this.zoom };
    }

    /** The box of the window in which the page is seen. */
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

    /** Moves what there is. */
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
        if (!this.#hold && this.isZoomed && this.zoom < least) this.#place(1, 0, 0);
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

    // Hands.

    #point(event) {
        if (event.pointerType === "touch") this.#touch(event);
        else this.#drag(event);
    }

    #touch(event) {
        const { type, pointerId } = event;
        if (type === "pointerdown") {
            if (event.composedPath()[0].closest?.(controls) || this.#options.pen?.isBusy(event.timeStamp)) return;
            // The only one, whatever was missed of others.
            if (event.isPrimary) this.#release();
            this.#fingers.set(pointerId, { first: event, last: event });
            // Those that were there hold it from where they are now.
            for (const finger of this.#fingers.values()) finger.first = finger.last;
            if (this.#hold) this.#hold = this.#between("last");
        } else if (!this.#fingers.has(pointerId)) return;
        else if (type === "pointermove") {
            this.#fingers.get(pointerId).last = event;
            if (this.#hold) this.#pull();
            // A hand that lay there before its pen.
            else if (this.#options.pen?.isBusy(event.timeStamp)) this.#fingers.clear();
            else if (this.#hasMoved()) this.#grab();
        } else {
            this.#fingers.delete(pointerId);
            if (this.#hold && this.#fingers.size > 0) this.#hold = this.#between("last");
        }
        if (!this.#hold) return;
        event.stopPropagation();
        if (this.#fingers.size === 0) this.#release();
    }

    /** Whether fingers do more than tap or draw. */
    #hasMoved() {
        const { isPulled, pen } = this.#options;
        const fingers = [...this.#fingers.values()];
        if (fingers.length < 2 && !(isPulled && this.isZoomed)) return false;
        return fingers.some(({ first, last }) => Math.hypot(last.clientX - first.clientX, last.clientY - first.clientY) > slop);
    }

    /** Fingers hold the page from now on: nothing is drawn or tapped by them. */
    #grab() {
        this.#options.pen?.giveUp([...this.#fingers.values()].map(({ last }) => last));
        this.#hold = this.#between("first");
        this.#pull();
    }

    /** The centre between the fingers, and their distance, at their first or last places. */
    #between(name) {
        const fingers = [...this.#fingers.values()].slice(0, 2).map((finger) => finger[name]);
        const [x, y] = ["clientX", "clientY"].map((name) => fingers.reduce((sum, finger) => sum + finger[name], 0) / fingers.length);
        const distance = fingers.length > 1 ? Math.hypot(fingers[0].clientX - fingers[1].clientX, fingers[0].clientY - fingers[1].clientY) : 0;
        return { x, y, distance };
    }

    /** Moves the page with the fingers. */
    #pull() {
        const before = this.#hold;
        this.#hold = this.#between("last");
        const { x, y, distance } = this.#hold;
        const factor = before.distance > 0 && distance > 0 ? distance / before.distance : 1;
        this.#zoomAt(this.zoom * factor, x, y, this.x + x - before.x, this.y + y - before.y);
    }

    #release() {
        this.#fingers.clear();
        if (!this.#hold) return;
        this.#hold = null;
        this.#settle();
    }

    /** A mouse or a pen moves the page where it does not draw. */
    #drag(event) {
        const { type, pointerId, clientX, clientY } = event;
        if (type === "pointerdown") {
            const isMouse = event.pointerType === "mouse";
            const pulls = (event.button === 0 && (this.#isSpaceDown || (isMouse && this.#options.isPulled === true))) || (isMouse && event.button === 1);
            if (!this.isZoomed || !pulls || event.composedPath()[0].closest?.(controls)) return;
            this.#mouse = { pointerId, clientX, clientY };
            capture(this.#frame, pointerId);
            event.preventDefault();
        } else if (this.#mouse?.pointerId !== pointerId) return;
        // The mouse may have been lifted where the page is not told.
        else if (type === "pointermove" && event.buttons !== 0) {
            this.moveBy(clientX - this.#mouse.clientX, clientY - this.#mouse.clientY);
            this.#mouse = { pointerId, clientX, clientY };
        } else {
            this.#mouse = null;
            this.#settle();
        }
        this.#frame.toggleAttribute("data-pulled", this.#mouse !== null);
        event.stopPropagation();
    }

    #holdSpace(isDown) {
        this.#isSpaceDown = isDown;
        this.#frame.toggleAttribute("data-space", isDown);
    }

    #roll(event) {
        const unit = [1, 16, 400][event.deltaMode] ?? 1;
        const [x, y] = [event.deltaX * unit, event.deltaY * unit];
        if (event.ctrlKey) {
            event.preventDefault();
            const power = Math.min(Math.max(-y * wheelUnit, -mostWheel), mostWheel);
            this.#zoomAt(this.zoom * Math.exp(power), event.clientX, event.clientY);
        } else if (this.isZoomed && this.moveBy(-x, -y)) event.preventDefault();
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
