/**
 * The teacher's tools: buttons, colours, widths, and their keys.
 *
 * @module
 */

import { Element } from "../lectern.js";
import { $, element, iconAddress, letterKeys } from "./common.js";

const elements = [
    ["pen", "Pen", "P", Element.freehand],
    ["highlighter", "Highlighter", "H", Element.highlighter],
    ["line", "Line", "L", Element.line],
    ["arrow", "Arrow", "W", Element.arrow],
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

    /**
     * @param {Teacher} teacher
     * @param {LassoTool} lasso told whether it is chosen
     */
    constructor(teacher, lasso) {
        [this.#teacher, this.#lasso] = [teacher, lasso];
        try {
            Object.assign(this.#choice, JSON.parse(localStorage.getItem(storageKey)));
        } catch {
            // Nothing remembered.
        }
        this.#fill($("elements"), "element", elements.map(([icon, name, key, value]) => {
            const button = element("button", { className: "plain", title: `${name} (${key})`, ariaLabel: name });
            button.setAttribute("aria-keyshortcuts", key);
            button.append(iconOf(icon));
            return [button, value];
        }));
        this.#fill($("widths"), "width", widths.map(([name, width], index) => {
            const button = element("button", { className: "plain width", title: `${name} ([ ])`, ariaLabel: name });
            button.style.setProperty("--dot", `${3 + width * 0.9}px`);
            return [button, index];
        }));
        this.#showPalette();
        document.addEventListener("keydown", (event) => this.#key(event));
        for (const name of ["undo", "redo"]) $(name).addEventListener("click", () => this.#command(name));
        $("clear").addEventListener("click", () => this.#clear());
        $("clear-dialog").addEventListener("close", () => {
            if ($("clear-dialog").returnValue === "clear") this.#command("clear");
        });
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
    }

    #showPalette() {
        const { palette } = this.#teacher.board;
        if (palette.join() === this.#palette) return;
        this.#palette = palette.join();
        if (this.#choice.colour >= palette.length) this.#choice.colour = 0;
        $("colours").replaceChildren();
        this.#fill($("colours"), "colour", palette.map((colour, index) => {
            const name = colourNames[index] ?? colour;
            const button = element("button", { className: "plain swatch", title: `${name} (${index + 1})`, ariaLabel: name });
            button.style.setProperty("--colour", colour);
            return [button, index];
        }));
    }

    /** Shows which commands can do something. */
    showCommands(canWrite, canUndo, canRedo, canClear) {
        $("undo").disabled = !canWrite || !canUndo;
        $("redo").disabled = !canWrite || !canRedo;
        $("clear").disabled = !canWrite || !canClear;
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
            const at = shown.findIndex(([button]) => button === document.activeElement);
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
        this.#lasso.isChosen = kind === Element.lasso;
        // The eraser end of a pen erases while the lasso is chosen.
        const drawn = kind === Element.lasso ? Element.freehand : kind;
        const factor = { [Element.eraser]: eraserFactor, [Element.highlighter]: highlighterFactor }[kind] ?? 1;
        this.#teacher.tool = { element: drawn, colour, width: line * factor };
    }

    /** What is selected is dropped first: undo takes that back. */
    #command(name) {
        this.#lasso.drop();
        this.#teacher[name]();
    }

    /** Asks only where there is no way back. */
    #clear() {
        if (this.#teacher.board.features.includes("undoable-clear")) return this.#command("clear");
        $("clear-dialog").showModal();
    }

    #key(event) {
        // Keys of the list of pages are its own.
        if (!letterKeys.take(event) && !(event.ctrlKey || event.metaKey)) return;
        if (event.defaultPrevented || event.target.closest?.("input:not([type=checkbox]), select, textarea, dialog")) return;
        const key = event.key.toLowerCase();
        if (event.ctrlKey || event.metaKey) {
            if (key !== "z" && key !== "y") return;
            event.preventDefault();
            this.#command(key === "y" || event.shiftKey ? "redo" : "undo");
            return;
        }
        if (event.altKey) return;
        const tool = elements.find(([, , shortcut]) => shortcut.toLowerCase() === key);
        if (tool && !this.#lacks(tool[3])) this.#choose("element", tool[3]);
        else if (/^[1-9]$/.test(key) && Number(key) <= this.#teacher.board.palette.length) {
            this.#choose("colour", Number(key) - 1);
        } else if (key === "[") this.#choose("width", Math.max(this.#choice.width - 1, 0));
        else if (key === "]") this.#choose("width", Math.min(this.#choice.width + 1, widths.length - 1));
        else if (key === "f") $("full").click();
        else if (key === "a") $("audience-button").click();
    }
}

/** An icon of the page's set. */
export function iconOf(name) {
    const space = "http://www.w3.org/2000/svg";
    const icon = document.createElementNS(space, "svg");
    icon.setAttribute("class", "icon");
    icon.setAttribute("aria-hidden", "true");
    const use = document.createElementNS(space, "use");
    use.setAttribute("href", iconAddress(name));
    icon.append(use);
    return icon;
}
