/**
 * The eraser of whole strokes: what it touches is gone from this page at once, and from the room when the pen is lifted. And the ring
 * around all erasers.
 */

import { element, layoutAround } from "./dom.js";
import { pause } from "./gateway.js";

/** Entries that an operation removes at most. */
const mostIndices = 256;

export class StrokeEraser {
    /** In board units. */
    width = 20;
    #teacher;
    #isChosen = false;
    /** The page that the pen erases on, how many of its places were looked at, what was touched, and whether others drew some; null while it is up. */
    #pass = null;
    #remove;

    constructor(teacher, signal) {
        [this.#teacher, this.#remove] = [teacher, removals(teacher, signal)];
    }

    set isChosen(isChosen) {
        if (isChosen === this.#isChosen) return;
        this.#isChosen = isChosen;
        this.#teacher.gesture = isChosen ? {
            began: (stroke) => {
                this.#pass = { page: this.#teacher.page, seen: 0, indices: [] };
                this.#erase(stroke);
            },
            moved: (stroke) => this.#erase(stroke),
            ended: (stroke) => this.#end(stroke),
            cancelled: () => {
                this.#teacher.board.painter.putBack(this.#pass?.indices ?? []);
                this.#pass = null;
            },
        } : null;
    }

    #erase({ points }) {
        const pass = this.#pass;
        // From the last place that was looked at.
        const path = points.slice(Math.max(Math.min(pass.seen, points.length) - 1, 0));
        if (path.length === 0) return;
        pass.seen = points.length;
        const { painter } = this.#teacher.board;
        const touched = painter.lift(path, this.width / 2);
        const own = new Set(this.#teacher.removable(touched));
        pass.indices.push(...own);
        if (own.size === touched.length) return;
        painter.putBack(touched.filter((index) => !own.has(index)));
        pass.hasForeign = true;
    }

    #end(stroke) {
        this.#erase(stroke);
        const { indices, page, hasForeign } = this.#pass;
        this.#pass = null;
        if (hasForeign) this.#teacher.passOver();
        for (let at = 0; at < indices.length; at += mostIndices) {
            const part = indices.slice(at, at + mostIndices);
            if (page === this.#teacher.page && this.#teacher.remove(part)) this.#remove(part);
            else this.#teacher.board.painter.putBack(part);
        }
    }
}

/** How long an answer of the room is waited for, in milliseconds, and between two looks. */
const longestWait = 3000;
const waitStep = 100;

/**
 * What `look` finds when the room has answered for it, if it does soon: what it has not answered for cannot be named. `isOpen` says
 * whether something of it has no answer.
 */
export async function answered(look, isOpen, signal) {
    let found = look();
    for (let waited = 0; waited < longestWait && isOpen(found) && !signal?.aborted; waited += waitStep) {
        await pause(waitStep, signal);
        found = look();
    }
    return found;
}

const removeAction = 8;

/**
 * Removals of one teacher's page on their way to the room: what they name is hidden here, and what the room has left is seen again. Returns
 * what hides the indices that an operation removes that was sent now.
 */
export function removals(teacher, signal) {
    const { board, board: { painter } } = teacher;
    /** What operations on their way remove, in their order. */
    const sent = [];
    /** The room has answered for a removal. */
    const settle = ({ a, v }) => {
        const at = a === removeAction ? sent.findIndex((indices) => indices.some((index) => v.includes(index))) : -1;
        if (at >= 0) painter.putBack(sent.splice(at, 1)[0]);
    };
    const settleAll = () => sent.splice(0).forEach((indices) => painter.putBack(indices));
    board.addEventListener("operation", ({ detail: { operation } }) => {
        if (operation.author === teacher.author) settle(operation.message);
    }, { signal });
    teacher.addEventListener("rejected", ({ detail }) => settle(detail.operation), { signal });
    // A page that is seen again, or in another instance of the core, has all that the room has.
    for (const type of ["page", "painted"]) board.addEventListener(type, () => sent.forEach((indices) => painter.hide(indices)), { signal });
    // What the room has not taken is gone, or goes to another page.
    teacher.addEventListener("muted", ({ detail }) => detail.isMuted && settleAll(), { signal });
    teacher.addEventListener("writer", ({ detail }) => detail.state !== "writer" && settleAll(), { signal });
    return (indices) => {
        painter.hide(indices);
        sent.push(indices);
    };
}

/**
 * A ring where an eraser is, as large as what it wipes. Follows the pointers on a teacher's canvas while an eraser is chosen, and a pen whose eraser end or button erases. The tool of the
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
