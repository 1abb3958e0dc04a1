/**
 * What the elements of a board share: a canvas with its words, in the light or dark of the page.
 *
 * @module
 */

import { Gateway } from "./gateway.js";
import { boardWords, connectionWords, drawingWords, refusals } from "./words.js";

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
    #cover;
    #status;
    #isDue = false;
    #timer = null;
    #connection = { state: "connecting" };

    constructor() {
        super();
        const root = this.attachShadow({ mode: "open" });
        adopt(root, style);
        this.canvas = document.createElement("canvas");
        this.canvas.setAttribute("role", "img");
        this.#cover = document.createElement("p");
        this.#cover.className = "cover";
        this.#status = document.createElement("p");
        this.#status.className = "status";
        this.#status.setAttribute("role", "status");
        const sheet = document.createElement("div");
        sheet.className = "sheet";
        sheet.append(this.canvas, this.#cover, this.#status);
        root.append(sheet);
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
        queueMicrotask(() => {
            this.#isDue = false;
            clearInterval(this.#timer);
            this.end();
            if (!this.isConnected) return;
            [this.#cover.hidden, this.#status.hidden] = [false, true];
            this.#say(this.#cover, "Fetching the board…");
            this.canvas.setAttribute("aria-label", this.getAttribute("label") ?? "Whiteboard");
            if (!this.getAttribute("room")) return this.#say(this.#cover, `<${this.localName}> has no room.`);
            const url = this.getAttribute("gateway") ?? undefined;
            this.begin(new Gateway({ url, token: this.getAttribute("token") ?? undefined }));
        });
    }

    /** Shows how a board stands, and passes its events on. */
    follow(board) {
        const uncover = () => {
            if (board.palette.length === 0 || refusals.includes(this.#connection.code)) return;
            const { progress } = board.painter;
            this.#cover.hidden ||= progress === 1;
            if (progress < 1) this.#say(this.#cover, drawingWords(progress));
        };
        board.addEventListener("painted", uncover);
        board.addEventListener("progress", uncover);
        board.addEventListener("index", ({ detail }) => {
            if (this.hasAttribute("label")) return;
            this.canvas.setAttribute("aria-label", boardWords(board.room, detail.strokes, board.page, board.pages.order));
        });
        const showConnection = () => {
            const { state, code } = this.#connection;
            this.#status.hidden = state === "live" || !this.#cover.hidden;
            const [, words] = connectionWords(this.#connection);
            this.#say(this.#status, this.#status.hidden ? "" : words);
            if (state === "refused" || state === "waiting") this.#say(this.#cover, words);
            if (refusals.includes(code)) this.#cover.hidden = false;
        };
        board.addEventListener("connection", ({ detail }) => {
            // It tries again now and then: that lets nobody in yet.
            if (detail.state === "connecting" && this.#connection.state === "refused") return;
            this.#connection = detail;
            showConnection();
            if (detail.state === "live") uncover();
            clearInterval(this.#timer);
            if (detail.state === "waiting") this.#timer = setInterval(showConnection, 1000);
        });
        for (const type of ["connection", "index", "pages", "size", "lag"]) {
            board.addEventListener(type, ({ detail }) => this.dispatchEvent(new CustomEvent(type, { detail })));
        }
    }

    #say(target, words) {
        if (target.textContent !== words) target.textContent = words;
    }
}
