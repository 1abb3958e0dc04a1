/**
 * A canvas in the shape of a board.
 *
 * @module
 */

/** Keeps a canvas in the shape of a board, and knows how many pixels of the screen it is wide. */
export class BoardCanvas {
    /** How many pixels of the screen the canvas is wide; 0 while it is not shown. */
    pixels = 0;
    #canvas;
    #onshape;
    #observer;

    /**
     * @param {HTMLCanvasElement} canvas its width is a style sheet's
     * @param {(size: {width: number, height: number}) => void} onshape called when it has got another shape
     * @param {() => void} onresize called when {@link pixels} has changed
     */
    constructor(canvas, onshape, onresize) {
        [this.#canvas, this.#onshape] = [canvas, onshape];
        this.#observer = new ResizeObserver(([entry]) => {
            const box = entry.devicePixelContentBoxSize?.[0];
            const pixels = box ? box.inlineSize : entry.contentRect.width * (globalThis.devicePixelRatio ?? 1);
            if (Math.round(pixels) === this.pixels || pixels < 1) return;
            this.pixels = Math.round(pixels);
            onresize();
        });
        this.#observer.observe(canvas);
    }

    /** Gives the canvas the shape of a board of that size. */
    shape({ width, height }) {
        const shape = `${width} / ${height}`;
        if (this.#canvas.style.aspectRatio === shape) return;
        this.#canvas.style.aspectRatio = shape;
        this.#onshape({ width, height });
    }

    /** The canvas keeps its shape and its picture. */
    close() {
        this.#observer.disconnect();
    }
}
