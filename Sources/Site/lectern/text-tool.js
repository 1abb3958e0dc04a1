/** The tool that writes texts: a tap opens a field on the board, and what is typed is drawn when it is closed. */

import { firstLiveID } from "./painter.js";
import { t } from "./language.js";
import { element, layoutAround } from "./dom.js";
import { answered, removals } from "./erasers.js";
import { Element } from "./records.js";
import { fontFamily, fontSize, linesOf, widthOf } from "./images.js";

/** Bytes of a text at most; see `BoardText`. */
const mostBytes = 2000;
/** Heights of a line, in board units. */
const [leastHeight, mostHeight] = [4, 512];
/** CSS pixels that a tap moves at most. */
const tapReach = 12;
/** The code of keys that an input method takes. */
const composingKey = 229;
/** Pixels that the caret needs beside the text. */
const caretRoom = 4;

const encoder = new TextEncoder();
const bytesOf = (text) => encoder.encode(text).length;

/** Below a text while it is written: what its colour is seen on. */
function groundOf(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    return 0.3 * red + 0.59 * green + 0.11 * blue > 210 ? "#1b1e23" : "#fff";
}

/** What a message may have: no control characters but line feeds, no overrides of direction. */
function cleaned(text) {
    const known = text
        .replace(/\r\n?/g, "\n")
        .replace(/\t/g, "    ")
        .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
    return known.toWellFormed?.() ?? known;
}

/** Takes off what is before the caret and makes a text too long: the end of what was typed or pasted. */
function shorten(field) {
    if (bytesOf(cleaned(field.value)) <= mostBytes) return;
    const [before, after] = [field.value.slice(0, field.selectionEnd), field.value.slice(field.selectionEnd)];
    let [room, end] = [mostBytes - bytesOf(cleaned(after)), 0];
    for (const sign of before) {
        room -= bytesOf(cleaned(sign));
        if (room < 0) break;
        end += sign.length;
    }
    field.value = before.slice(0, end) + after;
    field.setSelectionRange(end, end);
}

export class TextTool {
    /** Of a new text, in board units. */
    lineHeight = 32;
    /** As messages have it. */
    colour = 0;
    #teacher;
    #canvas;
    #isChosen = false;
    /** The field that is open, and what it is of; null while none is. */
    #open = null;
    #remove;
    /** Whether what the pen draws now has closed a field. */
    #hasClosed = false;

    constructor(teacher, canvas, signal) {
        [this.#teacher, this.#canvas] = [teacher, canvas];
        this.#remove = removals(teacher, signal);
        const size = new ResizeObserver(() => this.#place());
        size.observe(canvas);
        // A view zooms and moves the canvas by its style.
        const style = new MutationObserver(() => this.#place());
        style.observe(canvas, { attributeFilter: ["style"] });
        addEventListener("scroll", () => this.#place(), { signal, capture: true, passive: true });
        // Before the teacher leaves, who sends what there is.
        addEventListener("pagehide", () => this.#close(), { signal, capture: true });
        // Telephones end pages that are out of sight without a word.
        document.addEventListener("visibilitychange", () => document.hidden && this.#close(), { signal });
        for (const type of ["writer", "muted", "outbox"]) {
            teacher.addEventListener(type, () => this.#open?.isDue && this.#close(), { signal });
        }
        signal.addEventListener("abort", () => {
            this.#close(true);
            size.disconnect();
            style.disconnect();
        });
    }

    /** Whether a tap opens a field. */
    set isChosen(isChosen) {
        if (isChosen === this.#isChosen) return;
        this.#isChosen = isChosen;
        if (!isChosen) this.#close();
        this.#teacher.gesture = isChosen ? {
            began: () => (this.#hasClosed = this.#close()),
            moved: () => {},
            ended: ({ points }) => this.#tapped(points),
            cancelled: () => {},
        } : null;
    }

    /**
     * Opens a field for who has no pointer: a quarter into what is seen of the page, on the first line without a text.
     *
     * @returns {boolean} whether it is open
     */
    openByKey() {
        if (!this.#isChosen || this.#open || !this.#teacher.isWriting) return false;
        const { size, painter } = this.#teacher.board;
        const box = this.#canvas.getBoundingClientRect();
        const quarter = (from, to, end) => 0.75 * Math.max(from, 0) + 0.25 * Math.min(to, end) - from;
        const perUnit = box.width / size.width;
        const x = quarter(box.left, box.right, innerWidth) / perUnit;
        let y = quarter(box.top, box.bottom, innerHeight) / perUnit + this.lineHeight / 2;
        while (painter.textAt(x + 1, y) && y + 1.5 * this.lineHeight < size.height) y += this.lineHeight;
        this.#show(this.#new(x, y));
        return true;
    }

    #tapped(points) {
        const [first, last] = [points[0], points.at(-1)];
        const perUnit = this.#canvas.getBoundingClientRect().width / this.#teacher.board.size.width;
        if (!first || this.#hasClosed || Math.hypot(last.x - first.x, last.y - first.y) * perUnit > tapReach) return;
        this.#edit(first.x, first.y);
    }

    /** Opens the text at a place, or a new one. */
    async #edit(x, y) {
        const { painter, features } = this.#teacher.board;
        const isOpen = (found) => found !== null && found.id >= firstLiveID;
        const found = features.includes("remove") ? await answered(() => painter.textAt(x, y), isOpen) : null;
        if (!this.#isChosen || this.#open || isOpen(found)) return;
        if (found && this.#teacher.removable([found.id]).length === 0) return this.#teacher.passOver();
        this.#show(found
            ? { index: found.id, text: found.text, x: found.x, right: found.x + found.width, y: found.y, lineHeight: found.lineHeight, colour: found.colour }
            : this.#new(x, y));
    }

    /** A new text, whose first line is around a place. */
    #new(x, y) {
        const { lineHeight, colour } = this;
        return { index: null, text: "", x, right: x, y: y - lineHeight / 2, lineHeight, colour };
    }

    #show(edited) {
        const field = element("textarea", { value: edited.text, "aria-label": t("Text"), spellcheck: false, autocapitalize: "off", autocomplete: "off" });
        field.wrap = "off";
        field.dataset.text = "edited";
        Object.assign(field.style, {
            position: "absolute", margin: "0", padding: "0", border: "0", overflow: "hidden", resize: "none", whiteSpace: "pre",
            fontFamily, zIndex: "5", background: groundOf(this.#cssColour(edited.colour)), outline: "1px dashed #1f4fd8", outlineOffset: "2px", minWidth: "0",
            color: this.#cssColour(edited.colour), caretColor: "#1f4fd8", boxSizing: "content-box", transform: "none",
        });
        let isComposing = false;
        const changed = () => {
            if (!isComposing) shorten(field);
            this.#place();
        };
        field.addEventListener("input", changed);
        field.addEventListener("compositionstart", () => (isComposing = true));
        field.addEventListener("compositionend", () => {
            isComposing = false;
            changed();
        });
        field.addEventListener("keydown", (event) => {
            // Keys of the page are letters here.
            event.stopPropagation();
            // The key that ends a composition comes behind it in Safari.
            if (event.key !== "Escape" || event.isComposing || event.keyCode === composingKey) return;
            event.preventDefault();
            this.#close();
            this.#canvas.focus?.({ preventScroll: true });
        });
        field.addEventListener("focus", () => this.#wait(false));
        // Not where another window has come before this one: the person comes back to the field.
        field.addEventListener("blur", () => field.getRootNode().activeElement !== field && this.#close());
        this.#open = { field, page: this.#teacher.page, isDue: false, ...edited };
        this.#canvas.after(field);
        this.#place();
        field.focus({ preventScroll: true });
        field.setSelectionRange(field.value.length, field.value.length);
    }

    #cssColour(colour) {
        const { features, palette } = this.#teacher.board;
        return features.includes("rgb") ? `#${colour.toString(16).padStart(6, "0")}` : palette[colour] ?? "#000000";
    }

    /** By the core; while there is none, as it was. */
    #isRightToLeft(text) {
        return this.#teacher.board.painter.isRightToLeft(text) ?? this.#open.field.dir === "rtl";
    }

    /**
     * Where a text lies, in board units: in the board, smaller where a line is wider than that. It begins at `x`, or at `right` where it
     * reads from right to left.
     */
    #box(text, { x, right, y, lineHeight }) {
        const board = this.#teacher.board.size;
        const widest = Math.max(widthOf(text), 0.1);
        const lines = linesOf(text).length;
        const height = Math.min(Math.max(Math.min(lineHeight, board.width / widest, board.height / lines), leastHeight), mostHeight);
        const [width, tall] = [widest * height, lines * height];
        const left = this.#isRightToLeft(text) ? right - width : x;
        return {
            lineHeight: height, width, height: tall, x: Math.max(Math.min(left, board.width - width), 0),
            y: Math.max(Math.min(y, board.height - tall), 0),
        };
    }

    #place() {
        if (!this.#open) return;
        const { field } = this.#open;
        const canvas = this.#canvas.getBoundingClientRect();
        const { zoom, placeAt } = layoutAround(field);
        const origin = placeAt(canvas.left, canvas.top);
        const scale = canvas.width / zoom / this.#teacher.board.size.width;
        const text = cleaned(field.value);
        const box = this.#box(text, this.#open);
        const line = box.lineHeight * scale;
        field.dir = this.#isRightToLeft(text) ? "rtl" : "ltr";
        // The caret is behind the text.
        Object.assign(field.style, {
            left: `${origin.x + box.x * scale - (field.dir === "rtl" ? caretRoom : 0)}px`, top: `${origin.y + box.y * scale}px`,
            width: `${box.width * scale + caretRoom}px`, height: `${box.height * scale}px`, fontSize: `${line * fontSize}px`,
            lineHeight: `${line}px`,
        });
    }

    /**
     * Draws what was typed, and removes the field: at once, or when the teacher takes operations again, unless that is forced. Returns
     * whether a field was open.
     */
    #close(isForced = false) {
        const open = this.#open;
        if (!open) return false;
        // Sending tells of the outbox, which is no reason to send it again.
        open.isDue = false;
        if (!this.#write(open) && !isForced) {
            this.#wait(true);
            return true;
        }
        this.#open = null;
        open.field.remove();
        return true;
    }

    /** Shows whether the field waits for the teacher to take its text. */
    #wait(isDue) {
        const open = this.#open;
        if (!open) return;
        open.isDue = isDue;
        open.field.setAttribute("aria-invalid", String(isDue));
        open.field.style.outlineColor = isDue ? "#c5221f" : "#1f4fd8";
    }

    /** Sends what was typed. Returns whether all of it was taken. */
    #write(open) {
        const text = cleaned(open.field.value);
        if (text === open.text) return true;
        const isBlank = text.trim() === "";
        // Where another teacher has turned to another page, what was typed is not lost: it is a new text of that page.
        const old = open.page === this.#teacher.page ? open.index : null;
        const { lineHeight, ...box } = this.#box(text, open);
        if (old === null) return isBlank || this.#teacher.writeText(text, { ...box, lineHeight, colour: open.colour });
        // One step for an undo.
        const isTaken = isBlank ? this.#teacher.remove([old]) : this.#teacher.redraw([old], [this.#message(text, box, lineHeight, open.colour)]);
        if (!isTaken) return false;
        this.#remove([old]);
        return true;
    }

    /** A text as messages have it, without a number of its own. */
    #message(x, box, l, c) {
        const { width: w, height: h } = this.#teacher.board.size;
        const [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height].map((place) => Math.round(place * 100) / 100);
        return { n: 0, c, e: Element.text, l, w, h, x, d: [{ x: left, y: top }, { x: right, y: bottom }] };
    }
}
