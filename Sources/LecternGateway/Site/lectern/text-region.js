/**
 * The texts of a board for screen readers.
 *
 * @module
 */

import { t } from "./language.js";
import { element } from "./dom.js";

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
