/**
 * How a board says what it is doing, and its texts for screen readers.
 *
 * @module
 */

import { t } from "./language.js";
import { element } from "./dom.js";

/** Codes of the gateway for those whom it does not let in. */
export const refusals = ["unauthorized", "revoked", "forbidden"];

/**
 * The state of a connection as a tone and words.
 *
 * @param {import("./events.js").ConnectionState} connection
 * @returns {["good" | "wait" | "bad" | "", string]}
 */
export function connectionWords({ state, reason, code, retryAt }) {
    switch (state) {
        case "live": return ["good", t("Connected")];
        case "connecting": return ["wait", t("Connecting…")];
        case "refused": return ["bad", refusals.includes(code) ? t("Not allowed in") : reason];
        case "closed": return ["", t("Closed")];
        default: {
            const seconds = Math.max(Math.ceil((retryAt - Date.now()) / 1000), 0);
            return ["bad", seconds > 1 ? t("Offline, trying again in {seconds} s", { seconds }) : t("Offline, trying again…")];
        }
    }
}

/**
 * How far a large board is drawn.
 *
 * @param {number} part 0 … 1
 */
export function drawingWords(part) {
    return t("Drawing the board, {percent} %", { percent: Math.round(part * 100) });
}

/**
 * Where a page stands in the order of a board's pages: `Page 2 of 5`.
 *
 * @param {number} page
 * @param {number[]} order
 */
export function pageWords(page, order) {
    return t("Page {number} of {count}", { number: order.indexOf(page) + 1, count: order.length });
}

/**
 * What a screen reader says of a board's picture.
 *
 * @param {string} room
 * @param {number} strokes on the page
 * @param {number} page
 * @param {number[]} order
 */
export function boardWords(room, strokes, page, order) {
    const words = t("Whiteboard of {room}: {strokes}", { room, strokes: strokesWords(strokes) });
    return order.length > 1 ? `${words}. ${pageWords(page, order)}` : words;
}

/** How many strokes there are. */
export function strokesWords(count) {
    return count === 1 ? t("1 stroke") : t("{count} strokes", { count });
}

/** A region that has the texts of the page that is seen, and says those that come. */
export class TextRegion {
    #root;
    /** Paragraphs by their texts. */
    #shown = [];

    /**
     * @param {EventTarget} board with events `texts`
     * @param {HTMLElement} root is filled; hide it from sight, not from screen readers
     */
    constructor(board, root) {
        this.#root = root;
        root.setAttribute("role", "log");
        root.setAttribute("aria-label", t("Texts of this page"));
        board.addEventListener("texts", ({ detail }) => this.#show(detail.texts));
        root.replaceChildren();
    }

    #show(texts) {
        // What is there stays as it is, so that it is not read again.
        const left = [...this.#shown];
        this.#shown = texts.map((text) => {
            const at = left.findIndex((shown) => shown.textContent === text);
            return at < 0 ? element("p", { dir: "auto", textContent: text }) : left.splice(at, 1)[0];
        });
        for (const paragraph of left) paragraph.remove();
        this.#shown.forEach((paragraph, place) => {
            if (this.#root.children[place] !== paragraph) this.#root.insertBefore(paragraph, this.#root.children[place] ?? null);
        });
    }
}
