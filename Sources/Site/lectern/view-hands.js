/** The hands that zoom and move what is seen of a board: fingers, a mouse, a wheel, and Space. */

import { capture } from "./dom.js";

/** CSS pixels that fingers that tap do not move. */
const slop = 8;
/** What one turn of a wheel scales by at most, as a power of e, and of a unit of its movement. */
const [mostWheel, wheelUnit] = [0.25, 0.01];

/** What takes pointers and keys for itself. */
export const controls = "button, a, input, select, textarea, summary, video, dialog, [contenteditable]";

/** Listens to the hands on the frame of a view. */
export class ViewHands {
    #view;
    #frame;
    #options;
    #acts;
    /** Fingers on the frame, in their order, with their first and last events. */
    #fingers = new Map();
    /** How fingers hold the page: the centre between them, and their distance; null while they do not. */
    #hold = null;
    #mouse = null;
    #isSpaceDown = false;

    /**
     * `options` are those of the view, as they are at each moment. Of `acts`, `zoomAt(zoom, clientX, clientY, x, y)` zooms so that what is
     * at a place of the window stays there; `settle()`: the hands rest.
     */
    constructor(view, frame, options, acts, signal) {
        [this.#view, this.#frame, this.#options, this.#acts] = [view, frame, options, acts];
        const first = { signal, capture: true, passive: false };
        for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
            frame.addEventListener(type, (event) => (event.pointerType === "touch" ? this.#touch(event) : this.#drag(event)), first);
        }
        frame.addEventListener("wheel", (event) => this.#roll(event), first);
        // Two fingers do not scroll or scale the page around the board.
        frame.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), first);
        addEventListener("blur", () => (this.isSpaceDown = false), { signal });
        addEventListener("keyup", (event) => event.key === " " && (this.isSpaceDown = false), { signal });
    }

    /** Whether fingers hold the page. */
    get isHolding() { return this.#hold !== null; }

    /** Whether a mouse or a pen moves the page, where it draws otherwise. */
    set isSpaceDown(isDown) {
        this.#isSpaceDown = isDown;
        this.#frame.toggleAttribute("data-space", isDown);
    }

    /** Leaves no trace on the frame. */
    close() {
        this.isSpaceDown = false;
        this.#frame.removeAttribute("data-pulled");
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
        if (fingers.length < 2 && !(isPulled && this.#view.isZoomed)) return false;
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
        this.#acts.zoomAt(this.#view.zoom * factor, x, y, this.#view.x + x - before.x, this.#view.y + y - before.y);
    }

    #release() {
        this.#fingers.clear();
        if (!this.#hold) return;
        this.#hold = null;
        this.#acts.settle();
    }

    /** A mouse or a pen moves the page where it does not draw. */
    #drag(event) {
        const { type, pointerId, clientX, clientY } = event;
        if (type === "pointerdown") {
            const isMouse = event.pointerType === "mouse";
            const pulls = (event.button === 0 && (this.#isSpaceDown || (isMouse && this.#options.isPulled === true))) || (isMouse && event.button === 1);
            if (!this.#view.isZoomed || !pulls || event.composedPath()[0].closest?.(controls)) return;
            this.#mouse = { pointerId, clientX, clientY };
            capture(this.#frame, pointerId);
            event.preventDefault();
        } else if (this.#mouse?.pointerId !== pointerId) return;
        // The mouse may have been lifted where the page is not told.
        else if (type === "pointermove" && event.buttons !== 0) {
            this.#view.moveBy(clientX - this.#mouse.clientX, clientY - this.#mouse.clientY);
            this.#mouse = { pointerId, clientX, clientY };
        } else {
            this.#mouse = null;
            this.#acts.settle();
        }
        this.#frame.toggleAttribute("data-pulled", this.#mouse !== null);
        event.stopPropagation();
    }

    #roll(event) {
        const unit = [1, 16, 400][event.deltaMode] ?? 1;
        const [x, y] = [event.deltaX * unit, event.deltaY * unit];
        if (event.ctrlKey) {
            event.preventDefault();
            const power = Math.min(Math.max(-y * wheelUnit, -mostWheel), mostWheel);
            this.#acts.zoomAt(this.#view.zoom * Math.exp(power), event.clientX, event.clientY);
        } else if (this.#view.isZoomed && this.#view.moveBy(-x, -y)) event.preventDefault();
    }
}
