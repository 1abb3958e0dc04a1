/** The paper of a page: blank, lines, squares, dots or staves under the ink. */

import { say } from "./dom.js";
import { t } from "./language.js";
import { firstLiveID } from "./painter.js";

/** Distances of lines in board units, by their names in the page. */
const distances = { narrow: 16, medium: 32, wide: 64 };

/** Lays papers under the page that is seen. */
export class PaperMenu {
    #teacher;
    #root;

    /** `root` has `paper` and `paper-dialog`. */
    constructor(teacher, root = document) {
        [this.#teacher, this.#root] = [teacher, root];
        this.#part("paper").addEventListener("click", () => this.#open());
        this.#part("paper-form").addEventListener("submit", (event) => {
            const kind = event.submitter?.value;
            if (!kind) return;
            const distance = distances[new FormData(this.#part("paper-form")).get("distance")];
            this.#teacher.setPaper(kind, { distance });
        });
        for (const type of ["index", "pages"]) teacher.board.addEventListener(type, () => this.#show());
        for (const type of ["writer", "muted"]) teacher.addEventListener(type, () => this.#show());
        this.#show();
    }

    #part(id) { return this.#root.getElementById(id); }

    #show() {
        this.#part("paper").hidden = !this.#teacher.board.features.includes("paper");
        this.#part("paper").disabled = !this.#teacher.isWriting;
    }

    #open() {
        const laid = this.#teacher.board.pages.papers[this.#teacher.page] ?? "blank";
        for (const button of this.#part("paper-kinds").children) button.setAttribute("aria-pressed", String(button.value === laid));
        this.#part("paper-slide").hidden = laid !== "slide";
        this.#part("paper-dialog").showModal();
    }
}

/** Makes papers of images, from the papers of the page and from a selection. */
export class BackgroundTool {
    #teacher;
    /** Where the image that is selected was touched, in board units; null where none is. */
    #place = null;
    #drop;
    #root;

    /** `drop` ends a selection. */
    constructor(teacher, drop, root) {
        [this.#teacher, this.#drop, this.#root] = [teacher, drop, root];
        this.#part("selection-ground").addEventListener("click", () => this.#takeSelected());
        this.#part("paper-picture").addEventListener("click", () => {
            this.#part("paper-dialog").close();
            this.#take(this.#onPage);
        });
        // With whatever opens them.
        new MutationObserver(() => (this.#part("paper-picture").hidden = !this.#onPage)).observe(this.#part("paper-dialog"), { attributeFilter: ["open"] });
    }

    #part(id) { return this.#root.getElementById(id); }

    /** An image is selected, by a tap at a place; null for anything else that is. */
    select(place) {
        this.#place = place;
        this.#part("selection-ground").hidden = !this.#selected;
    }

    #takeSelected() {
        const found = this.#selected;
        this.#drop();
        this.#take(found);
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
        say(this.#part("selection-news"), isTaken ? t("The picture is the background now") : t("Not taken"));
    }
}
