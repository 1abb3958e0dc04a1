/** A ring where an eraser is, as large as what it wipes. */

import { layoutAround } from "./dom.js";

/** Follows the pointers on a teacher's canvas while an eraser is chosen, and a pen whose eraser end or button erases. */
export class EraserCursor {
    #teacher;
    #isChosen = false;
    #ring = document.createElement("div");
    /** The pointer, where it is in the window, and whether it erases whatever is chosen; null where none is on the board. */
    #at = null;

    /** The tool of the teacher has the width. */
    constructor(teacher, signal) {
        this.#teacher = teacher;
        const { canvas } = teacher;
        this.#ring.className = "lectern-eraser";
        this.#ring.setAttribute("aria-hidden", "true");
        // A page's style sheets are about other elements. Seen on ink and paper of all colours.
        this.#ring.style.cssText = `all: initial; position: absolute; z-index: 4; box-sizing: border-box; pointer-events: none; border-radius: 50%;
            border: 1px solid #000; box-shadow: 0 0 0 1px #fff, inset 0 0 0 1px #fff;`;
        for (const type of ["pointerdown", "pointermove"]) canvas.addEventListener(type, (event) => this.#follow(event), { signal });
        canvas.addEventListener("pointerleave", () => this.#move(null), { signal });
        // Before a view that holds the page, and keeps such events to itself.
        for (const type of ["pointerup", "pointercancel"]) {
            addEventListener(type, ({ pointerId, pointerType }) => {
                if (pointerType === "touch" && pointerId === this.#at?.pointerId) this.#move(null);
            }, { signal, capture: true });
        }
        // A view zooms the canvas by its style.
        const style = new MutationObserver(() => this.#show());
        style.observe(canvas, { attributeFilter: ["style"] });
        signal.addEventListener("abort", () => {
            style.disconnect();
            this.#ring.remove();
        });
    }

    /** Whether an eraser is chosen; to be set again where its width is another one. */
    set isChosen(isChosen) {
        this.#isChosen = isChosen;
        this.#show();
    }

    #follow({ type, pointerId, pointerType, isPrimary, buttons, clientX, clientY }) {
        if (pointerType === "touch") {
            // Of two fingers none erases, nor does one beside a pen.
            if (!isPrimary || !this.#teacher.pen.drawsWithFingers) return this.#move(null);
            if (type === "pointermove" && this.#at?.pointerId !== pointerId) return;
        }
        this.#move({ pointerId, clientX, clientY, isErasing: pointerType === "pen" && (buttons & 34) !== 0 });
    }

    #move(at) {
        this.#at = at;
        this.#show();
    }

    #show() {
        const at = this.#at;
        const { canvas, board, pen, tool } = this.#teacher;
        if (!at || !pen.isEnabled || !(this.#isChosen || at.isErasing)) return this.#ring.remove();
        if (!this.#ring.isConnected) canvas.parentNode.append(this.#ring);
        const { zoom, placeAt } = layoutAround(this.#ring);
        const { x, y } = placeAt(at.clientX, at.clientY);
        const size = (tool.width * canvas.getBoundingClientRect().width) / board.size.width / zoom;
        Object.assign(this.#ring.style, {
            left: `${x - size / 2}px`, top: `${y - size / 2}px`, width: `${size}px`, height: `${size}px`,
        });
    }
}
