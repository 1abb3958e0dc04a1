/** A ring where an eraser is, as large as what it wipes. */

import { element, layoutAround } from "./dom.js";

/**
 * Follows the pointers on a teacher's canvas while an eraser is chosen, and a pen whose eraser end or button erases. The tool of the
 * teacher has the width. Returns what is told whether an eraser is chosen, again where its width is another one.
 */
export function bindEraserCursor(teacher, signal) {
    const { canvas, board, pen } = teacher;
    let isChosen = false;
    /** The pointer, where it is in the window, and whether it erases whatever is chosen; null where none is on the board. */
    let at = null;
    const ring = element("div", { className: "lectern-eraser", "aria-hidden": "true" });
    // A page's style sheets are about other elements. Seen on ink and paper of all colours.
    ring.style.cssText = `all: initial; position: absolute; z-index: 4; box-sizing: border-box; pointer-events: none; border-radius: 50%;
        border: 1px solid #000; box-shadow: 0 0 0 1px #fff, inset 0 0 0 1px #fff;`;
    const show = () => {
        if (!at || !pen.isEnabled || !(isChosen || at.isErasing)) return ring.remove();
        if (!ring.isConnected) canvas.parentNode.append(ring);
        const { zoom, placeAt } = layoutAround(ring);
        const { x, y } = placeAt(at.clientX, at.clientY);
        const size = (teacher.tool.width * canvas.getBoundingClientRect().width) / board.size.width / zoom;
        Object.assign(ring.style, { left: `${x - size / 2}px`, top: `${y - size / 2}px`, width: `${size}px`, height: `${size}px` });
    };
    const move = (to) => {
        at = to;
        show();
    };
    const follow = ({ type, pointerId, pointerType, isPrimary, buttons, clientX, clientY }) => {
        if (pointerType === "touch") {
            // Of two fingers none erases, nor does one beside a pen.
            if (!isPrimary || !pen.drawsWithFingers) return move(null);
            if (type === "pointermove" && at?.pointerId !== pointerId) return;
        }
        move({ pointerId, clientX, clientY, isErasing: pointerType === "pen" && (buttons & 34) !== 0 });
    };
    for (const type of ["pointerdown", "pointermove"]) canvas.addEventListener(type, follow, { signal });
    canvas.addEventListener("pointerleave", () => move(null), { signal });
    // Before a view that holds the page, and keeps such events to itself.
    for (const type of ["pointerup", "pointercancel"]) {
        addEventListener(type, ({ pointerId, pointerType }) => {
            if (pointerType === "touch" && pointerId === at?.pointerId) move(null);
        }, { signal, capture: true });
    }
    // A view zooms the canvas by its style.
    const style = new MutationObserver(show);
    style.observe(canvas, { attributeFilter: ["style"] });
    signal.addEventListener("abort", () => {
        style.disconnect();
        ring.remove();
    });
    return (isErasing) => {
        isChosen = isErasing;
        show();
    };
}
