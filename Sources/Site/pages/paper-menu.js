/**
 * The paper of a page: blank, lines, squares, dots or staves under the ink.
 *
 * @module
 */

import { $, letterKeys, say, t } from "./common.js";
import { firstLiveID } from "../lectern/painter.js";

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
            if (letterKeys.of(event) === "g" && !$("paper").hidden && !$("paper").disabled) this.#open();
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

/** Makes papers of images, from the papers of the page and from a selection. */
export class BackgroundTool {
    #teacher;
    /** Where the image that is selected was touched, in board units; null where none is. */
    #place = null;
    #drop;

    /**
     * @param {import("../lectern/teacher.js").Teacher} teacher
     * @param {() => void} drop ends a selection
     */
    constructor(teacher, drop) {
        [this.#teacher, this.#drop] = [teacher, drop];
        $("selection-ground").addEventListener("click", () => this.takeSelected());
        $("paper-picture").addEventListener("click", () => {
            $("paper-dialog").close();
            this.#take(this.#onPage);
        });
        // With whatever opens them.
        new MutationObserver(() => ($("paper-picture").hidden = !this.#onPage)).observe($("paper-dialog"), { attributeFilter: ["open"] });
    }

    /** An image is selected, by a tap at a place; null for anything else that is. */
    select(place) {
        this.#place = place;
        $("selection-ground").hidden = !this.#selected;
    }

    /** Makes a paper of the selected image; returns whether there is one. */
    takeSelected() {
        const found = this.#selected;
        if (!found) return false;
        this.#drop();
        this.#take(found);
        return true;
    }

    get #selected() {
        return this.#place && this.#at(this.#place.x, this.#place.y);
    }

    /** The image in the middle of the page: a slide is as large as it. */
    get #onPage() {
        const { width, height } = this.#teacher.board.size;
        return this.#at(width / 2, height / 2);
    }

    /** An image that a paper can show, and that the room can remove; null where there is none. */
    #at(x, y) {
        const { painter, features } = this.#teacher.board;
        if (!features.includes("paper") || !features.includes("remove")) return null;
        const found = painter.pictureAt(x, y);
        return found?.isWhole && found.id < firstLiveID && this.#teacher.removable([found.id]).length > 0 ? found : null;
    }

    #take(found) {
        if (!found) return;
        const { id, asset, page, corners: [from, , to] } = found;
        const box = { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
        // The paper first: where no more is taken, nothing is lost.
        const isTaken = this.#teacher.setSlide(asset, box, page) && this.#teacher.remove([id]);
        say($("selection-news"), isTaken ? t("The picture is the background now") : t("Not taken"));
    }
}
