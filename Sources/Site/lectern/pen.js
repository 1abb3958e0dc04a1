/** The pointers on a canvas, as samples in board units. */

import { capture, isEraser, placeOn, samplesOf } from "./dom.js";

/**
 * A stroke under the pen.
 *
 * @typedef {object} PenStroke
 * @property {{x: number, y: number, f?: number, i?: number, z?: number, m: number}[]} points in board units
 * @property {{x: number, y: number}[]} predicted where the browser expects the pen next; never a part of the stroke
 * @property {number} startedAt when it began, as `performance.now()`
 * @property {boolean} isErasing whether the pen's eraser end or button draws it
 * @property {number} [element] of the even shape that it has become
 */

/** Milliseconds after which a pen that rests asks whether its stroke is a shape, and CSS pixels that it does not leave then. */
const restTime = 510;
const restReach = 4;
/** Milliseconds after a pen was seen in which the hand may be the one that holds it. */
const palmTime = 300;

/** Listens to the pointers on a canvas; which of them draws is for its listener. */
export class Pen {
    /** Whether strokes begin. */
    isEnabled = false;
    #canvas;
    #board;
    #tell;
    #drawsWithFingers = true;
    #stroke = null;
    /** The samples of the stroke, and what else the core was told of it. */
    #drawn = null;
    #isEven = false;
    /** Where the pen rests, and until when. */
    #restPlace = null;
    #restTimer = null;
    /** Whether a mouse or a pen points without touching. */
    #isHovering = false;
    /** When a pen was seen last, as the time stamps of events. */
    #penAt = -Infinity;
    #listening = new AbortController();

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {() => {width: number, height: number}} board the size of the board
     * @param {object} listener `pen(phase, event, flags, numbers)` returns a change as `TeacherCore.pen`; `flags()` says what
     *   those of a pointer that touches are to have besides, `tool()` the numbers behind its sample; `fingers(draw)`;
     *   `even(isEven)` with Shift; `tapped(count)` by two or three fingers; `began(stroke)`, `moved(stroke)`, `ended(stroke)`,
     *   `cancelled(stroke)`; `lost(draw)`: the system has taken a stroke back, which `draw()` draws again; `hovers()`: whether what does not touch points; `hovered(event, numbers, place)`: where it is then, `place`
     *   null where it points no longer
     */
    constructor(canvas, board, listener) {
        [this.#canvas, this.#board, this.#tell] = [canvas, board, listener];
        const options = { signal: this.#listening.signal, passive: false };
        canvas.addEventListener("pointerdown", (event) => this.#down(event), options);
        canvas.addEventListener("pointermove", (event) => this.#move(event), options);
        for (const type of ["pointerup", "lostpointercapture"]) canvas.addEventListener(type, (event) => this.#take(2, event, 0, this.#sample(event)), options);
        canvas.addEventListener("pointercancel", (event) => this.#cancel(event), options);
        canvas.addEventListener("pointerleave", (event) => this.#hover(event, false), options);
        canvas.addEventListener("contextmenu", (event) => event.preventDefault(), options);
        // Safari selects text and shows a magnifier otherwise.
        canvas.addEventListener("touchstart", (event) => {
            if (this.isEnabled && (event.touches.length <= 1 || this.drawsWithFingers)) event.preventDefault();
        }, options);
    }

    /** Whether fingers draw too; where a pen is used they do not. */
    get drawsWithFingers() { return this.#drawsWithFingers; }
    set drawsWithFingers(draw) {
        this.#drawsWithFingers = draw;
        this.#tell.fingers(draw);
    }

    /** Whether a hand that touches the board at a time belongs to a stroke: a mouse or a pen draws, or one was just near. */
    isBusy(time) {
        return (this.#stroke !== null && this.#stroke.kind !== "touch") || time - this.#penAt < palmTime;
    }

    /** Gives up what pointers draw: they do something else. @param {PointerEvent[]} events one of each */
    giveUp(events) {
        for (const event of events) this.#take(3, event, 0, []);
    }

    close() {
        this.#listening.abort();
    }

    #down(event) {
        // The first button, the pen's tip, its eraser, or its tip while the button on its barrel is held.
        const erases = isEraser(event);
        if (event.button !== 0 && !erases) return;
        this.#hold(event.shiftKey);
        const flags = (event.isPrimary ? 1 : 0) + (erases ? 2 : 0) + this.#tell.flags();
        const [sample, tool] = [this.#sample(event), this.#tell.tool()];
        const { hasBegun } = this.#take(0, event, flags, [...sample, ...tool]);
        if (!hasBegun) return;
        this.#drawn = { samples: [sample], tool, flags };
        this.#rest(event, sample);
        this.#isHovering = false;
        event.preventDefault();
        capture(this.#canvas, event.pointerId);
    }

    #move(event) {
        if (this.#stroke?.pointer === event.pointerId) {
            // A mouse whose other button is still held, or that was lifted above a dialog of the browser, which tells no page.
            if (event.pointerType === "mouse" && (event.buttons & 1) === 0) return void this.#take(2, event, 0, this.#sample(event));
            event.preventDefault();
            this.#hold(event.shiftKey);
        } else {
            this.#hover(event, event.buttons === 0);
            // The core has to know of each pen that hovers, for the palm lies beside it, and whether fingers tap or move.
            if (event.pointerType === "mouse") return;
        }
        const samples = samplesOf(event);
        const predicted = event.getPredictedEvents?.() ?? [];
        const numbers = [...samples, ...predicted].map((event) => this.#sample(event));
        if (this.#stroke?.pointer === event.pointerId) this.#drawn.samples.push(...numbers.slice(0, samples.length));
        this.#take(1, event, samples.length, numbers.flat());
        if (this.#stroke?.pointer === event.pointerId) this.#rest(event, numbers[samples.length - 1]);
    }

    /** Asks whether the stroke is a shape where the pen stays for a while. */
    #rest({ pointerId, pointerType, timeStamp }, [x, y]) {
        const place = this.#restPlace;
        // A hand trembles on the screen, however large the board is seen.
        const reach = (restReach * this.#board().width) / this.#canvas.getBoundingClientRect().width;
        if (place && place.pointerId === pointerId && Math.abs(x - place.x) <= reach && Math.abs(y - place.y) <= reach) return;
        clearTimeout(this.#restTimer);
        this.#restPlace = { x, y, pointerId };
        const began = performance.now();
        this.#restTimer = setTimeout(() => {
            if (this.#stroke?.pointer !== pointerId) return;
            const time = timeStamp + performance.now() - began;
            this.#take(5, { pointerId, pointerType, timeStamp: time }, 0, [x, y, time, NaN, NaN, NaN, reach]);
        }, restTime);
    }

    /** The system takes a pointer: what it has drawn is given up, and offered. */
    #cancel(event) {
        const drawn = this.#stroke?.pointer === event.pointerId ? this.#drawn : null;
        this.#take(3, event, 0, []);
        // A gesture is begun again by hand.
        if (drawn && drawn.samples.length > 2 && (drawn.flags & 4) === 0) this.#tell.lost(() => this.#drawAgain(drawn));
    }

    #drawAgain({ samples, tool, flags }) {
        if (this.#stroke) return;
        // No finger, which may be one of two, or a palm.
        const pointer = { pointerId: -1, pointerType: (flags & 2) !== 0 ? "pen" : "mouse", timeStamp: -Infinity };
        if (!this.#take(0, pointer, 1 + (flags & 2), [...samples[0], ...tool]).hasBegun) return;
        this.#take(1, pointer, samples.length - 1, samples.slice(1).flat());
        this.#take(2, pointer, 0, samples.at(-1));
    }

    /** Lines are held to a few directions, and boxes to squares, or not. */
    #hold(isEven) {
        if (isEven === this.#isEven) return;
        this.#isEven = isEven;
        this.#tell.even(isEven);
    }

    /** What is above the board points, or points no longer. */
    #hover(event, isAbove) {
        const points = isAbove && event.pointerType !== "touch" && this.isEnabled && !this.#stroke && this.#tell.hovers();
        if (!points && !this.#isHovering) return;
        this.#isHovering = points;
        const sample = points ? this.#sample(event) : null;
        this.#tell.hovered(event, sample ? [...sample, ...this.#tell.tool()] : [], sample && { x: sample[0], y: sample[1] });
    }

    #take(phase, event, flags, numbers) {
        if (event.pointerType === "pen") this.#penAt = event.timeStamp;
        const change = this.#tell.pen(phase, event, flags, numbers);
        if (change.isCancelled) this.#end((stroke) => this.#tell.cancelled(stroke));
        if (change.hasBegun) {
            const { isErasing } = change;
            this.#stroke = { points: change.points, predicted: [], startedAt: performance.now(), isErasing, pointer: event.pointerId, kind: event.pointerType };
            this.#tell.began(this.#stroke);
        } else if (this.#stroke && change.first !== null) {
            const { points } = this.#stroke;
            points.length = change.first;
            points.push(...change.points);
            this.#stroke.predicted = change.predicted;
            if (change.element !== null) this.#stroke.element = change.element;
            this.#tell.moved(this.#stroke);
        }
        if (change.hasEnded) this.#end((stroke) => this.#tell.ended(stroke));
        if (change.tap > 0) this.#tell.tapped(change.tap);
        return change;
    }

    #end(tell) {
        const stroke = this.#stroke;
        clearTimeout(this.#restTimer);
        [this.#stroke, this.#restPlace] = [null, null];
        if (stroke) tell(stroke);
    }

    /** Place, time, force, altitude and azimuth. */
    #sample(event) {
        const { x, y } = placeOn(this.#canvas, this.#board(), event);
        return [x, y, event.timeStamp, ...(event.pointerType === "pen" ? penState(event) : [NaN, NaN, NaN])];
    }
}

/** Force, altitude and azimuth of a pen. */
function penState({ pressure, altitudeAngle, azimuthAngle, tiltX, tiltY }) {
    if (altitudeAngle !== undefined) return [pressure, altitudeAngle, azimuthAngle];
    if (!tiltX && !tiltY) return [pressure, NaN, NaN];
    const [x, y] = [Math.tan((tiltX * Math.PI) / 180), Math.tan((tiltY * Math.PI) / 180)];
    return [pressure, Math.atan(1 / Math.hypot(x, y)), (Math.atan2(y, x) + 2 * Math.PI) % (2 * Math.PI)];
}
