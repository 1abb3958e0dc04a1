/** The eraser of whole strokes: what it touches is gone from this page at once, and from the room when the pen is lifted. */

import { pause } from "./gateway.js";

/** Entries that an operation removes at most. */
const mostIndices = 256;

/** Erases while it is chosen. */
export class StrokeEraser {
    /** In board units. */
    width = 20;
    #teacher;
    #isChosen = false;
    /** The page that the pen erases on, how many of its places were looked at, what was touched, and whether others drew some; null while it is up. */
    #pass = null;
    #remove;

    /** `signal` ends it. */
    constructor(teacher, signal) {
        [this.#teacher, this.#remove] = [teacher, removals(teacher, signal)];
    }

    /** Whether the pen erases whole strokes. */
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
