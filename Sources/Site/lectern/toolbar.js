/** The teacher's tools: buttons, colours, widths, and their keys. */

import { controlButton } from "./controls.js";
import { answerOf, element, isTaken, keyOf, letterKeys, remember, rememberedValue, rightStep } from "./dom.js";
import { mark, t } from "./language.js";
import { colourPicker, swatch } from "./colour-picker.js";
import { bindEraserCursor, StrokeEraser } from "./erasers.js";
import { Element } from "./records.js";
import { TextTool } from "./text-tool.js";

/** The eraser of whole strokes, among elements. */
const wholeStrokes = "strokes";

/** By the ends of the ids of their controls. */
const elements = {
    pen: Element.freehand, highlighter: Element.highlighter, line: Element.line, pointing: Element.arrow, ellipse: Element.ellipse,
    rectangle: Element.rectangle, text: Element.text, pointer: Element.pointer, eraser: Element.eraser, "stroke-eraser": wholeStrokes,
    lasso: Element.lasso,
};
/** The heights of a text's lines in board units, in the order of the widths. */
const textHeights = [20, 32, 56, 96];
const widths = [[mark("Fine"), 2], [mark("Medium"), 4], [mark("Broad"), 8], [mark("Marker"), 16]];
/** An eraser is so much wider than a pen. */
const eraserFactor = 5;
/** So is a highlighter. */
export const highlighterFactor = 4;
/** Tools that a service may lack, by the name of its feature. */
const features = {
    lasso: [Element.lasso], pens: [Element.highlighter, Element.arrow], pointer: [Element.pointer], remove: [wholeStrokes],
    text: [Element.text],
};
const storageKey = "lectern-tool";

/** Sets the tool of a teacher by buttons and keys, and remembers it. */
export class Toolbar {
    #teacher;
    #choice = { element: Element.freehand, colour: 0, width: 1, hovers: false };
    /** Whether the pointer points without touching; shown while it is chosen. */
    #hovers = controlButton("hover");
    #hoverGroup = element("div", { className: "group" }, this.#hovers);
    #groups = [];
    #palette = "";
    #colours;
    /** The features of the board that the tools were shown for. */
    #offered = null;
    #lasso;
    #strokeEraser;
    /** Tells the ring around the pointer whether an eraser is chosen. */
    #showEraser;
    #text;
    #root;
    #leaving = new AbortController();

    /**
     * @param {import("./teacher.js").Teacher} teacher
     * @param {{isChosen: boolean, drop: () => void, restyle: (style: {colour?: number, width?: number}) => boolean} | null} lasso told
     *   whether it is chosen, and of a colour and a width that are chosen then: it returns whether it takes them; null for none
     * @param {Document | ShadowRoot} [root] has the elements with the ids `elements`, `colours`, `widths`, `undo`, `redo`, `clear` and
     *   `clear-dialog`
     */
    constructor(teacher, lasso, root = document) {
        [this.#teacher, this.#lasso, this.#root] = [teacher, lasso, root];
        this.#strokeEraser = new StrokeEraser(teacher, this.#leaving.signal);
        this.#showEraser = bindEraserCursor(teacher, this.#leaving.signal);
        this.#text = new TextTool(teacher, teacher.canvas, this.#leaving.signal);
        Object.assign(this.#choice, rememberedValue(storageKey));
        if (!lasso && this.#choice.element === Element.lasso) this.#choice.element = Element.freehand;
        const offered = Object.entries(elements).filter(([, value]) => lasso || value !== Element.lasso);
        this.#fill(this.#element("elements"), "element", offered.map(([name, value]) => [controlButton(`tool-${name}`), value]));
        this.#fill(this.#element("widths"), "width", widths.map(([name, width], index) => {
            const button = element("button", { className: "plain width", type: "button", title: `${t(name)} ([ ])`, "aria-label": t(name) });
            button.style.setProperty("--dot", `${3 + width * 0.9}px`);
            return [button, index];
        }));
        this.#colours = colourPicker(this.#element("colours"), (colour) => {
            this.#choose("colour", colour);
            this.#element("colours").querySelector("[aria-checked=true]")?.focus();
        }, this.#leaving.signal);
        this.#showPalette();
        const { signal } = this.#leaving;
        // Those of the whole page, or of what is in the element.
        (root.host ?? root).addEventListener("keydown", (event) => this.#key(event), { signal });
        this.#hovers.addEventListener("click", () => this.#choose("hovers", !this.#choice.hovers), { signal });
        for (const name of ["undo", "redo"]) this.#element(name).addEventListener("click", () => this.#command(name), { signal });
        this.#element("clear").addEventListener("click", () => this.#clear(), { signal });
        for (const type of ["outbox", "writer", "muted"]) teacher.addEventListener(type, () => this.#showBoard(), { signal });
        for (const type of ["painted", "index"]) teacher.board.addEventListener(type, () => this.#showBoard(), { signal });
        this.#showBoard();
    }

    #lacks(tool) {
        return Object.entries(features).some(([name, tools]) => tools.includes(tool) && !this.#teacher.board.features.includes(name));
    }

    /** Shows the tools and colours that the board has, and which commands can do something. */
    #showBoard() {
        const { board, waiting, isWriting } = this.#teacher;
        if (board.isJoined) {
            this.#showTools();
            this.#showPalette();
        }
        const hasDone = { undo: board.canUndo || waiting > 0, redo: board.hasUndone, clear: board.strokes > 0 || waiting > 0 };
        for (const [name, can] of Object.entries(hasDone)) this.#element(name).disabled = !isWriting || !can;
    }

    #showTools() {
        const offered = this.#teacher.board.features.join();
        if (offered === this.#offered) return;
        this.#offered = offered;
        for (const [button, value] of this.#groups.find(({ name }) => name === "element").buttons) button.hidden = this.#lacks(value);
        if (this.#lacks(this.#choice.element)) this.#choose("element", Element.freehand);
        else this.#show();
    }

    #showPalette() {
        const { palette } = this.#teacher.board;
        if (palette.join() === this.#palette) return;
        this.#palette = palette.join();
        if (this.#choice.colour >= palette.length) this.#choice.colour = 0;
        this.#colours.setPalette(palette);
        this.#colours.use(this.#choice.colour);
        this.#showColours();
    }

    #showColours() {
        const { palette } = this.#teacher.board;
        this.#element("colours").replaceChildren();
        this.#fill(this.#element("colours"), "colour", this.#colours.atHand.map((place) => [swatch(palette[place], place), place]));
    }

    /** Ends it: buttons and keys do nothing any more. */
    close() {
        this.#leaving.abort();
        this.#hoverGroup.remove();
        // It would be there still where an element comes back to the page.
        this.#element("clear-dialog").close();
    }

    #element(id) {
        return this.#root.getElementById(id);
    }

    /** A group of buttons of which one is chosen; arrow keys move within it. */
    #fill(group, name, buttons) {
        for (const [button, value] of buttons) {
            button.setAttribute("role", "radio");
            button.addEventListener("click", () => this.#choose(name, value));
            group.append(button);
        }
        this.#groups = this.#groups.filter((other) => other.name !== name);
        this.#groups.push({ name, buttons });
        group.onkeydown = (event) => {
            const right = rightStep(group);
            const step = { ArrowRight: right, ArrowDown: 1, ArrowLeft: -right, ArrowUp: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const shown = buttons.filter(([button]) => !button.hidden);
            const at = shown.findIndex(([button]) => button === this.#root.activeElement);
            const [button, value] = shown[(at + step + shown.length) % shown.length];
            this.#choose(name, value);
            button.focus();
        };
        this.#show();
    }

    #choose(name, value) {
        this.#choice[name] = value;
        if (name === "colour" && this.#colours.use(value)) this.#showColours();
        // What is selected takes it; else a colour is for drawing.
        const isTaken = (name === "colour" && this.#lasso?.restyle({ colour: this.#sent(value) }))
            || (name === "width" && this.#lasso?.restyle({ width: widths[value][1] }));
        const draws = ![Element.eraser, Element.lasso, wholeStrokes].includes(this.#choice.element);
        if (name === "colour" && !draws && !isTaken) this.#choice.element = Element.freehand;
        remember(storageKey, this.#choice);
        this.#show();
    }

    /** A place in the palette as messages have it: where they have colours themselves, it is none. */
    #sent(place) {
        const { features: offered, palette } = this.#teacher.board;
        return offered.includes("rgb") && palette[place] ? Number.parseInt(palette[place].slice(1), 16) : place;
    }

    #show() {
        for (const { name, buttons } of this.#groups) {
            for (const [button, value] of buttons) {
                const isChosen = this.#choice[name] === value;
                button.setAttribute("aria-checked", String(isChosen));
                button.tabIndex = isChosen ? 0 : -1;
            }
        }
        const { element: kind, colour, width, hovers } = this.#choice;
        if (kind === Element.pointer) this.#element("elements").after(this.#hoverGroup);
        else this.#hoverGroup.remove();
        this.#hovers.setAttribute("aria-pressed", String(hovers));
        this.#teacher.pointsWithoutTouching = hovers;
        const line = (widths[width] ?? widths[1])[1];
        // The one that is chosen takes what the pen draws, after the other has let go.
        const [isErasing, isWriting] = [kind === wholeStrokes, kind === Element.text];
        if (!isErasing) this.#strokeEraser.isChosen = false;
        if (!isWriting) this.#text.isChosen = false;
        if (this.#lasso) this.#lasso.isChosen = kind === Element.lasso;
        this.#strokeEraser.isChosen = isErasing;
        this.#text.isChosen = isWriting;
        // The eraser end of a pen erases while the lasso is chosen.
        const drawn = kind === Element.lasso || isErasing || isWriting ? Element.freehand : kind;
        const sent = this.#sent(colour);
        const factor =
            { [Element.eraser]: eraserFactor, [wholeStrokes]: eraserFactor, [Element.highlighter]: highlighterFactor }[kind] ?? 1;
        this.#teacher.tool = { element: drawn, colour: sent, width: line * factor };
        this.#strokeEraser.width = line * factor;
        this.#showEraser(isErasing || kind === Element.eraser);
        [this.#text.colour, this.#text.lineHeight] = [sent, textHeights[width] ?? textHeights[1]];
    }

    /** What is selected is dropped first: undo takes that back. */
    #command(name) {
        this.#lasso?.drop();
        this.#teacher[name]();
    }

    /** Asks only where there is no way back. */
    async #clear() {
        const isSure = this.#teacher.board.features.includes("undoable-clear") || (await answerOf(this.#element("clear-dialog"))) === "clear";
        if (isSure && !this.#leaving.signal.aborted) this.#command("clear");
    }

    /** Whether Enter presses nothing but the tool of texts. */
    #isFree(event) {
        const pressed = event.composedPath()[0].closest?.("a, button, input, summary, [role=option]");
        return !pressed || pressed.id === "tool-text";
    }

    #key(event) {
        if (event.ctrlKey || event.metaKey) {
            const command = keyOf(event);
            if (isTaken(event) || (command !== "z" && command !== "y")) return;
            event.preventDefault();
            return this.#command(command === "y" || event.shiftKey ? "redo" : "undo");
        }
        const key = letterKeys.of(event);
        if (/^[1-9]$/.test(key) && Number(key) <= this.#teacher.board.palette.length) this.#choose("colour", Number(key) - 1);
        else if (key === "[") this.#choose("width", Math.max(this.#choice.width - 1, 0));
        else if (key === "]") this.#choose("width", Math.min(this.#choice.width + 1, widths.length - 1));
        else if (key === "enter" && this.#isFree(event) && this.#text.openByKey()) event.preventDefault();
    }
}
