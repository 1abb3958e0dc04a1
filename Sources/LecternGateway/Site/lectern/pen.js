/**
 * The pointers on a canvas, as samples in board units.
 *
 * @module
 */

/**
 * A stroke under the pen.
 *
 * @typedef {object} PenStroke
 * @property {{x: number, y: number, f?: number, i?: number, z?: number, m: number}[]} points in board units
 * @property {{x: number, y: number}[]} predicted where the browser expects the pen next; never a part of the stroke
 * @property {number} startedAt when it began, as `performance.now()`
 * @property {boolean} isErasing whether the pen's eraser end or button draws it
 */

/** Listens to the pointers on a canvas; which of them draws is for its listener. */
export class Pen {
    /** Whether strokes begin. */
    isEnabled = false;
    #canvas;
    #board;
    #tell;
    #drawsWithFingers = true;
    #stroke = null;
    #listening = new AbortController();

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {() => {width: number, height: number}} board the size of the board
     * @param {object} listener `pen(phase, event, flags, numbers)` returns a change as `TeacherCore.pen`; `flags()` says what
     *   those of a pointer that touches are to have besides, `tool()` the numbers behind its sample; `fingers(draw)`;
     *   `began(stroke)`, `moved(stroke)`, `ended(stroke)`, `cancelled(stroke)`
     */
    constructor(canvas, board, listener) {
        [this.#canvas, this.#board, this.#tell] = [canvas, board, listener];
        const options = { signal: this.#listening.signal, passive: false };
        canvas.addEventListener("pointerdown", (event) => this.#down(event), options);
        canvas.addEventListener("pointermove", (event) => this.#move(event), options);
        for (const type of ["pointerup", "lostpointercapture"]) canvas.addEventListener(type, (event) => this.#take(2, event, 0, []), options);
        canvas.addEventListener("pointercancel", (event) => this.#take(3, event, 0, []), options);
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

    close() {
        this.#listening.abort();
    }

    #down(event) {
        // The first button, the pen's tip, or its eraser.
        const isEraser = event.pointerType === "pen" && (event.button === 5 || (event.buttons & 32) !== 0);
        if (event.button !== 0 && !isEraser) return;
        const flags = (event.isPrimary ? 1 : 0) + (isEraser ? 2 : 0) + this.#tell.flags();
        const { hasBegun } = this.#take(0, event, flags, [...this.#sample(event), ...this.#tell.tool()]);
        if (!hasBegun) return;
        event.preventDefault();
        try {
            this.#canvas.setPointerCapture(event.pointerId);
        } catch {
            // The pointer is gone already.
        }
    }

    #move(event) {
        if (this.#stroke?.pointer === event.pointerId) event.preventDefault();
        // The core has to know of each pen that hovers: the palm lies beside it.
        else if (event.pointerType !== "pen") return;
        const coalesced = event.getCoalescedEvents?.() ?? [];
        const samples = coalesced.length > 0 ? coalesced : [event];
        const predicted = event.getPredictedEvents?.() ?? [];
        this.#take(1, event, samples.length, [...samples, ...predicted].flatMap((event) => this.#sample(event)));
    }

    #take(phase, event, flags, numbers) {
        const change = this.#tell.pen(phase, event, flags, numbers);
        if (change.isCancelled) this.#end((stroke) => this.#tell.cancelled(stroke));
        if (change.hasBegun) {
            const { isErasing } = change;
            this.#stroke = { points: change.points, predicted: [], startedAt: performance.now(), isErasing, pointer: event.pointerId };
            this.#tell.began(this.#stroke);
        } else if (this.#stroke && change.first !== null) {
            const { points } = this.#stroke;
            points.length = change.first;
            points.push(...change.points);
            this.#stroke.predicted = change.predicted;
            this.#tell.moved(this.#stroke);
        }
        if (change.hasEnded) this.#end((stroke) => this.#tell.ended(stroke));
        return change;
    }

    #end(tell) {
        const stroke = this.#stroke;
        this.#stroke = null;
        if (stroke) tell(stroke);
    }

    /** Place, time, force, altitude and azimuth. */
    #sample(event) {
        const rectangle = this.#canvas.getBoundingClientRect();
        const { width, height } = this.#board();
        const x = ((event.clientX - rectangle.left) * width) / rectangle.width;
        const y = ((event.clientY - rectangle.top) * height) / rectangle.height;
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
