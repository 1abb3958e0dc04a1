/**
 * What a teacher has to know at a glance: how long after the pen students see it, what they see now, how many they are, and who else writes.
 */

import { t } from "../lectern/language.js";
import { $, address, element, KeyedList, say, spanWords } from "./common.js";

/** Milliseconds between two looks at who follows. */
const readersInterval = 4000;

/** The line above the teacher's board. */
export class AheadLine {
    #gateway;
    #room;
    #readers = {};
    /** Names of students by cohort, where tokens have them. */
    #names = {};
    #askedAt = -Infinity;
    #shown = "";
    #listed = "";

    constructor(gateway, room) {
        [this.#gateway, this.#room] = [gateway, room];
    }

    /** Shows the room's cohorts that anything was released to, or that have a clock; `live`: what it tells of the time at the teacher. */
    async show(cohorts, live) {
        await this.#count();
        say($("ahead-words"), live.state === "open" ? t("Students see this at once") : lagWords(cohorts, live));
        const count = Object.values(this.#readers).reduce((sum, one) => sum + one, 0);
        const parts = Object.entries(this.#readers).map(([cohort, number]) => `${number} ${cohort}`);
        say($("ahead-count"), count === 1 ? t("1 student") : t("{count} students", { count }));
        $("ahead-count").title = parts.length > 1 ? parts.join(", ") : t("Open boards of students");
        this.#list();
        this.#picture(cohorts);
    }

    /** Boards that are open, by cohort. */
    async #count() {
        if (performance.now() - this.#askedAt < readersInterval) return;
        this.#askedAt = performance.now();
        try {
            const { cohorts, names } = await this.#gateway.json(`api/rooms/${this.#room}/readers`);
            [this.#readers, this.#names] = [cohorts, names];
        } catch {
            // As before.
        }
    }

    /** Who is there: those whose tokens name them, and how many others. */
    #list() {
        const names = Object.values(this.#names).flat().sort((one, other) => one.localeCompare(other));
        $("ahead-who").hidden = names.length === 0;
        $("ahead-count").hidden = names.length > 0;
        if (names.length === 0) return;
        say($("ahead-who-count"), $("ahead-count").textContent);
        $("ahead-who-count").title = $("ahead-count").title;
        const key = names.join("\n");
        if (key === this.#listed) return;
        this.#listed = key;
        $("ahead-names").replaceChildren(...names.map((name) => element("li", { dir: "auto", textContent: name })));
    }

    /** The board of the cohort that is last, or has most readers. */
    #picture(cohorts) {
        const seen = [...cohorts].sort((one, other) =>
            (this.#readers[other.cohort] ?? 0) - (this.#readers[one.cohort] ?? 0) || one.index - other.index)[0];
        const image = $("ahead-picture");
        image.hidden = !seen || seen.index === 0;
        if (image.hidden) return;
        const key = `${seen.cohort} ${seen.index}`;
        if (key === this.#shown) return;
        this.#shown = key;
        image.src = address(`api/rooms/${this.#room}/board.png`, { width: 320, cohort: seen.cohort, at: seen.index });
        image.alt = t("What students of cohort {cohort} see now", { cohort: seen.cohort });
    }
}

/** After how long students see what is drawn now; "" where nothing tells it. */
function lagWords(cohorts, live) {
    if (live.state !== "live") return "";
    const lags = cohorts.filter(({ v }) => typeof v === "number" && Number.isFinite(live.time - v))
        .map(({ cohort, v }) => ({ cohort, lag: Math.max(live.time - v, 0) }));
    lags.sort((one, other) => one.lag - other.lag);
    const words = lags.map(({ cohort, lag }) => (lags.length > 1 ? `${spanWords(lag)} (${cohort})` : spanWords(lag)));
    if (words.length > 1) return t("Students see this in {times}", { times: words.join(", ") });
    return words.length === 0 ? "" : t("Students see this {time} from now", { time: words[0] });
}

/** The author in whose name a gateway imports and copies pages. */
const gatewayPattern = /^gw-[0-9a-z]{11,13}$/;

/** Shows who writes to the room beside this page's own author, each with a button that mutes. */
export class AuthorList {
    #gateway;
    #room;
    #teacher;
    #canMute;
    #problem;
    #rows = new KeyedList($("authors"), (author) => this.#row(author));
    /** What was asked for, until the room shows it: by author, whether it is to be muted. */
    #asked = new Map();

    /** `canMute` says whether this teacher may mute the others; `problem` is told why a command was not taken. */
    constructor(gateway, room, teacher, canMute, problem) {
        [this.#gateway, this.#room, this.#teacher, this.#canMute, this.#problem] = [gateway, room, teacher, canMute, problem];
        // The room may tell of its authors before the board is there, whose strokes say what they are called.
        teacher.board.addEventListener("name", ({ detail: { author } }) => {
            const row = this.#rows.get(author);
            if (row) this.#showRow(row, author, row.isMuted);
        });
    }

    /** Shows the state of the room, as the API has it. */
    show({ writers = [], muted = [] }) {
        const people = writers.filter((name) => !gatewayPattern.test(name));
        const names = [...new Set([...people, ...muted])].filter((name) => name !== this.#teacher.author).sort();
        $("authors-panel").hidden = names.length === 0;
        this.#rows.show(names).forEach((row, place) => {
            const name = names[place];
            if (this.#asked.get(name) === muted.includes(name)) this.#asked.delete(name);
            this.#showRow(row, name, this.#asked.get(name) ?? muted.includes(name));
            row.button.hidden = !this.#canMute();
            // A muted teacher mutes nobody.
            row.button.disabled = muted.includes(this.#teacher.author);
        });
    }

    #row(author) {
        const words = element("span", { className: "author-name", dir: "auto" });
        const button = element("button", { className: "button" });
        // Two may be called the same.
        const row = { node: element("li", { className: "author-row", title: author }, words, button), words, button, isMuted: false };
        button.addEventListener("click", () => this.#turn(author, !row.isMuted));
        return row;
    }

    #showRow(row, author, isMuted) {
        const { node, words, button } = row;
        const name = this.#teacher.board.nameOf(author);
        say(words, name);
        row.isMuted = isMuted;
        node.dataset.muted = String(isMuted);
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
