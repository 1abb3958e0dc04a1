/**
 * Strokes from a pen, a finger or a mouse: pointer events as points of a message.
 *
 * @module
 */

import { Element } from "./model.js";

/** Points of one stroke at most; a longer one is ended. */
const mostPoints = 50_000;
/** A pen was used so recently that a touch is the palm, in milliseconds. */
const palmTime = 1500;
/** Points that the browser predicts and that are passed on. */
const mostPredicted = 8;

/**
 * A stroke under the pen.
 *
 * @typedef {object} PenStroke
 * @property {{x: number, y: number, f?: number, i?: number, z?: number, m: number}[]} points in board units
 * @property {{x: number, y: number}[]} predicted where the browser expects the pen next; never a part of the stroke
 * @property {number} startedAt when it began, as `performance.now()`
 * @property {boolean} isErasing whether the pen's eraser end or button draws it
 */

/** Listens to the pointers on a canvas. */
export class Pen {
    /** Whether strokes begin. */
    isEnabled = true;
    /** Whether fingers draw too; where a pen is used they do not. */
    drawsWithFingers = true;
    #canvas;
    #board;
    #handlers;
    #stroke = null;
    #pointer = null;
    #pointerType = "";
    #penAt = -Infinity;
    /** Fingers on the canvas: of two none draws until both are gone. */
    #fingers = new Set();
    #listening = new AbortController();

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {() => {width: number, height: number}} board the size of the board
     * @param {object} handlers `began(stroke)`, `moved(stroke, first)` with the index of the first new point,
     *   `ended(stroke)`, `cancelled(stroke)`
     */
    constructor(canvas, board, handlers) {
        [this.#canvas, this.#board, this.#handlers] = [canvas, board, handlers];
        const options = { signal: this.#listening.signal, passive: false };
        canvas.addEventListener("pointerdown", (event) => this.#down(event), options);
        canvas.addEventListener("pointermove", (event) => this.#move(event), options);
        canvas.addEventListener("pointerup", (event) => this.#up(event), options);
        canvas.addEventListener("pointercancel", (event) => this.#cancel(event), options);
        for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
            canvas.addEventListener(type, (event) => this.#fingers.delete(event.pointerId), options);
        }
        canvas.addEventListener("lostpointercapture", (event) => this.#up(event), options);
        canvas.addEventListener("contextmenu", (event) => event.preventDefault(), options);
        // Safari selects text and shows a magnifier otherwise.
        canvas.addEventListener("touchstart", (event) => {
            if (this.#draws(event.touches.length > 1 ? "touch" : "pen")) event.preventDefault();
        }, options);
    }

    close() {
        this.#listening.abort();
    }

    #draws(pointerType) {
        if (!this.isEnabled) return false;
        return pointerType !== "touch" || this.drawsWithFingers;
    }

    #down(event) {
        if (event.pointerType === "pen") {
            this.#penAt = performance.now();
            // The hand often touches before the pen does.
            if (this.#pointer !== null && this.#pointerType === "touch") this.#handlers.cancelled(this.#end());
        }
        if (event.pointerType === "touch") {
            // The only one, whatever was missed of others.
            if (event.isPrimary) this.#fingers.clear();
            this.#fingers.add(event.pointerId);
            if (this.#fingers.size > 1) {
                if (this.#pointerType === "touch" && this.#pointer !== null) this.#handlers.cancelled(this.#end());
                return;
            }
        }
        const isPalm = event.pointerType === "touch" && performance.now() - this.#penAt < palmTime;
        if (!this.#draws(event.pointerType) || isPalm || this.#pointer !== null) return;
        // The first button, the pen's tip, or its eraser.
        const isErasing = event.pointerType === "pen" && (event.button === 5 || (event.buttons & 32) !== 0);
        if (event.button !== 0 && !isErasing) return;
        event.preventDefault();
        [this.#pointer, this.#pointerType] = [event.pointerId, event.pointerType];
        try {
            this.#canvas.setPointerCapture(event.pointerId);
        } catch {
            // The pointer is gone already.
        }
        this.#stroke = { points: [], predicted: [], startedAt: performance.now(), startedEvent: event.timeStamp, isErasing };
        this.#add([event]);
        this.#handlers.began(this.#stroke);
    }

    #move(event) {
        if (event.pointerType === "pen") this.#penAt = performance.now();
        if (event.pointerId !== this.#pointer) return;
        event.preventDefault();
        const first = this.#stroke.points.length;
        const events = event.getCoalescedEvents?.() ?? [];
        this.#add(events.length > 0 ? events : [event]);
        const predicted = event.getPredictedEvents?.() ?? [];
        this.#stroke.predicted = predicted.slice(0, mostPredicted).map((event) => this.#point(event));
        if (this.#stroke.points.length > first) this.#handlers.moved(this.#stroke, first);
        if (this.#stroke.points.length >= mostPoints) this.#up(event);
    }

    #up(event) {
        if (event.pointerId !== this.#pointer) return;
        const stroke = this.#end();
        this.#handlers.ended(stroke);
    }

    #cancel(event) {
        if (event.pointerId !== this.#pointer) return;
        this.#handlers.cancelled(this.#end());
    }

    #end() {
        const stroke = this.#stroke;
        [this.#stroke, this.#pointer] = [null, null];
        return stroke;
    }

    #point(event) {
        const rectangle = this.#canvas.getBoundingClientRect();
        const { width, height } = this.#board();
        const x = ((event.clientX - rectangle.left) * width) / rectangle.width;
        const y = ((event.clientY - rectangle.top) * height) / rectangle.height;
        const point = { x: rounded(x, 100), y: rounded(y, 100) };
        if (event.pointerType === "pen") Object.assign(point, penState(event));
        point.m = rounded(Math.max(event.timeStamp - this.#stroke.startedEvent, 0), 10);
        return point;
    }

    #add(events) {
        const { points } = this.#stroke;
        for (const event of events) {
            const point = this.#point(event);
            const last = points[points.length - 1];
            if (last && last.x === point.x && last.y === point.y && last.f === point.f) continue;
            points.push(point);
        }
    }
}

/** Force, altitude and azimuth of a pen. */
function penState(event) {
    const state = { f: rounded(event.pressure, 1000) };
    if (event.altitudeAngle !== undefined) {
        state.i = rounded(event.altitudeAngle, 1000);
        state.z = rounded(event.azimuthAngle, 1000);
    } else if (event.tiltX || event.tiltY) {
        const [x, y] = [Math.tan((event.tiltX * Math.PI) / 180), Math.tan((event.tiltY * Math.PI) / 180)];
        state.i = rounded(Math.atan(1 / Math.hypot(x, y)), 1000);
        state.z = rounded((Math.atan2(y, x) + 2 * Math.PI) % (2 * Math.PI), 1000);
    }
    return state;
}

function rounded(value, parts) {
    return Math.round(value * parts) / parts;
}

/** The element of a stroke: the tool's, or the eraser's where the pen's other end draws. */
export function elementOf(stroke, tool) {
    return stroke.isErasing ? Element.eraser : tool;
}
