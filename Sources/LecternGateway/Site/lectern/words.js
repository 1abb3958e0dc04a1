/**
 * How a board says what it is doing.
 *
 * @module
 */

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
        case "live": return ["good", "Connected"];
        case "connecting": return ["wait", "Connecting…"];
        case "refused": return ["bad", refusals.includes(code) ? "Not allowed in" : reason];
        case "closed": return ["", "Closed"];
        default: {
            const seconds = Math.max(Math.ceil((retryAt - Date.now()) / 1000), 0);
            return ["bad", seconds > 1 ? `Offline, trying again in ${seconds} s` : "Offline, trying again…"];
        }
    }
}

/**
 * How far a large board is drawn.
 *
 * @param {number} part 0 … 1
 */
export function drawingWords(part) {
    return `Drawing the board, ${Math.round(part * 100)} %`;
}

/**
 * Where a page stands in the order of a board's pages: `Page 2 of 5`.
 *
 * @param {number} page
 * @param {number[]} order
 */
export function pageWords(page, order) {
    return `Page ${order.indexOf(page) + 1} of ${order.length}`;
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
    const place = order.length > 1 ? `, ${pageWords(page, order).toLowerCase()}` : "";
    return `Whiteboard of ${room}${place}: ${strokes} ${strokes === 1 ? "stroke" : "strokes"}`;
}
