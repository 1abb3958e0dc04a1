/** How a board says what it is doing, its texts for screen readers, and what people are called. */

import { t } from "./language.js";
import { element, KeyedList } from "./dom.js";
import { now } from "./gateway.js";

/** Codes of the gateway for those whom it does not let in. */
export const refusals = ["unauthorized", "revoked", "forbidden"];

/** The state of a connection as a tone, `good`, `wait`, `bad` or "", and words. */
export function connectionWords({ state, reason, code, retryAt }) {
    switch (state) {
        case "live": return ["good", t("Connected")];
        case "connecting": return ["wait", t("Connecting…")];
        case "refused": return ["bad", refusals.includes(code) ? t("Not allowed in") : reason];
        case "closed": return ["", t("Closed")];
        default: {
            if (code === "core-failed") return ["bad", reason];
            const seconds = Math.max(Math.ceil((retryAt - now()) / 1000), 0);
            return ["bad", seconds > 1 ? t("Offline, trying again in {seconds} s", { seconds }) : t("Offline, trying again…")];
        }
    }
}

/** Tells how the connection of a board stands, with each change, and each second while it waits. */
export function followConnection(board, show) {
    let connection = { state: "connecting" };
    let timer = null;
    board.addEventListener("connection", ({ detail }) => {
        // It tries again now and then: that lets nobody in yet.
        if (detail.state === "connecting" && connection.state === "refused") return;
        connection = detail;
        clearInterval(timer);
        show(connection);
        if (connection.state === "waiting") timer = setInterval(() => show(connection), 1000);
    });
}

/** How far a large board is drawn: 0 … 1. */
export function drawingWords(part) {
    return t("Drawing the board, {percent} %", { percent: Math.round(part * 100) });
}

/** Where a page stands in the order of a board's pages: `Page 2 of 5`. */
export function pageWords(page, order) {
    return t("Page {number} of {count}", { number: order.indexOf(page) + 1, count: order.length });
}

/** What a screen reader says of a board's picture, with so many strokes on the page. */
export function boardWords(room, strokes, page, order) {
    const words = t("Whiteboard of {room}: {strokes}", { room, strokes: strokesWords(strokes) });
    return order.length > 1 ? `${words}. ${pageWords(page, order)}` : words;
}

export function strokesWords(count) {
    return count === 1 ? t("1 stroke") : t("{count} strokes", { count });
}

/** Why a tool has left what others have drawn. */
export function foreignWords() {
    return t("What others have drawn stays: in this room each author removes and changes their own strokes and texts alone.");
}

/** Fills a region with the texts of the page that is seen, and says those that come: hide it from sight, not from screen readers. */
export function bindTexts(board, region) {
    region.replaceChildren();
    region.setAttribute("role", "log");
    region.setAttribute("aria-label", t("Texts of this page"));
    // What is there stays as it is, so that it is not read again. A text may be there several times.
    const rows = new KeyedList(region, (key) => ({ node: element("p", { dir: "auto", textContent: key.slice(key.indexOf(" ") + 1) }) }));
    board.addEventListener("texts", ({ detail: { texts } }) => {
        rows.show(texts.map((text, place) => `${texts.slice(0, place).filter((other) => other === text).length} ${text}`));
    });
}

/*
 * What people are called. A room knows authors, which are tokens of subjects: a to z, 0 to 9, _ and -. The name that is shown comes with
 * what its author draws, under the key `by` of the message: so it is in the room's log, and with that in joins and replays.
 */

/** Characters of a name. */
const most = 64;
/** Control characters, line ends, halves of characters, and what turns the direction of the text around it. */
const unusable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;
/** Something of a name is seen. */
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether a text is a name: 1 to 64 characters, none of them a control character or an override of directions. */
export function isName(text) {
    const name = cleanName(text);
    return name !== "" && name === text.trim();
}

/** What of a value can be shown as a name; "" where it is none. */
export function cleanName(value) {
    if (typeof value !== "string" || !visible.test(value)) return "";
    return [...value.replace(unusable, "").trim()].slice(0, most).join("").trim();
}

/**
 * The author that a name stands for: its letters and digits without accents, in lower case. Where letters of other scripts are left
 * out, a hash of the name is added, so that two names are two authors.
 */
export function authorOf(name) {
    const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
    const letters = plain.replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
    if (letters !== "" && /^[\x20-\x7e]*$/.test(plain)) return letters.slice(0, most);
    return `${letters.slice(0, most - 8) || "n"}-${hash(name.normalize("NFC").toLowerCase().trim())}`;
}

/** FNV-1a of 32 bits, in base 36. */
function hash(text) {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
    return value.toString(36);
}
