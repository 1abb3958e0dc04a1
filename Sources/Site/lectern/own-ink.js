/** What a teacher sees of the own hand above the board, before the room has it. */

import { Element } from "./records.js";

/** Milliseconds after which a pointer that rests above the board goes. */
const hoverRest = 2000;

/** Shows strokes that the room has not answered for, the one under the pen, and the pointer. */
export class OwnInk {
    #board;
    #author;
    /** Strokes by their ids. */
    #live = new Map();
    /** The stroke under the pen, and its message without points, null for a pointer's; null while the pen is up. */
    #drawn = null;
    /** Who points, and with what; null while nobody does. */
    #pointer = null;
    #timer = null;

    constructor(board, author) {
        [this.#board, this.#author] = [board, author];
    }

    begin(stroke, tool) {
        const { colour: c, width: l } = tool;
        const { width: w, height: h } = this.#board.size;
        const isPointer = tool.element === Element.pointer && !stroke.isErasing;
        this.#drawn = { stroke, tool, message: isPointer ? null : { c, l, e: stroke.isErasing ? Element.eraser : tool.element, w, h } };
        this.move();
    }

    /** The pen has moved, or its stroke is another shape. */
    move() {
        if (!this.#drawn) return;
        const { stroke, tool, message } = this.#drawn;
        if (!message) return this.#point(stroke.points.at(-1), tool);
        if (stroke.element !== undefined) message.e = stroke.element;
        this.show();
    }

    /** The stroke under the pen is over: from now on it is among those without an answer. */
    end() {
        this.#drawn = null;
    }

    hover(place, tool) {
        this.#point(place, tool);
        this.#timer = setTimeout(() => this.lift(), hoverRest);
    }

    /** Nothing points any more. */
    lift() {
        clearTimeout(this.#timer);
        if (this.#pointer) this.#board.point(null, this.#pointer);
        this.#pointer = null;
    }

    /** Takes the strokes without an answer: `text` is a message, and is empty where it was told before. */
    take(entries) {
        const before = this.#live;
        // The same object each time, so that the painter knows it.
        this.#live = new Map(entries.map(({ id, text }) => [id, before.get(id) ?? { message: JSON.parse(text) }]));
        this.show();
    }

    show() {
        const live = [...this.#live.values()];
        if (this.#drawn?.message) live.push({ message: { n: 0, ...this.#drawn.message, d: [...this.#drawn.stroke.points] } });
        this.#board.showLive(live);
    }

    /** The core that had them is gone. */
    forget() {
        [this.#drawn, this.#live] = [null, new Map()];
    }

    close() {
        clearTimeout(this.#timer);
    }

    #point(place, { colour, width }) {
        clearTimeout(this.#timer);
        this.#pointer ??= { author: this.#author, colour, width };
        this.#board.point(place, this.#pointer);
    }
}
