/**
 * The controls of the teacher's tools: what each is called, and its key. Tooltips and keys come from these tables. They are functions:
 * a bundle has those alone that it uses, and names are in the reader's language.
 */

import { describe, iconButton, letterKeys } from "./dom.js";
import { t } from "./language.js";

/** Those of the toolbar, by the ids of their elements: the name, and the key as people read it. */
export const toolControls = () => ({
    "tool-pen": [t("Pen"), "P"],
    "tool-highlighter": [t("Highlighter"), "H"],
    "tool-line": [t("Line"), "L"],
    "tool-pointing": [t("Arrow"), "W"],
    "tool-ellipse": [t("Ellipse"), "O"],
    "tool-rectangle": [t("Rectangle"), "R"],
    "tool-text": [t("Text"), "T"],
    "tool-pointer": [t("Pointer: seen for a moment"), "K"],
    "tool-eraser": [t("Eraser"), "E"],
    "tool-stroke-eraser": [t("Eraser of whole strokes"), "D"],
    "tool-lasso": [t("Lasso: select, move, copy"), "S"],
    hover: [t("Point without touching"), "V"],
    palette: [t("All colours"), "C"],
    undo: [t("Undo"), "Ctrl Z"],
    redo: [t("Redo"), "Ctrl Shift Z"],
    clear: [t("Clear the page"), "X"],
});

/** Those of a selection, the paper, and the strip of pages. */
export const pageControls = () => ({
    "selection-copy": [t("Copy the selection"), "Ctrl D"],
    // Before the paper, which the key is for otherwise.
    "selection-ground": [t("Make this the background"), "G"],
    "selection-delete": [t("Delete the selection"), "Delete"],
    "selection-done": [t("Drop the selection"), "Escape"],
    paper: [t("Paper of this page"), "G"],
    "page-add": [t("Add a page"), "N"],
    "page-copy": [t("Copy this page"), "Y"],
    "page-rotate": [t("Rotate this page clockwise"), "Q"],
    "page-remove": [t("Take out this page"), "M"],
    "page-restore": [t("Bring back the page taken out last"), "U"],
});

/** A button with the icon, the name and the key of a control of the toolbar. */
export function controlButton(id, properties = {}) {
    const [name, key] = toolControls()[id];
    return iconButton(id.replace("tool-", ""), name, key, { id, ...properties });
}

/**
 * Gives controls, which `root` has now or later by their ids, their names and keys: a key of one sign clicks the first of its controls that
 * can be used.
 */
export function bindControls(root, controls) {
    for (const [id, [name, key]] of Object.entries(controls)) {
        const control = root.getElementById(id);
        if (control) describe(control, name, key);
    }
    (root.host ?? root).addEventListener("keydown", (event) => {
        const key = event.repeat || event.target.closest?.("video") ? null : letterKeys.of(event);
        if (key?.length !== 1) return;
        for (const [id, [, of]] of Object.entries(controls)) {
            const control = of.toLowerCase() === key ? root.getElementById(id) : null;
            if (!control || control.disabled || control.closest("[hidden]")) continue;
            event.preventDefault();
            return control.click();
        }
    });
}
