/**
 * The pointers above a board: tips, and the trails behind them.
 *
 * They lie on a canvas of their own above the board's, which is in the page while a pointer is seen: no pixel of the board is
 * drawn for them.
 *
 * @module
 */

/** Radius of a tip in line widths, and in CSS pixels at least. */
const tipSize = 1.5;
const leastTip = 5;
/** Opacity of a trail at its tip. */
const trailOpacity = 0.55;

/** Draws pointers above the canvas of a board. */
export class PointerLayer {
    #board;
    #canvas = null;

    /** @param {HTMLCanvasElement} canvas the board's */
    constructor(canvas) {
        this.#board = canvas;
    }

    /**
     * Draws what is seen now, and nothing else.
     *
     * @param {ReturnType<import("./records.js").pointersOf>} pointers
     * @param {{width: number, height: number}} size the board's, in its units
     */
    show(pointers, size) {
        if (pointers.length === 0) return this.close();
        const context = this.#prepare();
        if (!context) return;
        const { left, top, width: across, height: down } = this.#place(size);
        for (const { colour, width, trail, tip } of pointers) {
            const radius = Math.max(width * across * tipSize, leastTip);
            [context.strokeStyle, context.fillStyle] = [colour, colour];
            let last = null;
            for (const [x, y, opacity] of tip[2] > 0 ? [...trail, tip] : trail) {
                const point = [left + x * across, top + y * down];
                if (last) {
                    context.lineWidth = 2 * radius * Math.max(opacity, 0.15);
                    context.beginPath();
                    context.moveTo(...last);
                    context.lineTo(...point);
                    // In place of what is there: where two parts meet it is no darker.
                    [context.globalCompositeOperation, context.globalAlpha] = ["destination-out", 1];
                    context.stroke();
                    [context.globalCompositeOperation, context.globalAlpha] = ["source-over", opacity * trailOpacity];
                    context.stroke();
                }
                last = point;
            }
            if (tip[2] <= 0) continue;
            context.globalAlpha = tip[2];
            context.beginPath();
            context.arc(left + tip[0] * across, top + tip[1] * down, radius, 0, 2 * Math.PI);
            context.fill();
            // So that it is seen on ink of its own colour.
            context.strokeStyle = "#fff";
            context.lineWidth = 1.5;
            context.stroke();
        }
        context.globalAlpha = 1;
    }

    /** Takes the canvas off the page. */
    close() {
        this.#canvas?.remove();
        this.#canvas = null;
    }

    /** Where the board is on the layer: its upper left corner, and CSS pixels a board unit. */
    #place(size) {
        const { clientWidth, clientHeight, style } = this.#board;
        if (!style.transform) return { left: 0, top: 0, width: clientWidth / size.width, height: clientHeight / size.height };
        const board = this.#board.getBoundingClientRect();
        const layer = this.#canvas.getBoundingClientRect();
        return { left: board.left - layer.left, top: board.top - layer.top, width: board.width / size.width, height: board.height / size.height };
    }

    /** A blank canvas above the part of the board that the window shows; null where that is not seen. */
    #prepare() {
        const { offsetLeft, offsetTop, clientLeft, clientTop, clientWidth, clientHeight, parentNode } = this.#board;
        if (!parentNode || clientWidth === 0) return null;
        this.#canvas ??= document.createElement("canvas");
        const canvas = this.#canvas;
        canvas.className = "lectern-pointers";
        canvas.setAttribute("aria-hidden", "true");
        let box = { left: 0, top: 0, width: clientWidth, height: clientHeight };
        if (this.#board.style.transform) {
            // Larger than its place, and maybe than any canvas.
            const { left, top, right, bottom } = this.#board.getBoundingClientRect();
            const { m41, m42 } = new DOMMatrix(this.#board.style.transform);
            const home = { left: left - m41, top: top - m42 };
            const seen = { left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight) };
            if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) return null;
            box = { left: seen.left - home.left, top: seen.top - home.top, width: seen.right - seen.left, height: seen.bottom - seen.top };
        }
        // A page's style sheets are about other canvases.
        canvas.style.cssText = `all: initial; position: absolute; pointer-events: none; left: ${offsetLeft + clientLeft + box.left}px;
            top: ${offsetTop + clientTop + box.top}px; width: ${box.width}px; height: ${box.height}px;`;
        // Above a part of the board that is seen more sharply.
        const next = this.#board.nextElementSibling;
        const below = next?.className === "lectern-part" ? next : this.#board;
        if (below.nextSibling !== canvas) below.after(canvas);
        const ratio = globalThis.devicePixelRatio ?? 1;
        [canvas.width, canvas.height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)];
        const context = canvas.getContext("2d");
        context.scale(ratio, ratio);
        [context.lineCap, context.lineJoin] = ["round", "round"];
        return context;
    }
}
