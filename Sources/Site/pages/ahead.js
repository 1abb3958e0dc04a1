/**
 * What a teacher has to know at a glance: how long after the pen students see it, what they see now, how many they are, and who else writes.
 */

import { t } from "../lectern/language.js";
import { $, address, element, KeyedList, say, spanWords } from "./common.js";

/** Milliseconds between two looks at who follows. */
const readersInterval = 4000;

/**
 * The line above the teacher's board: a function that shows the room's cohorts that anything was released to, or that have a clock, by
 * what the room tells of the time at the teacher.
 */
export function aheadLine(gateway, room) {
    /** Open boards by cohort, and names of students where tokens have them. */
    let [readers, readerNames] = [{}, {}];
    let askedAt = -Infinity;
    let [pictured, listed] = ["", ""];

    async function count() {
        if (performance.now() - askedAt < readersInterval) return;
        askedAt = performance.now();
        try {
            ({ cohorts: readers, names: readerNames } = await gateway.json(`api/rooms/${room}/readers`));
        } catch {
            // As before.
        }
    }

    /** Who is there: those whose tokens name them, and how many others. */
    function list() {
        const names = Object.values(readerNames).flat().sort((one, other) => one.localeCompare(other));
        $("ahead-who").hidden = names.length === 0;
        $("ahead-count").hidden = names.length > 0;
        if (names.length === 0) return;
        say($("ahead-who-count"), $("ahead-count").textContent);
        $("ahead-who-count").title = $("ahead-count").title;
        const key = names.join("\n");
        if (key === listed) return;
        listed = key;
        $("ahead-names").replaceChildren(...names.map((name) => element("li", { dir: "auto", textContent: name })));
    }

    /** The board of the cohort that has most readers, or is last. */
    function picture(cohorts) {
        const seen = [...cohorts].sort((one, other) => (readers[other.cohort] ?? 0) - (readers[one.cohort] ?? 0) || one.index - other.index)[0];
        const image = $("ahead-picture");
        image.hidden = !seen || seen.index === 0;
        if (image.hidden) return;
        const key = `${seen.cohort} ${seen.index}`;
        if (key === pictured) return;
        pictured = key;
        image.src = address(`api/rooms/${room}/board.png`, { width: 320, cohort: seen.cohort, at: seen.index });
        image.alt = t("What students of cohort {cohort} see now", { cohort: seen.cohort });
    }

    return async (cohorts, live) => {
        await count();
        say($("ahead-words"), live.state === "open" ? t("Students see this at once") : lagWords(cohorts, live));
        const total = Object.values(readers).reduce((sum, one) => sum + one, 0);
        const parts = Object.entries(readers).map(([cohort, number]) => `${number} ${cohort}`);
        say($("ahead-count"), total === 1 ? t("1 student") : t("{count} students", { count: total }));
        $("ahead-count").title = parts.length > 1 ? parts.join(", ") : t("Open boards of students");
        list();
        picture(cohorts);
    };
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

/**
 * Who writes to the room beside this page's own author, each with a button that mutes: a function that shows the state of the room, as the
 * API has it. `canMute` says whether this teacher may mute the others; `problem` is told why a command was not taken.
 */
export function authorList(gateway, room, teacher, canMute, problem) {
    const rows = new KeyedList($("authors"), rowOf);
    /** What was asked for, until the room shows it: by author, whether it is to be muted. */
    const asked = new Map();

    function rowOf(author) {
        const words = element("span", { className: "author-name", dir: "auto" });
        const button = element("button", { className: "button" });
        // Two may be called the same.
        const row = { node: element("li", { className: "author-row", title: author }, words, button), words, button, isMuted: false };
        button.addEventListener("click", async () => {
            const isMuted = !row.isMuted;
            asked.set(author, isMuted);
            showRow(row, author, isMuted);
            try {
                await gateway.mute(room, author, isMuted);
            } catch (error) {
                asked.delete(author);
                problem(error);
            }
        });
        return row;
    }

    function showRow(row, author, isMuted) {
        const { node, words, button } = row;
        const name = teacher.board.nameOf(author);
        say(words, name);
        row.isMuted = isMuted;
        node.dataset.muted = String(isMuted);
        button.setAttribute("aria-pressed", String(isMuted));
        button.setAttribute("aria-label", t("Mute {name}", { name }));
        button.title = isMuted ? t("Take again what {name} draws", { name }) : t("Take nothing more of what {name} draws", { name });
        say(button, isMuted ? t("Muted") : t("Mute"));
    }

    // The room may tell of its authors before the board is there, whose strokes say what they are called.
    teacher.board.addEventListener("name", ({ detail: { author } }) => {
        const row = rows.get(author);
        if (row) showRow(row, author, row.isMuted);
    });
    return ({ writers = [], muted = [] }) => {
        const people = writers.filter((name) => !gatewayPattern.test(name));
        const names = [...new Set([...people, ...muted])].filter((name) => name !== teacher.author).sort();
        $("authors-panel").hidden = names.length === 0;
        rows.show(names).forEach((row, place) => {
            const name = names[place];
            if (asked.get(name) === muted.includes(name)) asked.delete(name);
            showRow(row, name, asked.get(name) ?? muted.includes(name));
            row.button.hidden = !canMute();
            // A muted teacher mutes nobody.
            row.button.disabled = muted.includes(teacher.author);
        });
    };
}
