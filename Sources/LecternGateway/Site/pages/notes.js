/**
 * Notes of one's own above the board: their tools, their keys, and files with them.
 *
 * @module
 */

import { mark, t } from "../lectern/language.js";
import { $, letterKeys, say } from "./common.js";
import { documentWithNotes, pictureWithNotes } from "./notes-files.js";
import { NotesLayer } from "./notes-layer.js";
import { NotesStore } from "./notes-store.js";

const fullWords = mark("Your notes are full: this browser keeps two million characters of them. Erase some, or clear those of pages and rooms that you no longer need.");
const unkeptWords = mark("This browser keeps nothing for this page: your notes last until you leave it.");

/**
 * Lets a student write above a board.
 *
 * @param {import("../lectern/board.js").Board | import("../lectern/replay.js").Replay} board
 * @param {import("../lectern/view.js").BoardView} view
 * @param {string} room
 */
export function bindNotes(board, view, room) {
    const store = new NotesStore(new URL(board.gateway.url).pathname, room);
    const layer = new NotesLayer(board, $("board"), $("notes-layer"), view, store);
    const colours = [...$("notes-bar").querySelectorAll("[data-colour]")];
    const show = ({ detail } = {}) => {
        $("notes").setAttribute("aria-pressed", String(layer.isOn));
        $("notes-bar").hidden = !layer.isOn;
        $("stage").classList.toggle("has-notes", layer.isOn);
        for (const button of colours) button.setAttribute("aria-pressed", String(Number(button.dataset.colour) === layer.colour));
        $("notes-eraser").setAttribute("aria-pressed", String(layer.colour === null));
        $("notes-undo").disabled = !layer.canUndo;
        $("notes-clear").disabled = layer.notes.length === 0;
        const words = detail?.outcome === "full" ? t(fullWords) : detail?.outcome === "unkept" ? t(unkeptWords) : "";
        $("notes-words").hidden = words === "";
        say($("notes-words"), words);
    };
    const choose = (colour) => {
        layer.colour = colour;
        layer.isOn = true;
    };
    const toggle = (isOn) => {
        layer.isOn = isOn;
        // The bar goes, and takes no focus with it; where the stage fills the window its other buttons are out of reach.
        const hasFocus = $("notes-bar").contains(document.activeElement);
        if (!isOn && hasFocus) $($("full-end").hidden ? "notes" : "full-end").focus({ preventScroll: true });
    };
    layer.addEventListener("change", show);
    $("notes").hidden = false;
    $("notes").addEventListener("click", () => toggle(!layer.isOn));
    for (const button of colours) button.addEventListener("click", () => choose(Number(button.dataset.colour)));
    $("notes-eraser").addEventListener("click", () => choose(null));
    $("notes-undo").addEventListener("click", () => layer.undo());
    $("notes-clear").addEventListener("click", () => layer.clear());
    const hide = (isHidden) => {
        if (isHidden) toggle(false);
        layer.isHidden = isHidden;
    };
    $("notes-hide").addEventListener("click", () => hide(true));
    $("notes-done").addEventListener("click", () => toggle(false));
    document.addEventListener("keydown", (event) => {
        const key = event.key.toLowerCase();
        if (layer.isOn && key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
            event.preventDefault();
            return layer.undo();
        }
        if (!letterKeys.take(event) || event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("video")) return;
        if (key === "n") toggle(!layer.isOn);
        else if (key === "h") hide(!layer.isHidden);
        else if (layer.isOn && key === "e") choose(null);
        else if (layer.isOn && colours[Number(key) - 1]) choose(Number(key) - 1);
        else if (layer.isOn && key === "escape") toggle(false);
        else return;
        event.preventDefault();
    });
    bindFiles(board, layer, store);
    show();
}

/** The links of files give those with notes, where there are any to be seen. */
function bindFiles(board, layer, store) {
    const links = { png: $("save-png"), pdf: $("save-pdf") };
    links.png.addEventListener("click", (event) => {
        // The page that is seen, which may be another than the class's.
        links.png.href = withPage(links.png.href, board.page === board.pages.shown ? null : board.page);
        const { notes } = layer;
        if (layer.isHidden || notes.length === 0) return;
        save(event, async (reply) => pictureWithNotes(await reply.blob(), notes, board.size), board.page);
    });
    links.pdf.addEventListener("click", (event) => {
        const pages = board.pages.order.map((page) => store.on(page));
        if (layer.isHidden || pages.every((notes) => notes.length === 0)) return;
        save(event, async (reply) => documentWithNotes(new Uint8Array(await reply.arrayBuffer()), pages, board.size));
    });

    async function save(event, make, page = null) {
        event.preventDefault();
        const link = event.currentTarget;
        try {
            const reply = await fetch(withPage(link.href, page), { cache: "no-store" });
            if (!reply.ok) throw new Error(t("The server answered {status}.", { status: reply.status }));
            const address = URL.createObjectURL(await make(reply));
            const file = document.createElement("a");
            [file.href, file.download] = [address, link.download];
            file.click();
            // Some browsers begin to read it later.
            setTimeout(() => URL.revokeObjectURL(address), 60_000);
        } catch (error) {
            $("notes-words").hidden = false;
            say($("notes-words"), t("The file with your notes could not be made: {reason} Print the page to have both.", { reason: error.message }));
        }
    }
}

function withPage(address, page) {
    const url = new URL(address);
    if (page === null) url.searchParams.delete("page");
    else url.searchParams.set("page", page);
    return url.href;
}
