/**
 * The teacher's tools: buttons, colours, widths, and their keys.
 *
 * @module
 */

import { element, iconOf, letterKeys } from "./dom.js";
import { Element } from "./teacher.js";

const elements = [
    ["pen", "Pen", "P", Element.freehand],
    ["highlighter", "Highlighter", "H", Element.highlighter],
    ["line", "Line", "L", Element.line],
    ["pointing", "Arrow", "W", Element.arrow],
    ["ellipse", "Ellipse", "O", Element.ellipse],
    ["rectangle", "Rectangle", "R", Element.rectangle],
    ["eraser", "Eraser", "E", Element.eraser],
    ["lasso", "Lasso: select, move, copy", "S", Element.lasso],
];
const widths = [["Fine", 2], ["Medium", 4], ["Broad", 8], ["Marker", 16]];
/** An eraser is so much wider than a pen. */
const eraserFactor = 5;
/** So is a highlighter. */
const highlighterFactor = 4;
/** Tools that a service may lack, by the name of its feature. */
const features = { lasso: [Element.lasso], pens: [Element.highlighter, Element.arrow] };
const colourNames = ["Black", "Red", "Blue", "Green", "Orange", "Violet", "Brown", "Grey"];
const storageKey = "lectern-tool";

/** Sets the tool of a teacher by buttons and keys, and remembers it. */
export class Toolbar {
    #teacher;
    #choice = { element: Element.freehand, colour: 0, width: 1 };
    #groups = [];
    #palette = "";
    /** The features of the board that the tools were shown for. */
    #offered = null;
    #lasso;
    #root;
    #leaving = new AbortController();

    /**
     * @param {import("./teacher.js").Teacher} teacher
     * @param {{isChosen: boolean, drop: () => void} | null} lasso told whether it is chosen; null for none
     * @param {Document | ShadowRoot} [root] has the elements with the ids `elements`, `colours`, `widths`, `undo`, `redo`, `clear` and
     *   `clear-dialog`
     */
    constructor(teacher, lasso, root = document) {
        [this.#teacher, this.#lasso, this.#root] = [teacher, lasso, root];
        try {
            Object.assign(this.#choice, JSON.parse(localStorage.getItem(storageKey)));
        } catch {
            // Nothing remembered.
        }
        if (!lasso && this.#choice.element === Element.lasso) this.#choice.element = Element.freehand;
        this.#fill(this.#element("elements"), "element", elements.filter(([, , , value]) => lasso || value !== Element.lasso).map(([icon, name, key, value]) => {
            const button = element("button", { className: "plain", title: `${name} (${key})`, ariaLabel: name });
            button.setAttribute("aria-keyshortcuts", key);
            button.append(iconOf(icon));
            return [button, value];
        }));
        this.#fill(this.#element("widths"), "width", widths.map(([name, width], index) => {
            const button = element("button", { className: "plain width", title: `${name} ([ ])`, ariaLabel: name });
            button.style.setProperty("--dot", `${3 + width * 0.9}px`);
            return [button, index];
        }));
        this.#showPalette();
        const { signal } = this.#leaving;
        // Those of the whole page, or of what is in the element.
        (root.host ?? root).addEventListener("keydown", (event) => this.#key(event), { signal });
        for (const name of ["undo", "redo"]) this.#element(name).addEventListener("click", () => this.#command(name), { signal });
        this.#element("clear").addEventListener("click", () => this.#clear(), { signal });
        this.#element("clear-dialog").addEventListener("close", () => {
            if (this.#element("clear-dialog").returnValue === "clear") this.#command("clear");
        }, { signal });
    }

    #lacks(tool) {
        return Object.entries(features).some(([name, tools]) => tools.includes(tool) && !this.#teacher.board.features.includes(name));
    }

    /** Shows the tools and colours that the board has. */
    showBoard() {
        this.#showTools();
        this.#showPalette();
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
        this.#element("colours").replaceChildren();
        this.#fill(this.#element("colours"), "colour", palette.map((colour, index) => {
            const name = colourNames[index] ?? colour;
            const button = element("button", { className: "plain swatch", title: `${name} (${index + 1})`, ariaLabel: name });
            button.style.setProperty("--colour", colour);
            return [button, index];
        }));
    }

    /** Shows which commands can do something. */
    showCommands(canWrite, canUndo, canRedo, canClear) {
        this.#element("undo").disabled = !canWrite || !canUndo;
        this.#element("redo").disabled = !canWrite || !canRedo;
        this.#element("clear").disabled = !canWrite || !canClear;
    }

    /** Ends it: buttons and keys do nothing any more. */
    close() {
        this.#leaving.abort();
    }

    #element(id) {
        return this.#root.getElementById(id);
    }

    /** A group of buttons of which one is chosen; arrow keys move within it. */
    #fill(group, name, buttons) {
        for (const [button, value] of buttons) {
            button.type = "button";
            button.setAttribute("role", "radio");
            button.addEventListener("click", () => this.#choose(name, value));
            group.append(button);
        }
        this.#groups = this.#groups.filter((other) => other.name !== name);
        this.#groups.push({ name, buttons });
        group.onkeydown = (event) => {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
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
        // A colour is for drawing.
        const draws = ![Element.eraser, Element.lasso].includes(this.#choice.element);
        if (name === "colour" && !draws) this.#choice.element = Element.freehand;
        try {
            localStorage.setItem(storageKey, JSON.stringify(this.#choice));
        } catch {
            // Not remembered.
        }
        this.#show();
    }

    #show() {
        for (const { name, buttons } of this.#groups) {
            for (const [button, value] of buttons) {
                const isChosen = this.#choice[name] === value;
                button.setAttribute("aria-checked", String(isChosen));
                button.tabIndex = isChosen ? 0 : -1;
            }
        }
        const { element: kind, colour, width } = this.#choice;
        const line = (widths[width] ?? widths[1])[1];
        if (this.#lasso) this.#lasso.isChosen = kind === Element.lasso;
        // The eraser end of a pen erases while the lasso is chosen.
        const drawn = kind === Element.lasso ? Element.freehand : kind;
        const { features: offered, palette } = this.#teacher.board;
        // Where messages have colours themselves, a place in the palette is none.
        const sent = offered.includes("rgb") && palette[colour] ? Number.parseInt(palette[colour].slice(1), 16) : colour;
        const factor = { [Element.eraser]: eraserFactor, [Element.highlighter]: highlighterFactor }[kind] ?? 1;
        this.#teacher.tool = { element: drawn, colour: sent, width: line * factor };
    }

    /** What is selected is dropped first: undo takes that back. */
    #command(name) {
        this.#lasso?.drop();
        this.#teacher[name]();
    }

    /** Asks only where there is no way back. */
    #clear() {
        if (this.#teacher.board.features.includes("undoable-clear")) return this.#command("clear");
        this.#element("clear-dialog").showModal();
    }

    #key(event) {
        // Keys of the list of pages are its own.
        if (!letterKeys.take(event) && !(event.ctrlKey || event.metaKey)) return;
        // Of an element's own root, not of the element.
        const [target] = event.composedPath();
        if (event.defaultPrevented || target.closest?.("input:not([type=checkbox]), select, textarea, dialog")) return;
        const key = event.key.toLowerCase();
        if (event.ctrlKey || event.metaKey) {
            if (key !== "z" && key !== "y") return;
            event.preventDefault();
            this.#command(key === "y" || event.shiftKey ? "redo" : "undo");
            return;
        }
        if (event.altKey) return;
        const tool = elements.find(([, , shortcut, value]) => shortcut.toLowerCase() === key && (this.#lasso || value !== Element.lasso));
        if (tool && !this.#lacks(tool[3])) this.#choose("element", tool[3]);
        else if (/^[1-9]$/.test(key) && Number(key) <= this.#teacher.board.palette.length) {
            this.#choose("colour", Number(key) - 1);
        } else if (key === "[") this.#choose("width", Math.max(this.#choice.width - 1, 0));
        else if (key === "]") this.#choose("width", Math.min(this.#choice.width + 1, widths.length - 1));
        else if (key === "f") this.#element("full")?.click();
        else if (key === "a") this.#element("audience-button")?.click();
    }
}
