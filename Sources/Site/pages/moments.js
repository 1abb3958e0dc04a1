/**
 * The way from ink to the recording: a tap on a stroke plays the moment when it was drawn, and a table of contents has the times
 * at which pages came to be shown.
 */

import { closeBeside, placeOn } from "../lectern/dom.js";
import { t } from "../lectern/language.js";
import { $, element, say, timeWords } from "./common.js";

/** CSS pixels that a stroke may be away from a mouse, and from a finger; and that a tap may move. */
const [mouseReach, fingerReach] = [6, 14];
const slop = 8;
/** Milliseconds behind a turn of pages at which the new page is seen, whatever pictures a video has. */
const turnTime = 100;
/** Milliseconds that it is told for where the player has gone. */
const tellingTime = 4000;

// A `seek` goes to a media time in milliseconds, which is meant for the operation with an index. It returns why it cannot; "" where it
// has gone there.

export function bindMoments(board, view, seek) {
    const canvas = $("board");
    let down = null;
    canvas.title = t("Tap a stroke: the recording goes to the moment when it was drawn");
    // Before the view, which keeps what moves the page.
    addEventListener("pointerdown", (event) => {
        down = event.isPrimary ? event : null;
    }, { capture: true });
    // A view that holds the page takes the click from the canvas.
    $("stage").addEventListener("click", (event) => {
        const { clientX, clientY } = event;
        if (down?.target !== canvas || Math.hypot(clientX - down.clientX, clientY - down.clientY) > slop) return;
        const { x, y } = placeOn(canvas, board.size, event);
        const reach = down.pointerType === "mouse" ? mouseReach : fingerReach;
        const found = board.painter.strokeAt(x, y, reach / view.perUnit);
        if (found) go(seek, found);
    });
}

/**
 * Lists the pages with the times at which they came to be shown; a tap goes there. `view` shows the page itself, where the board does not
 * follow the player back.
 */
export function bindContents(board, seek, view = () => {}) {
    const [dialog, list] = [$("contents"), $("contents-list")];
    const button = $("contents-button");
    const show = () => {
        const pages = pagesOf(board);
        button.hidden = pages.length < 2;
        if (!dialog.open) return;
        // Where somebody is in the list, that stays.
        const focused = [...list.querySelectorAll("button")].indexOf(document.activeElement);
        list.replaceChildren(...pages.map(({ page, place, visits }) => {
            const name = t("Page {number}", { number: place });
            const buttons = visits.map((visit, number) => {
                const time = Number.isNaN(visit.time) ? "" : timeWords(visit.time);
                const words = number === 0 ? [element("span", { textContent: name }), element("span", { className: "number quiet", textContent: time })]
                    : [element("span", { className: "number", textContent: time })];
                const made = element("button", { type: "button", className: number === 0 ? "button contents-page" : "button contents-again" }, ...words);
                if (number > 0) made.setAttribute("aria-label", t("{page} again, {time}", { page: name, time }));
                else if (page === board.page) made.setAttribute("aria-current", "page");
                made.addEventListener("click", () => {
                    dialog.close();
                    view(page);
                    if (time !== "") go(seek, { ...visit, time: visit.time + turnTime });
                });
                return made;
            });
            return element("li", {}, ...buttons);
        }));
        list.querySelectorAll("button")[focused]?.focus();
    };
    const open = () => {
        if (button.hidden || dialog.open) return;
        dialog.showModal();
        show();
        (list.querySelector("[aria-current]") ?? list.querySelector("button"))?.focus();
    };
    button.addEventListener("click", open);
    $("contents-close").addEventListener("click", () => dialog.close());
    closeBeside(dialog);
    for (const type of ["visits", "pages", "page", "lesson"]) board.addEventListener(type, show);
    show();
}

/** The pages that were shown, in the order of their first times, with their places among the pages. */
function pagesOf(board) {
    const { order } = board.pages;
    const pages = new Map();
    for (const visit of board.visits) pages.set(visit.page, [...(pages.get(visit.page) ?? []), visit]);
    return [...pages].map(([page, visits], number) => ({ page, visits, place: order.includes(page) ? order.indexOf(page) + 1 : number + 1 }));
}

let timer = null;

function go(seek, { time, index }) {
    const problem = Number.isNaN(time) ? t("Nobody knows when this was drawn.") : seek(time, index);
    const words = $("moment");
    words.dataset.tone = problem ? "bad" : "good";
    words.hidden = false;
    say(words, problem || t("The recording is at {time}", { time: timeWords(time) }));
    clearTimeout(timer);
    timer = setTimeout(() => {
        words.hidden = true;
        say(words, "");
    }, tellingTime);
}

/** A seek of a video by its own time line; `begin()` is the media time at which it begins, NaN while that is not known. */
export function seekOf(video, begin) {
    return (time) => {
        const place = (time - begin()) / 1000;
        const { seekable } = video;
        for (let part = 0; part < seekable.length; part++) {
            if (place < seekable.start(part) - 1 || place > seekable.end(part) + 1) continue;
            video.currentTime = Math.min(Math.max(place, seekable.start(part)), seekable.end(part));
            return "";
        }
        return seekable.length === 0 || Number.isNaN(place) ? t("This video cannot be wound.") : t("The video does not have {time}.", { time: timeWords(time) });
    };
}
