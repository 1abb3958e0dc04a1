/** The colours of a teacher: the last four used at hand, and all others behind a button. */

import { closeBeside, element, remember, rememberedValue, rightStep, say } from "./dom.js";
import { controlButton } from "./controls.js";
import { mark, t } from "./language.js";

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

export function swatch(colour, place) {
    const name = t(names[colour.toLowerCase()] ?? colour);
    const title = place < 9 ? `${name} (${place + 1})` : name;
    const button = element("button", { className: "plain swatch", type: "button", title, "aria-label": name });
    button.style.setProperty("--colour", colour);
    return button;
}

/**
 * Shows the palette, and remembers in the browser which colours were used last. `group` has those at hand, and the button behind it;
 * `onchoose` is told of the place in the palette that was chosen among all.
 */
export function colourPicker(group, onchoose, signal) {
    let palette = [];
    let chosen = 0;
    /** Places in the palette: as they are shown, and the one used last first. */
    let [shown, used] = [[], []];
    const more = controlButton("palette", { "aria-haspopup": "dialog" });
    const grid = element("div", { className: "colour-grid", role: "group", "aria-label": t("Colours") });
    const news = element("p", { className: "colour-news", "aria-hidden": "true" });
    const dialog = element("dialog", { className: "colour-dialog", "aria-label": t("All colours") }, grid, news);

    /** Shows all colours, beside the button where there is room. */
    const open = () => {
        if (more.hidden || dialog.open) return;
        const buttons = [...grid.children];
        buttons.forEach((button, place) => {
            button.setAttribute("aria-pressed", String(place === chosen));
            button.tabIndex = place === chosen ? 0 : -1;
        });
        const focused = buttons[chosen] ?? buttons[0];
        focused.tabIndex = 0;
        dialog.showModal();
        focused.focus();
        say(news, focused.getAttribute("aria-label"));
        const { left, right, top } = more.getBoundingClientRect();
        const { offsetWidth: width, offsetHeight: height } = dialog;
        const x = right + 8 + width <= innerWidth - 8 ? right + 8 : Math.max(Math.min(left, innerWidth - width - 8), 8);
        const y = x > right ? Math.min(top, innerHeight - height - 8) : top - height - 8;
        Object.assign(dialog.style, { left: `${x}px`, top: `${Math.max(y, 8)}px` });
    };
    const move = (event) => {
        const buttons = [...grid.children];
        const at = buttons.indexOf(event.target);
        const right = rightStep(grid);
        const to = {
            ArrowRight: at + right, ArrowLeft: at - right, ArrowDown: at + columns, ArrowUp: at - columns, Home: 0, End: buttons.length - 1,
        }[event.key];
        if (at < 0 || to === undefined) return;
        event.preventDefault();
        if (!buttons[to]) return;
        buttons[at].tabIndex = -1;
        buttons[to].tabIndex = 0;
        buttons[to].focus();
    };

    const root = group.getRootNode();
    group.after(more);
    (root.body ?? root).append(dialog);
    more.addEventListener("click", open);
    grid.addEventListener("keydown", move);
    for (const type of ["focusin", "pointerover"]) {
        grid.addEventListener(type, ({ target }) => target !== grid && say(news, target.getAttribute("aria-label")));
    }
    closeBeside(dialog);
    signal.addEventListener("abort", () => {
        more.remove();
        dialog.remove();
    });
    return {
        /** Places in the palette of those at hand. */
        get atHand() { return shown; },
        /** Shows a palette, of colours `#rrggbb`. */
        setPalette(colours) {
            palette = colours;
            const isThere = (place) => Number.isInteger(place) && place >= 0 && place < palette.length;
            const kept = rememberedValue(storageKey) ?? {};
            const list = (value) => [...new Set(Array.isArray(value) ? value.filter(isThere) : [])];
            shown = [...new Set([...list(kept.shown), ...palette.keys()])].slice(0, handful);
            used = list(kept.used).filter((place) => shown.includes(place));
            more.hidden = palette.length <= handful;
            grid.replaceChildren(...palette.map((colour, place) => {
                const button = swatch(colour, place);
                button.addEventListener("click", () => {
                    dialog.close();
                    onchoose(place);
                });
                return button;
            }));
        },
        /** A colour is used: it comes to hand in place of the one that was not used for longest. Returns whether others are at hand now. */
        use(place) {
            chosen = place;
            if (!(place >= 0 && place < palette.length)) return false;
            const isNew = !shown.includes(place);
            if (isNew) {
                // The last one of those that were never used, or were used before all others.
                const order = (one) => (used.includes(one) ? used.indexOf(one) : handful);
                const oldest = shown.reduce((oldest, one) => (order(one) >= order(oldest) ? one : oldest));
                shown = shown.map((one) => (one === oldest ? place : one));
            }
            used = [place, ...used.filter((one) => one !== place && shown.includes(one))];
            remember(storageKey, { shown, used });
            return isNew;
        },
    };
}
