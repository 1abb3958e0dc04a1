/** The colours of a teacher: the last four used at hand, and all others behind a button. */

import { closeBeside, element, remember, rememberedValue, rightStep, say } from "./dom.js";
import { controlButton } from "./controls.js";
import { mark, t } from "./language.js";

/** Colours at hand. */
const handful = 4;
/** Colours in a row of the others. */
const columns = 8;
const storageKey = "lectern-colours";
/** Those of the default palette by what they look like: a palette may have any. */
const names = {
    "#000000": mark("Black"), "#d92020": mark("Red"), "#1f4fd8": mark("Blue"), "#1a9850": mark("Green"), "#f08c00": mark("Orange"), "#7b2cbf": mark("Violet"),
    "#6b4423": mark("Brown"), "#7f7f7f": mark("Grey"), "#f2c200": mark("Yellow"), "#e0559c": mark("Pink"), "#4aa8e0": mark("Sky blue"), "#0f8b8d": mark("Turquoise"),
    "#7cb518": mark("Lime"), "#8b1e3f": mark("Wine red"), "#1b2a5c": mark("Navy"), "#ffffff": mark("White"),
};

/** Shows the palette, and remembers in the browser which colours were used last. */
export class ColourPicker {
    #group;
    #onchoose;
    #palette = [];
    #chosen = 0;
    /** Places in the palette: as they are shown, and the one used last first. */
    #shown = [];
    #used = [];
    #more = controlButton("palette", { "aria-haspopup": "dialog" });
    #grid = element("div", { className: "colour-grid", role: "group", "aria-label": t("Colours") });
    #news = element("p", { className: "colour-news", "aria-hidden": "true" });
    #dialog = element("dialog", { className: "colour-dialog", "aria-label": t("All colours") }, this.#grid, this.#news);

    /** `group` has those at hand, and the button behind it; `onchoose` is told of the place in the palette that was chosen among all. */
    constructor(group, onchoose, signal) {
        [this.#group, this.#onchoose] = [group, onchoose];
        const root = group.getRootNode();
        group.after(this.#more);
        (root.body ?? root).append(this.#dialog);
        this.#more.addEventListener("click", () => this.open());
        this.#grid.addEventListener("keydown", (event) => this.#key(event));
        for (const type of ["focusin", "pointerover"]) {
            this.#grid.addEventListener(type, ({ target }) => target !== this.#grid && say(this.#news, target.getAttribute("aria-label")));
        }
        closeBeside(this.#dialog);
        signal.addEventListener("abort", () => {
            this.#more.remove();
            this.#dialog.remove();
        });
    }

    /** A button with a colour of a palette. */
    static swatch(colour, place) {
        const name = t(names[colour.toLowerCase()] ?? colour);
        const title = place < 9 ? `${name} (${place + 1})` : name;
        const button = element("button", { className: "plain swatch", type: "button", title, "aria-label": name });
        button.style.setProperty("--colour", colour);
        return button;
    }

    /** Places in the palette of those at hand. */
    get atHand() { return this.#shown; }

    /** Shows a palette, of colours `#rrggbb`. */
    setPalette(palette) {
        this.#palette = palette;
        const isThere = (place) => Number.isInteger(place) && place >= 0 && place < palette.length;
        const kept = rememberedValue(storageKey) ?? {};
        const list = (value) => [...new Set(Array.isArray(value) ? value.filter(isThere) : [])];
        const rest = palette.map((_, place) => place);
        this.#shown = [...new Set([...list(kept.shown), ...rest])].slice(0, handful);
        this.#used = list(kept.used).filter((place) => this.#shown.includes(place));
        this.#more.hidden = palette.length <= handful;
        this.#grid.replaceChildren(...palette.map((colour, place) => {
            const button = ColourPicker.swatch(colour, place);
            button.addEventListener("click", () => {
                this.#dialog.close();
                this.#onchoose(place);
            });
            return button;
        }));
    }

    /** A colour is used: it comes to hand in place of the one that was not used for longest. Returns whether others are at hand now. */
    use(place) {
        this.#chosen = place;
        if (!(place >= 0 && place < this.#palette.length)) return false;
        const isNew = !this.#shown.includes(place);
        if (isNew) {
            // The last one of those that were never used, or were used before all others.
            const order = (shown) => (this.#used.includes(shown) ? this.#used.indexOf(shown) : handful);
            const oldest = this.#shown.reduce((oldest, shown) => (order(shown) >= order(oldest) ? shown : oldest));
            this.#shown = this.#shown.map((shown) => (shown === oldest ? place : shown));
        }
        this.#used = [place, ...this.#used.filter((used) => used !== place && this.#shown.includes(used))];
        remember(storageKey, { shown: this.#shown, used: this.#used });
        return isNew;
    }

    /** Shows all colours, beside the button where there is room. */
    open() {
        if (this.#more.hidden || this.#dialog.open) return;
        const buttons = [...this.#grid.children];
        buttons.forEach((button, place) => {
            button.setAttribute("aria-pressed", String(place === this.#chosen));
            button.tabIndex = place === this.#chosen ? 0 : -1;
        });
        const focused = buttons[this.#chosen] ?? buttons[0];
        focused.tabIndex = 0;
        this.#dialog.showModal();
        focused.focus();
        say(this.#news, focused.getAttribute("aria-label"));
        const { left, right, top } = this.#more.getBoundingClientRect();
        const { offsetWidth: width, offsetHeight: height } = this.#dialog;
        const x = right + 8 + width <= innerWidth - 8 ? right + 8 : Math.max(Math.min(left, innerWidth - width - 8), 8);
        const isBeside = x > right;
        const y = isBeside ? Math.min(top, innerHeight - height - 8) : top - height - 8;
        Object.assign(this.#dialog.style, { left: `${x}px`, top: `${Math.max(y, 8)}px` });
    }

    #key(event) {
        const buttons = [...this.#grid.children];
        const at = buttons.indexOf(event.target);
        const right = rightStep(this.#grid);
        const to = {
            ArrowRight: at + right, ArrowLeft: at - right, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: buttons.length - 1,
        }[event.key];
        if (at < 0 || to === undefined) return;
        event.preventDefault();
        if (!buttons[to]) return;
        buttons[at].tabIndex = -1;
        buttons[to].tabIndex = 0;
        buttons[to].focus();
    }
}
