/** The controls of the teacher's and the student's page: their names and keys, and the list of all keys. */

import { bindControls, pageControls, toolControls } from "../lectern/controls.js";
import { $, dialogOf, element, letterKeys, t } from "./common.js";

const ofBoth = () => ({
    full: [t("Full screen"), "F"],
    help: [t("All keys"), "?"],
});

/** Those of the teacher's page, by their ids: the name, and the key as people read it. */
export const teacherControls = () => ({
    ...toolControls(),
    ...pageControls(),
    import: [t("Bring in slides or a picture"), "I"],
    "page-export": [t("Save all pages as PDF"), "Z"],
    fingers: [t("Draw with fingers"), "J"],
    "audience-button": [t("Audience"), "A"],
    ...ofBoth(),
});

export const studentControls = () => ({
    "contents-button": [t("Pages and their times"), "C"],
    notes: [t("Notes of your own"), "N"],
    "notes-1": [t("Blue pen"), "1"],
    "notes-2": [t("Red pen"), "2"],
    "notes-3": [t("Green pen"), "3"],
    "notes-eraser": [t("Eraser of notes"), "E"],
    "notes-undo": [t("Undo the last note"), "Ctrl Z"],
    "notes-clear": [t("Clear your notes of this page"), "X"],
    "notes-hide": [t("Hide your notes"), "H"],
    "notes-done": [t("End writing"), "Escape"],
    play: [t("Play"), "Space"],
    back: [t("Back 10 seconds"), "J"],
    forward: [t("Forward 10 seconds"), "L"],
    "demo-play": [t("Play or pause"), "D"],
    "page-back": [t("Page before"), "PageUp"],
    "page-next": [t("Next page"), "PageDown"],
    live: [t("Back to live"), "T"],
    whole: [t("Show the whole page"), "0"],
    "video-toggle": [t("Video"), "V"],
    "full-end": [t("End full screen"), "Escape"],
    ...ofBoth(),
});

/** Binds the keys of a page, the box that switches letters, and the list of all. */
export function bindKeys(controls) {
    bindControls(document, controls);
    $("keys").checked = letterKeys.isOn;
    $("keys").addEventListener("change", () => (letterKeys.isOn = $("keys").checked));
    const list = element("dl", { className: "key-list", tabIndex: 0 });
    const dialog = dialogOf(t("All keys"), list);
    $("help").addEventListener("click", () => {
        // Those of a player, say, only where there is one. Two controls may do the same by one key.
        const inUse = [...document.querySelectorAll("[aria-keyshortcuts]")].filter((control) => !control.closest("section[hidden], .demo[hidden]"));
        const keys = [...new Set(inUse.map(({ title }) => title))].map((title) => /^(.*) \((.*)\)$/s.exec(title).slice(1));
        if ($("widths")) keys.push([t("Colours"), "1 … 9"], [t("Width"), "[ ]"], [t("Write, where the tool is Text"), "Enter"]);
        list.replaceChildren(...keys.map(([name, key]) =>
            element("div", {}, element("dt", {}, element("kbd", { textContent: key })), element("dd", { textContent: name }))));
        dialog.showModal();
    });
}
