/**
 * A dark board, as somebody's own choice: a view of this browser, of which no one else knows.
 *
 * @module
 */

import { remember, remembered } from "../lectern/memory.js";
import { $, element, letterKeys, t } from "./common.js";
import { iconOf } from "../lectern/dom.js";

const storageKey = "lectern-dark-board";

/**
 * Makes the button that switches a board, and binds the key B.
 *
 * @param {{isDark: boolean} & EventTarget} board
 * @param {HTMLElement} group gets the button
 */
export function bindDarkBoard(board, group) {
    const button = element("button", { className: "plain", type: "button", title: `${t("Dark board")} (B)`, ariaLabel: t("Dark board") });
    button.setAttribute("aria-keyshortcuts", "B");
    button.append(iconOf("dark-board"));
    group.append(button);
    const set = (isDark) => {
        board.isDark = isDark;
        button.setAttribute("aria-pressed", String(isDark));
    };
    set(remembered(storageKey) === "on");
    const toggle = () => {
        set(!board.isDark);
        remember(storageKey, board.isDark ? "on" : "off");
    };
    button.addEventListener("click", toggle);
    // What is below the ink: with the picture, so that no ink is unseen.
    board.addEventListener("ground", ({ detail }) => $("sheet").toggleAttribute("data-dark", detail.isDark));
    document.addEventListener("keydown", (event) => {
        if (event.key.toLowerCase() !== "b" || event.ctrlKey || event.metaKey || event.altKey || !letterKeys.take(event)) return;
        toggle();
    });
}
