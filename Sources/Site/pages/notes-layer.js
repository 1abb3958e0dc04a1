/** The canvas of one's own notes above a board, and the hand that writes on it. */

import { capture, isEraser, onPixelRatio, svgElement, placeOn, samplesOf } from "../lectern/dom.js";
import { t } from "../lectern/language.js";
import { strokesWords } from "../lectern/words.js";

/** What notes are drawn with: seen on white paper and on a dark board. */
export const noteColours = ["#2f6fde", "#d63a3a", "#238a45"];
/** CSS pixels: of a line, of the eraser around its middle, and between two points that are kept. */
const lineWidth = 3;
const eraserReach = 10;
const leastStep = 1;
/** Milliseconds after a pen was seen in which what touches the board is the hand that holds it. */
const palmTime = 300;

/** Draws notes on a canvas, whose context is in board units. */
export function drawNotes(context, notes) {
    [context.lineCap, context.lineJoin] = ["round", "round"];
    for (const note of notes) {
        context.strokeStyle = noteColours[note.colour] ?? noteColours[0];
        context.lineWidth = note.width;
        context.stroke(pathOf(note));
    }
}

const paths = new WeakMap();

/** A smooth line through the middles between points. */
function pathOf(note) {
    const known = paths.get(note);
    if (known?.count === note.points.length) return known.path;
    const path = new Path2D();
    curve(note.points, (x, y) => path.moveTo(x, y), (x, y, toX, toY) => path.quadraticCurveTo(x, y, toX, toY));
    paths.set(note, { path, count: note.points.length });
    return path;
}

/** Tells of the curves of a note: where it begins, and of each curve the place that it bends to, and its end. */
export function curve(points, begin, bend) {
    begin(points[0], points[1]);
    // A dot is a line of no length that can be seen.
    if (points.length === 2) bend(points[0], points[1], points[0] + 0.01, points[1]);
    for (let at = 2; at < points.length; at += 2) {
        const isLast = at + 2 >= points.length;
        const [x, y] = [points[at], points[at + 1]];
        if (at === 2 && isLast) bend(x, y, x, y);
        else if (!isLast) bend(x, y, (x + points[at + 2]) / 2, (y + points[at + 3]) / 2);
        else bend(x, y, x, y);
    }
}

function pictureOf(notes, { width, height }) {
    const lines = notes.map((note) => {
        const parts = [];
        curve(note.points, (...place) => parts.push(`M${place}`), (...places) => parts.push(`Q${places}`));
        return svgElement("path", { d: parts.join(""), stroke: noteColours[note.colour] ?? noteColours[0], "stroke-width": note.width });
    });
    return svgElement("svg", {
        class: "notes-paper", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", fill: "none",
        "stroke-linecap": "round", "stroke-linejoin": "round", "aria-hidden": "true",
    }, ...lines);
}

/** Shows the notes of the page that is seen, and writes them. Event: `change`: other notes, another tool, or nothing was kept. */
export class NotesLayer extends EventTarget {
    /** The number of the colour; null for the eraser. */
    colour = 0;
    #board;
    #canvas;
    #sheet;
    #layer;
    #view;
    #store;
    #isOn = false;
    #isHidden = false;
    /** Notes for a printer; null while nothing is printed. */
    #paper = null;
    /** What is under the hand: a note, or what an eraser has left of those that there were. */
    #stroke = null;
    #hasPen = false;
    #penAt = -Infinity;
    #frame = null;
    /** What the hand does not change, as a picture of its own; and of which notes it is, and where. */
    #kept = document.createElement("canvas").getContext("2d");
    #keptNotes = null;
    #keptPlace = "";

    /** The canvas is the board's; `layer` is one in the same element, above it. */
    constructor(board, canvas, layer, view, store) {
        super();
        [this.#board, this.#canvas, this.#sheet, this.#layer, this.#view, this.#store] = [board, canvas, canvas.parentElement, layer, view, store];
        board.addEventListener("page", () => {
            // It was written on the page before.
            this.#finish();
            this.#tell();
        });
        board.addEventListener("size", () => this.#show());
        view.addEventListener("change", () => this.#show());
        store.addEventListener("change", ({ detail }) => detail.page === board.page && this.#tell());
        new ResizeObserver(() => this.#show()).observe(canvas);
        onPixelRatio(() => this.#show());
        addEventListener("beforeprint", () => this.#print(true));
        addEventListener("afterprint", () => this.#print(false));
        view.pen = { isBusy: (time) => this.#isBusy(time), giveUp: (events) => this.#giveUp(events) };
        layer.addEventListener("pointerdown", (event) => this.#down(event));
        layer.addEventListener("pointermove", (event) => this.#move(event));
        for (const type of ["pointerup", "lostpointercapture"]) layer.addEventListener(type, (event) => this.#up(event));
        layer.addEventListener("pointercancel", (event) => this.#giveUp([event]));
        layer.addEventListener("contextmenu", (event) => event.preventDefault());
        this.#tell();
    }

    get notes() { return this.#store.on(this.#board.page); }
    get canUndo() { return this.#store.canUndo(this.#board.page); }

    get isOn() { return this.#isOn; }
    set isOn(isOn) {
        this.#isOn = isOn;
        if (isOn) this.#isHidden = false;
        else this.#finish();
        this.#hold();
        this.#tell();
    }

    get isHidden() { return this.#isHidden; }
    set isHidden(isHidden) {
        this.#finish();
        this.#isHidden = isHidden;
        this.#tell();
    }

    undo() {
        this.#finish();
        this.#tell(this.#store.undo(this.#board.page));
    }

    clear() {
        this.#finish();
        if (this.notes.length > 0) this.#tell(this.#store.change(this.#board.page, []));
    }

    #tell(outcome = "") {
        this.#show();
        this.dispatchEvent(new CustomEvent("change", { detail: { outcome } }));
    }

    // Where it is.

    #show() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.#draw();
        });
    }

    /** Draws notes above the part of the board that the window shows. */
    #draw() {
        const { width: across, height: down } = this.#board.size;
        const layer = this.#layer;
        const notes = this.#stroke?.kept ?? this.notes;
        const isSeen = this.#isOn || (!this.#isHidden && notes.length > 0);
        layer.hidden = !isSeen;
        layer.toggleAttribute("data-on", this.#isOn);
        layer.setAttribute("aria-label", `${t("Your notes")}: ${strokesWords(notes.length)}`);
        layer.dataset.notes = String(notes.length);
        if (!isSeen) return;
        const sheet = this.#sheet.getBoundingClientRect();
        const board = this.#canvas.getBoundingClientRect();
        const [left, top, right, bottom] = [
            Math.max(board.left, 0), Math.max(board.top, 0), Math.min(board.right, innerWidth), Math.min(board.bottom, innerHeight),
        ];
        if (right - left < 1 || bottom - top < 1) return;
        const ratio = Math.min(globalThis.devicePixelRatio ?? 1, 4096 / (right - left), 4096 / (bottom - top));
        const place = { left: left - sheet.left, top: top - sheet.top, width: right - left, height: bottom - top };
        for (const [name, length] of Object.entries(place)) layer.style[name] = `${length}px`;
        const [width, height] = [right - left, bottom - top].map((length) => Math.max(Math.round(length * ratio), 1));
        if (layer.width !== width || layer.height !== height) [layer.width, layer.height] = [width, height];
        const map = [(board.width / across) * ratio, 0, 0, (board.height / down) * ratio, (board.left - left) * ratio, (board.top - top) * ratio];
        this.#keep(notes, width, height, map);
        const context = layer.getContext("2d");
        context.setTransform(1, 0, 0, 1, 0, 0);
        context.clearRect(0, 0, width, height);
        context.drawImage(this.#kept.canvas, 0, 0);
        context.setTransform(...map);
        if (this.#stroke?.note) drawNotes(context, [this.#stroke.note]);
    }

    /** Draws notes that are finished, unless they are drawn there already. */
    #keep(notes, width, height, map) {
        const place = [width, height, ...map].join();
        if (notes === this.#keptNotes && place === this.#keptPlace) return;
        [this.#keptNotes, this.#keptPlace] = [notes, place];
        const { canvas } = this.#kept;
        // A canvas that is given a size is empty, too.
        [canvas.width, canvas.height] = [width, height];
        this.#kept.setTransform(...map);
        drawNotes(this.#kept, notes);
    }

    /** On paper the whole page is seen, however large it is here. */
    #print(isPrinted) {
        this.#paper?.remove();
        this.#paper = isPrinted && !this.#isHidden ? pictureOf(this.notes, this.#board.size) : null;
        if (this.#paper) this.#layer.after(this.#paper);
    }

    // Hands.

    /** Whether the page is moved by one finger or a mouse: not while these write; fingers do not where there is a pen. */
    #hold() {
        this.#view.isPulled = !this.#isOn || (this.#hasPen && "touch");
    }

    #isBusy(time) {
        return this.#isOn && ((this.#stroke !== null && this.#stroke.kind !== "touch") || time - this.#penAt < palmTime);
    }

    #down(event) {
        if (event.pointerType === "pen") {
            [this.#hasPen, this.#penAt] = [true, event.timeStamp];
            this.#hold();
        }
        if (!this.#isOn || (event.button !== 0 && !isEraser(event))) return;
        event.preventDefault();
        if (event.pointerType === "touch") {
            // A hand that rests beside a pen does nothing, and two fingers zoom.
            if (this.#hasPen) return;
            const { kind, pointer } = this.#stroke ?? {};
            if (kind === "touch") this.#giveUp([{ pointerId: pointer }]);
            if (kind) return;
        } else if (event.pointerType === "pen" && this.#stroke?.kind === "touch") this.#giveUp([{ pointerId: this.#stroke.pointer }]);
        else this.#finish();
        const erases = isEraser(event) || this.colour === null;
        const perUnit = this.#view.perUnit;
        this.#stroke = { pointer: event.pointerId, kind: event.pointerType, page: this.#board.page, kept: this.notes, last: null };
        if (!erases) this.#stroke.note = { colour: this.colour, width: lineWidth / perUnit, points: [] };
        this.#add(event);
        capture(this.#layer, event.pointerId);
    }

    #move(event) {
        if (event.pointerType === "pen") this.#penAt = event.timeStamp;
        if (this.#stroke?.pointer !== event.pointerId) return;
        event.preventDefault();
        for (const sample of samplesOf(event)) this.#add(sample);
    }

    #up(event) {
        if (this.#stroke?.pointer !== event.pointerId) return;
        if (event.type === "pointerup") this.#add(event);
        this.#finish();
    }

    #add(event) {
        const { x, y } = placeOn(this.#canvas, this.#board.size, event);
        const { perUnit } = this.#view;
        const { last, note } = this.#stroke;
        if (last && Math.hypot(x - last[0], y - last[1]) < leastStep / perUnit) return;
        this.#stroke.last = [x, y];
        if (note) note.points.push(x, y);
        else {
            const kept = this.#stroke.kept.filter((other) => !isTouched(other, last ?? [x, y], [x, y], eraserReach / perUnit + other.width / 2));
            if (kept.length < this.#stroke.kept.length) this.#stroke.kept = kept;
        }
        this.#show();
    }

    /** What is under the hand becomes a step, as far as it is. */
    #finish() {
        const stroke = this.#stroke;
        if (!stroke) return;
        this.#stroke = null;
        const { note, kept, page } = stroke;
        if (note) this.#tell(this.#store.change(page, [...this.#store.on(page), note]));
        else if (kept !== this.#store.on(page)) this.#tell(this.#store.change(page, kept));
    }

    /** What pointers do is given up: two fingers zoom, or the system takes them. */
    #giveUp(events) {
        if (!events.some(({ pointerId }) => pointerId === this.#stroke?.pointer)) return;
        this.#stroke = null;
        this.#show();
    }
}

const boxes = new WeakMap();

function boxOf(note) {
    if (!boxes.has(note)) {
        const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
        for (let at = 0; at < note.points.length; at += 2) {
            const [x, y] = [note.points[at], note.points[at + 1]];
            [box.left, box.right] = [Math.min(box.left, x), Math.max(box.right, x)];
            [box.top, box.bottom] = [Math.min(box.top, y), Math.max(box.bottom, y)];
        }
        boxes.set(note, box);
    }
    return boxes.get(note);
}

/** Whether an eraser that moves from one place to another comes so near to a note. */
function isTouched(note, from, to, reach) {
    const { left, top, right, bottom } = boxOf(note);
    const isBeside = (one, other, start, end) => Math.max(one, other) < start - reach || Math.min(one, other) > end + reach;
    if (isBeside(from[0], to[0], left, right) || isBeside(from[1], to[1], top, bottom)) return false;
    const { points } = note;
    for (let at = 0; at < points.length; at += 2) {
        const start = [points[at], points[at + 1]];
        const end = at + 2 < points.length ? [points[at + 2], points[at + 3]] : start;
        if (Math.min(distance(from, start, end), distance(to, start, end), distance(start, from, to), distance(end, from, to)) <= reach) return true;
        if (crosses(from, to, start, end)) return true;
    }
    return false;
}

function distance([x, y], [startX, startY], [endX, endY]) {
    const [wayX, wayY] = [endX - startX, endY - startY];
    const length = wayX ** 2 + wayY ** 2;
    const part = length > 0 ? Math.min(Math.max((wayX * (x - startX) + wayY * (y - startY)) / length, 0), 1) : 0;
    return Math.hypot(x - startX - part * wayX, y - startY - part * wayY);
}

function crosses(a, b, c, d) {
    const side = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}
