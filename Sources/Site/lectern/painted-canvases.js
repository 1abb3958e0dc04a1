/**
 * The canvases of a board: that of the whole page, and two for the part of it that is seen, of which one is shown and one is painted.
 */

/** Puts pixels on the canvas of what is to be seen. */
export class PaintedCanvases {
    /** Whether the canvas of the whole page has another page, or the page in another size. */
    isWholeStale = false;
    #canvas;
    #context;
    /** The contexts of the part that is shown, and of the next one. */
    #parts = [];
    /** The part that is painted; null for the whole page. */
    #part = null;
    /** Where it is painted, null until its size is known; whether that was shown; and the box of what has changed on it since. */
    #target = null;
    #isShown = false;
    #changed = null;

    /** The canvas is that of the whole page. */
    constructor(canvas) {
        [this.#canvas, this.#context] = [canvas, canvas.getContext("2d")];
    }

    /** Something else is painted from now on: a part as for `Painter.look`, or null. */
    begin(part) {
        [this.#part, this.#target] = [part, null];
    }

    /** Makes the canvas as large as what is painted; returns whether it is another one, and blank. */
    fit({ width, height }) {
        const known = this.#target?.canvas;
        if (known && known.width === width && known.height === height) return false;
        this.#target = this.#context;
        if (this.#part) {
            // The other one is seen until this one is done.
            this.#target = this.#parts[1] ?? document.createElement("canvas").getContext("2d");
            this.#parts = [this.#parts[0] ?? null, this.#target];
        }
        const { canvas } = this.#target;
        if (canvas.width === width && canvas.height === height) this.#target.clearRect(0, 0, width, height);
        else [canvas.width, canvas.height] = [width, height];
        [this.#isShown, this.#changed] = [false, null];
        return true;
    }

    put({ x, y, pixels }) {
        this.#target.putImageData(pixels, x, y);
        const { left, top, right, bottom } = this.#changed ?? { left: x, top: y, right: x, bottom: y };
        this.#changed = {
            left: Math.min(left, x), top: Math.min(top, y), right: Math.max(right, x + pixels.width), bottom: Math.max(bottom, y + pixels.height),
        };
    }

    /**
     * All is painted. Returns what is to be seen in place of what was: the part with its canvas, null for the whole page; null where
     * that goes on.
     */
    present() {
        const [part, isNew] = [this.#part, !this.#isShown];
        const { canvas } = this.#target;
        if (!part) this.isWholeStale = false;
        else if (this.#changed) this.#copyToWhole(part, canvas, this.#changed);
        [this.#isShown, this.#changed] = [true, null];
        if (!isNew) return null;
        if (part) this.#parts.reverse();
        else this.#parts = [];
        return { canvas: part && canvas, part };
    }

    /** Shows a part on the canvas of the page, for those who move on from it. */
    #copyToWhole({ x, y, page }, canvas, { left, top, right, bottom }) {
        if (this.isWholeStale) this.#context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
        this.isWholeStale = false;
        const factor = this.#canvas.width / page;
        const [width, height] = [right - left, bottom - top];
        const place = [(x + left) * factor, (y + top) * factor, width * factor, height * factor];
        this.#context.clearRect(...place);
        this.#context.drawImage(canvas, left, top, width, height, ...place);
    }
}
