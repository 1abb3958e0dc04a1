/**
 * Removals on their way to the room: what they name is hidden here at once, and what the room has left is seen again.
 *
 * @module
 */

const removeAction = 8;

/** Those of one teacher's page. */
export class Removals {
    #teacher;
    /** What operations on their way remove, in their order. */
    #sent = [];

    /**
     * @param {import("./teacher.js").Teacher} teacher
     * @param {AbortSignal} [signal] that ends it
     */
    constructor(teacher, signal) {
        this.#teacher = teacher;
        const settle = ({ a, v }) => {
            if (a === removeAction) this.#settle(v);
        };
        teacher.board.addEventListener("operation", ({ detail: { operation } }) => {
            if (operation.author === teacher.author) settle(operation.message);
        }, { signal });
        teacher.addEventListener("rejected", ({ detail }) => settle(detail.operation), { signal });
        // What the room has not taken is gone, or goes to another page.
        teacher.addEventListener("muted", ({ detail }) => detail.isMuted && this.#settleAll(), { signal });
        teacher.addEventListener("writer", ({ detail }) => detail.state !== "writer" && this.#settleAll(), { signal });
    }

    /** Notes what an operation removes that was sent now, and is hidden. @param {number[]} indices */
    add(indices) {
        this.#sent.push(indices);
    }

    /** The room has answered for a removal. */
    #settle(indices) {
        const at = this.#sent.findIndex((sent) => sent.some((index) => indices.includes(index)));
        if (at < 0) return;
        const [sent] = this.#sent.splice(at, 1);
        this.#teacher.board.painter.putBack(sent);
    }

    #settleAll() {
        for (const sent of this.#sent.splice(0)) this.#teacher.board.painter.putBack(sent);
    }
}
