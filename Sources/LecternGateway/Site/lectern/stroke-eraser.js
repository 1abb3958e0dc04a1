/**
 * The eraser of whole strokes: what it touches is gone from this page at once, and from the room when the pen is lifted.
 *
 * @module
 */

import { Removals } from "./removals.js";

/** Entries that an operation removes at most. */
const mostIndices = 256;

/** Erases while it is chosen. */
export class StrokeEraser {
    /** In board units. */
    width = 20;
    #teacher;
    #isChosen = false;
    /** The page that the pen erases on, how many of its places were looked at, and what was touched; null while it is up. */
    #pass = null;
    #removals;

    /**
     * @param {import("./teacher.js").Teacher} teacher
     * @param {AbortSignal} signal that ends it
     */
    constructor(teacher, signal) {
        this.#teacher = teacher;
        this.#removals = new Removals(teacher, signal);
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
            cancelled: () => this.#cancel(),
        } : null;
    }

    #erase({ points }) {
        const pass = this.#pass;
        // From the last place that was looked at.
        const path = points.slice(Math.max(Math.min(pass.seen, points.length) - 1, 0));
        if (path.length === 0) return;
        pass.seen = points.length;
        pass.indices.push(...this.#teacher.board.painter.lift(path, this.width / 2));
    }

    #end(stroke) {
        this.#erase(stroke);
        const { indices, page } = this.#pass;
        this.#pass = null;
        for (let at = 0; at < indices.length; at += mostIndices) {
            const part = indices.slice(at, at + mostIndices);
            if (page === this.#teacher.page && this.#teacher.remove(part)) this.#removals.add(part);
            else this.#teacher.board.painter.putBack(part);
        }
    }

    #cancel() {
        this.#teacher.board.painter.putBack(this.#pass?.indices ?? []);
        this.#pass = null;
    }
}
