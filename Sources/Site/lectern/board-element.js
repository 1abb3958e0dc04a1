/** `<lectern-board room="physics" video="#lesson">`, a student's board as an element, and what the elements of a board share. */

import { loading, t, translate } from "./language.js";
import { element, say } from "./dom.js";
import { Gateway } from "./gateway.js";
import { bindTexts, boardWords, connectionWords, drawingWords, followConnection, refusals } from "./words.js";
import { BoardView, viewButtons } from "./view.js";
import { Board } from "./board.js";
import { PlayerClock } from "./player-clock.js";

// A program that is no browser may import this file.
const HTMLElement = globalThis.HTMLElement ?? class {};

const style = `
    :host { display: block; color-scheme: light dark; font: 0.875rem/1.4 system-ui, sans-serif; }
    :host([hidden]) { display: none; }
    canvas { display: block; width: 100%; aspect-ratio: 4 / 3; background: var(--lectern-paper, #fff); border-radius: inherit; }
    .sheet { position: relative; border-radius: inherit; }
    p { margin: 0; }
    .cover {
        position: absolute; inset: 0; display: grid; place-items: center; padding: 1rem; text-align: center;
        color: #5c6169; background: var(--lectern-paper, #fff); border-radius: inherit;
    }
    .status {
        position: absolute; inset-inline-end: 0.5rem; inset-block-start: 0.5rem; padding: 0.125rem 0.5rem; border-radius: 1rem;
        color: light-dark(#8c1d18, #ffb4ab); background: light-dark(#fceeee, #3b1512);
    }
    /* Where the page scrolls, one finger does that while all of the board is seen. */
    :host(lectern-board) canvas { touch-action: pan-x pan-y; }
    .sheet[data-zoomed] { border-radius: 0; }
    :host(lectern-board) .sheet[data-zoomed] canvas { touch-action: none; cursor: grab; }
    .view { position: absolute; inset-inline-end: 0.5rem; inset-block-end: 0.5rem; display: flex; gap: 0.125rem; border-radius: 0.5rem; opacity: 0; pointer-events: none; }
    .sheet:hover > .view, .view:focus-within, .sheet[data-zoomed] > .view { opacity: 1; pointer-events: auto; background: light-dark(#f4f5f7, #1d2025); }
    .plain {
        width: 2.75rem; height: 2.75rem; padding: 0; display: grid; place-items: center; border: 0; border-radius: 0.375rem; background: none;
        color: light-dark(#22252b, #e8eaed); cursor: pointer;
    }
    .plain:disabled { opacity: 0.4; cursor: default; }
    .icon { width: 1.25rem; height: 1.25rem; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
    .texts { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: pre-wrap; }
    [hidden] { display: none; }
`;

/** Adds a style sheet, as no Content-Security-Policy forbids it. */
export function adopt(root, text) {
    const made = new CSSStyleSheet();
    made.replaceSync(text);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, made];
}

/** An element that shows a board while it is in a page. A change of an attribute begins anew. */
export class BoardHolder extends HTMLElement {
    /** The attributes that all boards have. */
    static observedAttributes = ["gateway", "room", "token", "label"];
    /** The canvas that is drawn on. */
    canvas;
    #sheet;
    #cover;
    #status;
    /** What is seen of the board; null while there is none. */
    #view = null;
    #buttons;
    #texts;
    #clock = null;
    #isDue = false;

    constructor() {
        super();
        const root = this.attachShadow({ mode: "open" });
        adopt(root, style);
        this.canvas = element("canvas", { role: "img" });
        this.#cover = element("p", { className: "cover" });
        this.#status = element("p", { className: "status", role: "status" });
        this.#buttons = element("div", { className: "view", role: "group", "aria-label": t("What is seen") });
        this.#texts = element("div", { className: "texts" });
        this.#sheet = element("div", { className: "sheet" }, this.canvas, this.#texts, this.#buttons, this.#cover, this.#status);
        root.append(this.#sheet);
        this.addEventListener("keydown", (event) => this.#view?.key(event));
    }

    /** What is seen of the board: all of it, or a part; null while there is none. */
    get view() { return this.#view; }

    /**
     * A clock in place of the attribute `video` or `clock`: as that of a {@link Board}; for a teacher a function that returns the media
     * time of what is recorded; null for none.
     */
    get clock() { return this.#clock; }
    set clock(clock) {
        this.#clock = clock;
        this.restart();
    }

    connectedCallback() {
        this.restart();
    }

    disconnectedCallback() {
        this.restart();
    }

    attributeChangedCallback(name, before, after) {
        if (before !== after) this.restart();
    }

    /** Begins anew soon, with the attributes as they are then. */
    restart() {
        if (this.#isDue) return;
        this.#isDue = true;
        // Not before the language is known, nor before the page has its video, which may stand behind the board.
        const isParsed = document.readyState !== "loading" || new Promise((resolve) => {
            document.addEventListener("DOMContentLoaded", resolve, { once: true });
        });
        Promise.all([loading, isParsed]).then(() => {
            this.#isDue = false;
            translate(this.shadowRoot);
            this.#view?.close();
            this.#view = null;
            this.#buttons.replaceChildren();
            this.end();
            if (!this.isConnected) return;
            [this.#cover.hidden, this.#status.hidden] = [false, true];
            say(this.#cover, t("Fetching the board…"));
            this.canvas.setAttribute("aria-label", this.getAttribute("label") ?? t("Whiteboard"));
            if (!this.getAttribute("room")) return say(this.#cover, t("<{element}> has no room.", { element: this.localName }));
            const url = this.getAttribute("gateway") ?? undefined;
            this.begin(new Gateway({ url, token: this.getAttribute("token") ?? undefined }));
        });
    }

    /**
     * Shows how a board stands, and passes its events on. Without a `pen` a finger and a mouse move what is seen; `bar` has the buttons
     * that zoom.
     */
    follow(board, { pen = null, bar = this.#sheet } = {}) {
        this.#view = new BoardView(board, this.canvas, this.#sheet, { pen, isPulled: !pen });
        this.#buttons.append(...viewButtons(this.#view));
        if (this.#buttons.parentNode !== bar) bar.append(this.#buttons);
        let isLetIn = true;
        const uncover = () => {
            if (board.palette.length === 0 || !isLetIn) return;
            const { progress } = board.painter;
            this.#cover.hidden ||= progress === 1;
            if (progress < 1) say(this.#cover, drawingWords(progress));
        };
        bindTexts(board, this.#texts);
        board.addEventListener("painted", uncover);
        board.addEventListener("progress", uncover);
        board.addEventListener("index", ({ detail }) => {
            if (this.hasAttribute("label")) return;
            this.canvas.setAttribute("aria-label", boardWords(board.room, detail.strokes, board.page, board.pages.order));
        });
        followConnection(board, (connection) => {
            const { state, code } = connection;
            isLetIn = !refusals.includes(code);
            this.#status.hidden = state === "live" || !this.#cover.hidden;
            const [, words] = connectionWords(connection);
            say(this.#status, this.#status.hidden ? "" : words);
            if (state === "refused" || state === "waiting") say(this.#cover, words);
            if (!isLetIn) this.#cover.hidden = false;
            if (state === "live") uncover();
        });
        for (const type of ["connection", "index", "pages", "size", "lag"]) {
            board.addEventListener(type, ({ detail }) => this.dispatchEvent(new CustomEvent(type, { detail })));
        }
    }
}

/**
 * A board in step with a video of the page.
 *
 * Attributes: `room`; `gateway`, its address, where this file came from unless said; `token`; `cohort`; `video`, a selector
 * of the page's player; `begin`, the media time in milliseconds at which that video begins, 0 unless said; `label` for
 * screen readers. `--lectern-paper` is the colour under the ink.
 *
 * Events: `connection`, `index`, `pages`, `size` and `lag` of {@link board}.
 */
export class LecternBoard extends BoardHolder {
    static observedAttributes = [...super.observedAttributes, "cohort", "video", "begin"];
    #board = null;
    #ownClock = null;

    /** The board; null while the element is in no page, or has no room. */
    get board() { return this.#board; }

    /** Called by {@link BoardHolder}. */
    begin(gateway) {
        const selector = this.getAttribute("video");
        const video = selector ? this.getRootNode().querySelector(selector) : null;
        const begin = Number(this.getAttribute("begin")) || 0;
        if (video) this.#ownClock = new PlayerClock(video, (seconds) => begin + seconds * 1000);
        this.#board = new Board(this.canvas, {
            gateway, room: this.getAttribute("room"), cohort: this.getAttribute("cohort") ?? undefined,
            clock: this.clock ?? this.#ownClock ?? undefined,
        });
        this.follow(this.#board);
    }

    /** Called by {@link BoardHolder}. */
    end() {
        this.#board?.close();
        this.#ownClock?.close();
        [this.#board, this.#ownClock] = [null, null];
    }
}

if (globalThis.customElements && !customElements.get("lectern-board")) customElements.define("lectern-board", LecternBoard);
