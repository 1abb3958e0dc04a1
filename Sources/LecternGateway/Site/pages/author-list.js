/**
 * The other authors of a room, each with a button that mutes it.
 *
 * @module
 */

import { t } from "../lectern/language.js";
import { $, element, say } from "./common.js";

/** Shows who writes to the room beside this page's own author. */
export class AuthorList {
    #gateway;
    #room;
    #teacher;
    #canMute;
    #problem;
    #rows = new Map();
    /** What was asked for, until the room shows it: by author, whether it is to be muted. */
    #asked = new Map();

    /**
     * @param {() => boolean} canMute whether this teacher may mute the others
     * @param {(error: Error) => void} problem told why a command was not taken
     */
    constructor(gateway, room, teacher, canMute, problem) {
        [this.#gateway, this.#room, this.#teacher, this.#canMute, this.#problem] = [gateway, room, teacher, canMute, problem];
        // The room may tell of its authors before the board is there, whose strokes say what they are called.
        teacher.board.addEventListener("name", ({ detail: { author } }) => {
            const row = this.#rows.get(author);
            if (row) this.#showRow(row, author, row.dataset.muted === "true");
        });
    }

    /** Shows the state of the room, as the API has it. */
    show({ writers = [], muted = [] }) {
        const names = [...new Set([...writers, ...muted])].filter((name) => name !== this.#teacher.author).sort();
        $("authors-panel").hidden = names.length === 0;
        for (const [name, row] of this.#rows) {
            if (names.includes(name)) continue;
            row.remove();
            this.#rows.delete(name);
        }
        names.forEach((name, place) => {
            let row = this.#rows.get(name);
            if (!row) this.#rows.set(name, (row = this.#row(name)));
            const at = $("authors").children[place];
            if (at !== row) $("authors").insertBefore(row, at ?? null);
            if (this.#asked.get(name) === muted.includes(name)) this.#asked.delete(name);
            this.#showRow(row, name, this.#asked.get(name) ?? muted.includes(name));
            row.querySelector("button").hidden = !this.#canMute();
            // A muted teacher mutes nobody.
            row.querySelector("button").disabled = muted.includes(this.#teacher.author);
        });
    }

    #row(name) {
        const button = element("button", { className: "button" });
        button.addEventListener("click", () => this.#turn(name, button.getAttribute("aria-pressed") !== "true"));
        return element("li", { className: "author-row" }, element("span", { className: "author-name", dir: "auto" }), button);
    }

    #showRow(row, author, isMuted) {
        const button = row.querySelector("button");
        const name = this.#teacher.board.nameOf(author);
        say(row.querySelector(".author-name"), name);
        // Two may be called the same.
        row.title = author;
        row.dataset.muted = String(isMuted);
        button.setAttribute("aria-pressed", String(isMuted));
        button.setAttribute("aria-label", t("Mute {name}", { name }));
        button.title = isMuted ? t("Take again what {name} draws", { name }) : t("Take nothing more of what {name} draws", { name });
        say(button, isMuted ? t("Muted") : t("Mute"));
    }

    async #turn(name, isMuted) {
        this.#asked.set(name, isMuted);
        this.#showRow(this.#rows.get(name), name, isMuted);
        try {
            await this.#gateway.mute(this.#room, name, isMuted);
        } catch (error) {
            this.#asked.delete(name);
            this.#problem(error);
        }
    }
}
