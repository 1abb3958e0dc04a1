/** Notes of one's own above the board: their tools, their keys, and files with them. */

import { keyOf } from "../lectern/dom.js";
import { mark, t } from "../lectern/language.js";
import { $, letterKeys, saveLinked, say, serverKey } from "./common.js";
import { curve, drawNotes, noteColours, NotesLayer } from "./notes-layer.js";

const fullWords = mark("Your notes are full: this browser keeps two million characters of them. Erase some, or clear those of pages and rooms that you no longer need.");
const unkeptWords = mark("This browser keeps nothing for this page: your notes last until you leave it.");
const failureWords = mark("The file with your notes could not be made: {reason} Print the page to have both.");

export function bindNotes(board, view, room) {
    const store = new NotesStore(room);
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
        if (layer.isOn && keyOf(event) === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
            event.preventDefault();
            return layer.undo();
        }
        const key = event.target.closest?.("video") ? null : letterKeys.of(event);
        // Also where no button is seen that hides them.
        if (key === "h") hide(!layer.isHidden);
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

    function save(event, make, page = null) {
        event.preventDefault();
        const link = event.currentTarget;
        saveLinked(link, { href: withPage(link.href, page), make, failure: failureWords });
    }
}

function withPage(address, page) {
    const url = new URL(address);
    if (page === null) url.searchParams.delete("page");
    else url.searchParams.set("page", page);
    return url.href;
}

/** Characters of all notes that this browser keeps for these pages, keys included. */
const mostCharacters = 2 ** 21;
/** Steps of a page that can be undone. */
const mostSteps = 100;
/** Places and widths are kept in parts of a board unit, each of them less than a pixel where the page is seen 16 times larger. */
const parts = 64;
/** What all keys of notes begin with, those of other rooms too. */
const family = "lectern-notes ";

// A note is a stroke, `{colour, width, points}`: the number of its colour, and x and y of each point, in board units. It never changes.

/** The notes of a room, by page, kept in this browser and nowhere else. Event: `change`, with `{page}`, where another page of this browser has changed them. */
export class NotesStore extends EventTarget {
    #prefix;
    /** Notes of pages, and the notes before each step. */
    #pages = new Map();
    #steps = new Map();
    /** Characters of all notes but those of a key; null until they are counted. */
    #beside = null;

    constructor(room) {
        super();
        this.#prefix = `${serverKey("notes", room)} `;
        addEventListener("storage", ({ key }) => {
            this.#beside = null;
            if (key !== null && !key.startsWith(this.#prefix)) return;
            const pages = key === null ? [...this.#pages.keys()] : [Number(key.slice(this.#prefix.length))];
            for (const page of pages) {
                this.#pages.delete(page);
                this.#steps.delete(page);
                this.dispatchEvent(new CustomEvent("change", { detail: { page } }));
            }
        });
    }

    /** The notes of a page, from the bottom to the top. */
    on(page) {
        if (!this.#pages.has(page)) this.#pages.set(page, this.#read(page));
        return this.#pages.get(page);
    }

    canUndo(page) {
        return (this.#steps.get(page)?.length ?? 0) > 0;
    }

    /** Changes the notes of a page, as one step. Returns `full`: nothing has changed, for no more is kept; `unkept`: the browser keeps nothing. */
    change(page, notes) {
        const before = this.on(page);
        const outcome = this.#write(page, notes);
        if (outcome === "full") return outcome;
        this.#steps.set(page, [...(this.#steps.get(page) ?? []), before].slice(-mostSteps));
        return outcome;
    }

    /** Takes the last step of a page back; returns as {@link change}. */
    undo(page) {
        const steps = this.#steps.get(page) ?? [];
        if (steps.length === 0) return "";
        const outcome = this.#write(page, steps.at(-1));
        if (outcome !== "full") steps.pop();
        return outcome;
    }

    #read(page) {
        try {
            const [stored, ...notes] = JSON.parse(localStorage.getItem(this.#prefix + page) ?? "[]");
            return notes.map((note) => noteOf(note, stored));
        } catch {
            return [];
        }
    }

    #write(page, notes) {
        const key = this.#prefix + page;
        const text = `[${[parts, ...notes.map(textOf)]}]`;
        try {
            if (notes.length === 0) localStorage.removeItem(key);
            else {
                const isMore = text.length > (localStorage.getItem(key)?.length ?? 0);
                if (isMore && this.#charactersBeside(key) + key.length + text.length > mostCharacters) return "full";
                localStorage.setItem(key, text);
            }
        } catch (error) {
            if (error.name === "QuotaExceededError" || text.length > mostCharacters) return "full";
            this.#pages.set(page, notes);
            return "unkept";
        }
        this.#pages.set(page, notes);
        return "";
    }

    #charactersBeside(key) {
        if (this.#beside?.key !== key) {
            const others = Object.keys(localStorage).filter((other) => other.startsWith(family) && other !== key);
            this.#beside = { key, count: others.reduce((sum, other) => sum + other.length + localStorage.getItem(other).length, 0) };
        }
        return this.#beside.count;
    }
}

/** Notes never change. */
const texts = new WeakMap();

/** A note as whole numbers: colour, width, the first place, and how far each further one is from the one before. */
function textOf(note) {
    if (!texts.has(note)) {
        const { colour, width, points } = note;
        const places = points.map((number) => Math.round(number * parts));
        const steps = places.map((place, at) => (at < 2 ? place : place - places[at - 2]));
        texts.set(note, JSON.stringify([colour, Math.max(Math.round(width * parts), 1), ...steps]));
    }
    return texts.get(note);
}

function noteOf([colour, width, ...steps], unit) {
    if (![unit, colour, width, ...steps].every(Number.isFinite) || steps.length < 2) throw new Error("no note");
    const places = [];
    for (const step of steps) places.push(places.length < 2 ? step : places.at(-2) + step);
    return { colour, width: width / unit, points: places.map((place) => place / unit) };
}

/** The server's picture with notes above it: files with notes are put together in this browser, and the server learns nothing of them. */
async function pictureWithNotes(file, notes, { width, height }) {
    const picture = await createImageBitmap(file);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    context.scale(picture.width / width, picture.height / height);
    drawNotes(context, notes);
    return new Promise((done, fail) => canvas.toBlob((made) => (made ? done(made) : fail(new Error(t("No picture was made.")))), "image/png"));
}

/**
 * The server's PDF with notes on its pages: its objects stay as they are, and those of the notes are appended, as PDF has it for
 * changes (ISO 32000, 7.5.6). `pages`: the notes of each.
 */
function documentWithNotes(file, pages, size) {
    const known = new KnownDocument(file);
    const objects = new Map();
    const add = (number, text) => objects.set(number, text);
    let next = known.size;
    const stream = (text) => {
        add(next, `<< /Length ${text.length} >>\nstream\n${text}\nendstream`);
        return next++;
    };
    // What the page does to the coordinates stays its own.
    let begin = null;
    known.pages.forEach((number, place) => {
        const notes = pages[place] ?? [];
        if (notes.length === 0) return;
        begin ??= stream("q");
        const page = known.object(number);
        const box = page.match(/\/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)\s*\]/);
        const contents = page.match(/\/Contents\s+(\d+ 0 R)/);
        if (!box || !contents) throw new Error(t("It is written in a way that is not known here."));
        const own = stream(`Q\n${marksOf(notes, Number(box[1]), Number(box[2]), size)}`);
        add(number, page.replace(contents[0], `/Contents [ ${begin} 0 R ${contents[1]} ${own} 0 R ]`));
    });
    let text = "\n";
    const places = new Map();
    for (const [number, body] of objects) {
        places.set(number, file.length + text.length);
        text += `${number} 0 obj\n${body}\nendobj\n`;
    }
    const table = file.length + text.length;
    text += "xref\n";
    for (const [number, place] of [...places].sort(([one], [other]) => one - other)) {
        text += `${number} 1\n${String(place).padStart(10, "0")} 00000 n \n`;
    }
    text += `trailer\n<< /Size ${next} /Root ${known.root} 0 R /Prev ${known.table} >>\nstartxref\n${table}\n%%EOF\n`;
    return new Blob([file, Uint8Array.from(text, (character) => character.charCodeAt(0))], { type: "application/pdf" });
}

function marksOf(notes, across, down, { width, height }) {
    const number = (value) => String(Math.round(value * 1000) / 1000);
    const [x, y] = [across / width, down / height];
    const lines = [`q ${number(x)} 0 0 ${number(-y)} 0 ${number(down)} cm 1 J 1 j`];
    for (const { colour, width: line, points } of notes) {
        const parts = (noteColours[colour] ?? noteColours[0]).match(/[0-9a-f]{2}/g).map((part) => number(Number.parseInt(part, 16) / 255));
        lines.push(`${parts.join(" ")} RG ${number(line)} w`);
        let at = [0, 0];
        curve(points, (...place) => {
            at = place;
            lines.push(`${place.map(number).join(" ")} m`);
        }, (bendX, bendY, toX, toY) => {
            // PDF has cubic curves alone.
            const third = (from, to) => from + (2 / 3) * (to - from);
            const curve = [third(at[0], bendX), third(at[1], bendY), third(toX, bendX), third(toY, bendY), toX, toY];
            lines.push(`${curve.map(number).join(" ")} c`);
            at = [toX, toY];
        });
        lines.push("S");
    }
    return `${lines.join("\n")}\nQ`;
}

/** What there is in a PDF of the service: a table of objects, and a list of pages. */
class KnownDocument {
    #text;
    #places = new Map();

    constructor(file) {
        // A character a byte.
        this.#text = Array.from({ length: Math.ceil(file.length / 8192) }, (_, part) =>
            String.fromCharCode(...file.subarray(part * 8192, (part + 1) * 8192))).join("");
        this.table = Number(this.#text.slice(-64).match(/startxref\s+(\d+)/)?.[1] ?? NaN);
        const table = this.#text.slice(this.table);
        const [head, count] = table.match(/^xref\s+0 (\d+)\s+/) ?? [];
        if (!head) throw new Error(t("It is written in a way that is not known here."));
        this.size = Number(count);
        for (let number = 0; number < this.size; number++) {
            this.#places.set(number, Number(table.substr(head.length + 20 * number, 10)));
        }
        this.root = this.#reference(table, /\/Root\s+(\d+) 0 R/);
        const list = this.object(this.#reference(this.object(this.root), /\/Pages\s+(\d+) 0 R/));
        this.pages = [...(list.match(/\/Kids\s*\[([^\]]*)\]/)?.[1] ?? "").matchAll(/(\d+) 0 R/g)].map(([, number]) => Number(number));
    }

    /** What an object without a stream says. */
    object(number) {
        const text = this.#text.slice(this.#places.get(number));
        const head = `${number} 0 obj`;
        if (!text.startsWith(head)) throw new Error(t("It is written in a way that is not known here."));
        return text.slice(head.length, text.indexOf("endobj")).trim();
    }

    #reference(text, pattern) {
        const [, number] = text.match(pattern) ?? [];
        if (!number) throw new Error(t("It is written in a way that is not known here."));
        return Number(number);
    }
}
