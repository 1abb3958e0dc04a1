/**
 * The paper of a page: blank, lines, squares, dots or staves under the ink.
 *
 * @module
 */

import { $, letterKeys } from "./common.js";

/** Distances of lines in board units, by their names in the page. */
const distances = { narrow: 16, medium: 32, wide: 64 };

/** Lays papers under the page that is seen. */
export class PaperMenu {
    #teacher;

    /** @param {import("../lectern/teacher.js").Teacher} teacher */
    constructor(teacher) {
        this.#teacher = teacher;
        $("paper").addEventListener("click", () => this.#open());
        $("paper-form").addEventListener("submit", (event) => {
            const kind = event.submitter?.value;
            if (!kind) return;
            const distance = distances[new FormData($("paper-form")).get("distance")];
            this.#teacher.setPaper(kind, { distance });
        });
        document.addEventListener("keydown", (event) => {
            if (event.key.toLowerCase() !== "g" || event.ctrlKey || event.metaKey || event.altKey || !letterKeys.take(event)) return;
            if (event.defaultPrevented || event.target.closest("input:not([type=checkbox]), select, textarea, dialog")) return;
            if (!$("paper").hidden && !$("paper").disabled) this.#open();
        });
        for (const type of ["index", "pages"]) teacher.board.addEventListener(type, () => this.#show());
        teacher.addEventListener("writer", () => this.#show());
        this.#show();
    }

    #show() {
        $("paper").hidden = !this.#teacher.board.features.includes("paper");
        $("paper").disabled = this.#teacher.state !== "writer";
    }

    #open() {
        const laid = this.#teacher.board.pages.papers[this.#teacher.page] ?? "blank";
        for (const button of $("paper-kinds").children) button.setAttribute("aria-pressed", String(button.value === laid));
        $("paper-slide").hidden = laid !== "slide";
        $("paper-dialog").showModal();
    }
}
