/**
 * How a board says what it is doing.
 *
 * @module
 */

import { t } from "./language.js";

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
