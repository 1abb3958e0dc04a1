/** `<lectern-teacher room="physics" author="anna">`: a teacher's board with its tools as an element. */

import { t } from "./language.js";
import { bindControls, controlButton, toolControls } from "./controls.js";
import { element, say } from "./dom.js";
import { adopt, BoardHolder } from "./board-element.js";
import { PlayerClock } from "./player-clock.js";
import { Teacher } from "./teacher.js";
import { Toolbar } from "./toolbar.js";
import { foreignWords } from "./words.js";

const sheet = `
    canvas { touch-action: none; cursor: crosshair; outline-offset: -2px; }
    .tools { display: flex; flex-wrap: wrap; gap: 0.75rem; padding: 0.375rem; background: light-dark(#f4f5f7, #1d2025); }
    .group, .tools > .view { display: flex; gap: 0.125rem; }
    .tools > .view { position: static; opacity: 1; pointer-events: auto; }
    .sheet[data-space] canvas { cursor: grab; }
    .sheet[data-pulled] canvas { cursor: grabbing; }
    button { font: inherit; color: inherit; border: 0; border-radius: 0.375rem; background: none; cursor: pointer; }
    .plain { width: 2.25rem; height: 2.25rem; }
    .plain[aria-checked="true"], .plain[aria-pressed="true"] { background: light-dark(#d7e2fb, #2c3f66); }
    .swatch::before {
        content: ""; width: 1.125rem; height: 1.125rem; border-radius: 50%; background: var(--colour); border: 1px solid light-dark(#0003, #fff6);
        forced-color-adjust: none;
    }
    .width::before { content: ""; width: var(--dot); height: var(--dot); border-radius: 50%; background: currentColor; }
    #colours { flex-wrap: wrap; }
    .colour-dialog { margin: 0; inset: auto; padding: 0.5rem; border: 1px solid light-dark(#0003, #fff3); border-radius: 0.5rem; background: light-dark(#f4f5f7, #1d2025); }
    .colour-dialog::backdrop { background: none; }
    .colour-grid { display: grid; grid-template-columns: repeat(8, auto); gap: 0.125rem; }
    .colour-dialog .colour-grid .plain { padding: 0; margin: 0; background: none; }
    .colour-dialog .colour-grid .plain[aria-pressed="true"] { box-shadow: inset 0 0 0 2px light-dark(#1f4fd8, #7f9fee); }
    .colour-news { padding: 0.25rem; color: light-dark(#22252b, #e8eaed); }
    .state { padding: 0.375rem 0.5rem; color: light-dark(#22252b, #e8eaed); background: light-dark(#f4f5f7, #1d2025); }
    .state button, dialog button { padding: 0.25rem 0.75rem; background: light-dark(#1f4fd8, #3f6fe8); color: #fff; margin-inline-start: 0.5rem; }
    @media (forced-colors: active) { .plain[aria-checked="true"], .plain[aria-pressed="true"] { outline: 2px solid; } }
`;

/**
 * A teacher's board: what is drawn on it goes to the room.
 *
 * Attributes: `room`, `author`; `name`, what the author is called; `gateway`, `token` and `label` as those of `<lectern-board>`;
 * `clock`: `utc` for the time of day of this computer, or a selector of a video whose time is that of the lesson, none unless said.
 *
 * Events: those of a board, and `writer`, `muted`, `outbox`, `sending`, `applied`, `rejected` and `foreign` of {@link teacher}.
 */
export class LecternTeacher extends BoardHolder {
    static observedAttributes = [...super.observedAttributes, "author", "name", "clock"];
    #teacher = null;
    #toolbar = null;
    #ownClock = null;
    #state;
    #words;
    #button;

    constructor() {
        super();
        const root = this.shadowRoot;
        adopt(root, sheet);
        this.#words = element("span");
        this.#button = element("button", { type: "button", textContent: t("Write here"), hidden: true });
        this.#button.addEventListener("click", () => this.#teacher?.takeOver());
        this.#state = element("p", { className: "state", role: "status", hidden: true }, this.#words, this.#button);
        root.prepend(tools(), this.#state);
        root.append(clearDialog());
        bindControls(root, toolControls());
    }

    /** The teacher; null while the element is in no page, or has no room or author. */
    get teacher() { return this.#teacher; }

    /** Called by {@link BoardHolder}. */
    begin(gateway) {
        const author = this.getAttribute("author");
        this.#state.hidden = Boolean(author);
        if (!author) return say(this.#words, t("<lectern-teacher> has no author."));
        const room = this.getAttribute("room");
        const teacher = new Teacher(this.canvas, {
            gateway, room, author, name: this.getAttribute("name") ?? undefined, clock: this.clock ?? this.#clockOfAttribute(),
        });
        [this.#teacher, this.#toolbar] = [teacher, new Toolbar(teacher, null, this.shadowRoot)];
        this.follow(teacher.board, { pen: teacher.pen, bar: this.shadowRoot.querySelector(".tools") });
        for (const type of ["writer", "muted", "foreign", "drawing"]) teacher.addEventListener(type, () => this.#showState(type === "foreign"));
        for (const type of ["writer", "muted", "outbox", "sending", "applied", "rejected", "foreign"]) {
            teacher.addEventListener(type, ({ detail }) => this.dispatchEvent(new CustomEvent(type, { detail })));
        }
    }

    /** Called by {@link BoardHolder}. */
    end() {
        this.#toolbar?.close();
        this.#teacher?.close();
        this.#ownClock?.close();
        [this.#toolbar, this.#teacher, this.#ownClock] = [null, null, null];
        for (const id of ["elements", "colours", "widths"]) this.shadowRoot.getElementById(id).replaceChildren();
    }

    #clockOfAttribute() {
        const clock = this.getAttribute("clock");
        if (clock === "utc") return () => Date.now();
        const video = clock ? this.getRootNode().querySelector(clock) : null;
        if (!video) return undefined;
        this.#ownClock = new PlayerClock(video);
        return () => this.#ownClock?.time ?? NaN;
    }

    #showState(isForeign) {
        const { state, isMuted } = this.#teacher;
        const words = {
            elsewhere: t("You are writing in another tab."),
            superseded: t("You are writing on another device, or were within the last minutes."),
        }[state];
        const foreign = isForeign ? foreignWords() : undefined;
        say(this.#words, isMuted ? t("You are muted in this room: nothing that you draw is taken.") : words ?? foreign ?? "");
        this.#button.hidden = isMuted || !words;
        this.#state.hidden = !isMuted && !words && !foreign;
    }
}

function tools() {
    const group = (id, label) => element("div", { id, className: "group", role: "radiogroup", "aria-label": label });
    return element("div", { className: "tools", role: "toolbar", "aria-label": t("Drawing") },
        group("elements", t("Tool")), group("colours", t("Colour")), group("widths", t("Width")),
        element("div", { className: "group" },
            ...["undo", "redo", "clear"].map((id) => controlButton(id))));
}

function clearDialog() {
    const keep = element("button", { value: "", textContent: t("Keep it") });
    const clear = element("button", { value: "clear", textContent: t("Clear") });
    const form = element("form", { method: "dialog" },
        element("p", { textContent: t("Clear this page? It goes blank for everybody. This cannot be undone.") }), keep, clear);
    return element("dialog", { id: "clear-dialog", "aria-label": t("Clear this page") }, form);
}

if (globalThis.customElements && !customElements.get("lectern-teacher")) customElements.define("lectern-teacher", LecternTeacher);
