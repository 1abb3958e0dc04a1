/**
 * The tool that writes texts: a tap opens a field on the board, and what is typed is drawn when it is closed.
 *
 * @module
 */

import { firstLiveID } from "./painter.js";
import { t } from "./language.js";
import { element } from "./dom.js";
import { Removals } from "./stroke-eraser.js";
import { Element } from "./teacher.js";
import { fontFamily, fontSize, linesOf, widthOf } from "./images.js";

/** Bytes of a text at most; see `BoardText`. */
const mostBytes = 2000;
/** Heights of a line, in board units. */
const [leastHeight, mostHeight] = [4, 512];
/** CSS pixels that a tap moves at most. */
const tapReach = 12;
/** The code of keys that an input method takes. */
const composingKey = 229;
/** How long an answer of the room is waited for, in milliseconds. */
const longestWait = 3000;
const waitStep = 100;
/** Pixels that the caret needs beside the text. */
const caretRoom = 4;

const encoder = new TextEncoder();
const bytesOf = (text) => encoder.encode(text).length;

/** Below a text while it is written: what its colour is seen on. */
function groundOf(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
    return 0.3 * red + 0.59 * green + 0.11 * blue > 210 ? "#1b1e23" : "#fff";
}

/** Whether a text reads from right to left, by its first letter; `BoardText` has the rule. */
function isRightToLeft(text) {
    const [letter] = text.match(/[\p{L}\u200e\u200f\u061c]/u) ?? [""];
    return /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefe\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter);
}

/** What a message may have: no control characters but line feeds, no overrides of direction. */
function cleaned(text) {
    const known = text
        .replace(/\r\n?/g, "\n")
        .replace(/\t/g, "    ")
        .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
    return known.toWellFormed?.() ?? known;
}

/** Writes while it is chosen. */
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
    #removals;
    /** Whether what the pen draws now has closed a field. */
    #hasClosed = false;

    /**
     * @param {import("./teacher.js").Teacher} teacher
     * @param {HTMLCanvasElement} canvas of its board
     * @param {AbortSignal} signal that ends it
     */
    constructor(teacher, canvas, signal) {
        [this.#teacher, this.#canvas] = [teacher, canvas];
        this.#removals = new Removals(teacher, signal);
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

    #tapped(points) {
        const [first, last] = [points[0], points.at(-1)];
        const perUnit = this.#canvas.getBoundingClientRect().width / this.#teacher.board.size.width;
        if (!first || this.#hasClosed || Math.hypot(last.x - first.x, last.y - first.y) * perUnit > tapReach) return;
        this.#edit(first.x, first.y);
    }

    /** Opens the text at a place, or a new one. */
    async #edit(x, y) {
        const { painter, features } = this.#teacher.board;
        let found = features.includes("remove") ? painter.textAt(x, y) : null;
        // One that the room has not answered for yet cannot be named.
        for (let waited = 0; found && found.id >= firstLiveID && waited < longestWait; waited += waitStep) {
            await new Promise((resolve) => setTimeout(resolve, waitStep));
            found = painter.textAt(x, y);
        }
        if (!this.#isChosen || this.#open || (found && found.id >= firstLiveID)) return;
        const { lineHeight, colour } = this;
        this.#show(found
            ? { index: found.id, text: found.text, x: found.x, right: found.x + found.width, y: found.y, lineHeight: found.lineHeight, colour: found.colour }
            : { index: null, text: "", x, right: x, y: y - lineHeight / 2, lineHeight, colour });
    }

    #show(edited) {
        const field = element("textarea", { value: edited.text, ariaLabel: t("Text"), spellcheck: false, autocapitalize: "off" });
        field.setAttribute("autocomplete", "off");
        field.wrap = "off";
        field.dataset.text = "edited";
        Object.assign(field.style, {
            position: "absolute", margin: "0", padding: "0", border: "0", overflow: "hidden", resize: "none", whiteSpace: "pre",
            fontFamily, zIndex: "5", background: groundOf(this.#cssColour(edited.colour)), outline: "1px dashed #1f4fd8", outlineOffset: "2px", minWidth: "0",
            color: this.#cssColour(edited.colour), caretColor: "#1f4fd8", boxSizing: "content-box", transform: "none",
        });
        let valid = edited.text;
        let isComposing = false;
        const changed = () => {
            if (isComposing) return this.#place();
            if (bytesOf(cleaned(field.value)) > mostBytes) field.value = valid;
            else valid = field.value;
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
        const left = isRightToLeft(text) ? right - width : x;
        return {
            lineHeight: height, width, height: tall, x: Math.max(Math.min(left, board.width - width), 0),
            y: Math.max(Math.min(y, board.height - tall), 0),
        };
    }

    /** Puts the field where its text will be. */
    #place() {
        if (!this.#open) return;
        const { field } = this.#open;
        const canvas = this.#canvas.getBoundingClientRect();
        const sheet = field.offsetParent ?? document.documentElement;
        const parent = sheet.getBoundingClientRect();
        // Pixels of the window a pixel of the sheet, where that is shown larger.
        const zoom = parent.width / sheet.offsetWidth || 1;
        const scale = canvas.width / zoom / this.#teacher.board.size.width;
        const text = cleaned(field.value);
        const box = this.#box(text, this.#open);
        const line = box.lineHeight * scale;
        field.dir = isRightToLeft(text) ? "rtl" : "ltr";
        // The caret is behind the text.
        const start = (canvas.left - parent.left) / zoom - sheet.clientLeft + box.x * scale - (field.dir === "rtl" ? caretRoom : 0);
        Object.assign(field.style, {
            left: `${start}px`,
            top: `${(canvas.top - parent.top) / zoom - sheet.clientTop + box.y * scale}px`,
            width: `${box.width * scale + caretRoom}px`, height: `${box.height * scale}px`, fontSize: `${line * fontSize}px`,
            lineHeight: `${line}px`,
        });
    }

    /**
     * Draws what was typed, and removes the field: at once, or when the teacher takes operations again.
     *
     * @param {boolean} isForced whether the field goes even where its text is not taken
     * @returns {boolean} whether a field was open
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
        this.#teacher.board.painter.hide([old]);
        this.#removals.add([old]);
        return true;
    }

    /** A text as messages have it, without a number of its own. */
    #message(x, box, l, c) {
        const { width: w, height: h } = this.#teacher.board.size;
        const [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height].map((place) => Math.round(place * 100) / 100);
        return { n: 0, c, e: Element.text, l, w, h, x, d: [{ x: left, y: top }, { x: right, y: bottom }] };
    }
}
