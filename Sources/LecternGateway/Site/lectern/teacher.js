/**
 * A teacher's board: what is drawn on it goes to the room, and nothing of it is lost.
 *
 * @module
 */

import { BoardPages } from "./board-pages.js";
import { Board } from "./board.js";
import { Gateway } from "./gateway.js";
import { Action, Element, strokeOf } from "./model.js";
import { cleanName } from "./names.js";
import { imageFields, isSame, lassoFields, shards } from "./operation.js";
import { Outbox } from "./outbox.js";
import { Pen, elementOf } from "./pen.js";
import { Sender } from "./sender.js";
import { WetSender } from "./wet-sender.js";
import { WriterLock } from "./writer.js";

/** Milliseconds between two looks at whether a muted author is muted still. */
const mutedInterval = 5000;
/**
 * Milliseconds in which a device that another one has taken over from tells of what it had left, and for which that is remembered: its
 * session for it is not another take-over.
 */
const leftWait = 1500;
const leftTime = 10_000;
/** Milliseconds that a page waits to hear whether its author writes on another device. */
const askingTime = 3000;

/**
 * What the pen draws with.
 *
 * @typedef {object} Tool
 * @property {number} element one of {@link Element}
 * @property {number} colour an index into the board's palette
 * @property {number} width of the line in board units
 */

/**
 * Shows a room ahead of every video, and draws in it: strokes, images and lassos.
 *
 * ```js
 * import { Teacher } from "https://ink.example/lectern.js";
 * const teacher = new Teacher(canvas, { room: "physics", author: "anna", clock: () => encoderTime() });
 * teacher.tool = { element: 0, colour: 2, width: 3 };
 * ```
 *
 * While the pen is down, the stroke goes out point by point; in cohorts where strokes grow it grows so on the students'
 * boards, too. What is drawn is kept by the browser until a checkpoint of the room holds it, over reloads, crashes, lost networks
 * and power cuts. Of several pages with the same author one writes.
 *
 * Events, each with a `detail`:
 * - `writer`: `{state}`: `"writer"`; `"elsewhere"`: another page of this browser writes; `"superseded"`: another device has
 *   begun to, or this one was opened while its author writes elsewhere; see {@link takeOver}. What was drawn here before is sent
 *   all the same;
 * - `muted`: `{isMuted}`: the room takes nothing of this author, or takes it again. Nothing is drawn or sent meanwhile, and what
 *   the room has not taken is gone;
 * - `outbox`: `{waiting, isKept, isFull}`: how many operations have no answer yet;
 * - `sending`: a `ConnectionState` of events.js;
 * - `applied`: `{n, index}` and `rejected`: `{n, error, operation}`: the room's answers;
 * - `drawing`: `{isDrawing}`: the pen is down, or up;
 * - `pages`: `{shown, order, hidden}`: the pages as this teacher sees them, with what the room has not answered for.
 *
 * Those of the board come from {@link board}.
 */
export class Teacher extends EventTarget {
    /** @type {Tool} */
    tool = { element: Element.freehand, colour: 0, width: 3 };
    /** The board at the head of the room's log. */
    board;
    /** The pointers on the canvas. */
    pen;
    /**
     * Takes what the pen draws while it is set, in place of the room; the eraser end of a pen erases all the same.
     *
     * @type {{began: (stroke: PenStroke) => void, moved: (stroke: PenStroke) => void, ended: (stroke: PenStroke) => void,
     *   cancelled: (stroke: PenStroke) => void} | null}
     */
    gesture = null;
    #options;
    #outbox;
    #sender = null;
    #lock;
    #leaving = new AbortController();
    #state = "waiting";
    /** Whether this page has the right to write. */
    #hasLock = false;
    #wet = null;
    /** What the pen is drawing for {@link gesture}, and a lasso that is shown before it is published. */
    #gesture = null;
    #preview = null;
    #wetSender;
    /** Applied operations that the board has not shown yet: their strokes stay until it does. */
    #applied = new Map();
    #pagesTold = "";
    #isMuted = false;
    /** When a stroke that another device had left was seen last, and the wait for one after a session is over. */
    #leftAt = -Infinity;
    #overTimer = null;
    /** Where the browser notes that this author writes here. */
    #writerKey;
    /** What messages say that the author is called. */
    #by;
    #askingMuted = null;

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {string} options.author the author's name: 1 to 64 of a to z, 0 to 9, _ and -
     * @param {string} [options.name] what the author is called on boards: up to 64 characters; the author's name unless said
     * @param {() => number} [options.clock] the media time of what is being recorded, in milliseconds on the time line of
     *   the room's video; NaN while unknown. Without it strokes have no time and go out with those before them
     * @param {Gateway} [options.gateway] or `url` and `token` as for {@link Gateway}
     */
    constructor(canvas, { gateway, url, token, ...options }) {
        super();
        const used = gateway ?? new Gateway({ url, token });
        this.#options = { gateway: used, ...options };
        const shown = cleanName(options.name);
        // Undefined members do not reach the wire.
        this.#by = shown === "" || shown === options.author ? undefined : shown;
        this.board = new Board(canvas, { room: options.room, cohort: "head", gateway: used, observe: false });
        this.board.addEventListener("operation", ({ detail }) => this.#seen(detail.operation));
        this.board.addEventListener("index", () => this.#shown());
        // Of several pages the one that writes keeps the outbox.
        this.board.addEventListener("incarnation", () => this.#followRoom());
        this.board.addEventListener("covered", ({ detail }) => {
            if (this.#state === "writer" && detail.author === options.author) this.#outbox.cover(detail);
        });
        this.board.addEventListener("pages", () => this.#showLive());
        this.board.addEventListener("painted", () => this.#showLive());
        const name = `${used.url} ${options.room} ${options.author}`;
        this.#writerKey = `lectern-writer ${name}`;
        this.#outbox = new Outbox(name);
        const numbering = () => ({ n: this.#outbox.next, session: this.#outbox.session });
        this.#wetSender = new WetSender(used, options.room, options.author, numbering);
        // Of its own strokes the page has more than the room.
        this.board.hideSession(() => this.#outbox.session);
        this.pen = new Pen(canvas, () => this.board.size, {
            began: (stroke) => {
                this.#gesture = stroke.isErasing ? null : this.gesture;
                if (this.#gesture) this.#gesture.began(stroke);
                else this.#began(stroke);
            },
            moved: (stroke, first) => (this.#gesture ? this.#gesture.moved(stroke) : this.#moved(stroke, first)),
            ended: (stroke) => (this.#gesture ? this.#gesture.ended(stroke) : this.#ended(stroke)),
            cancelled: (stroke) => (this.#gesture ? this.#gesture.cancelled(stroke) : this.#cancelled()),
        });
        this.pen.isEnabled = false;
        addEventListener("pagehide", () => this.#left(), { signal: this.#leaving.signal });
        this.#lock = new WriterLock(name, (isWriter) => this.#turned(isWriter));
        this.#lock.request();
    }

    /** Who draws. */
    get author() { return this.#options.author; }
    /** The media time of what is drawn now, in milliseconds; undefined while it is not known. */
    get time() { return this.#time(); }
    /** How many operations the room has not answered for. */
    get waiting() { return this.#outbox.length; }
    /** `waiting` at first, then as in the event `writer`. */
    get state() { return this.#state; }
    /** Whether the room takes nothing of this author. */
    get isMuted() { return this.#isMuted; }

    /**
     * The page that is seen, on which all that is drawn goes: while the pen is down it stays, even where another teacher turns
     * to another one.
     */
    get page() { return this.#wet?.message.g ?? this.pages.shown; }
    /** Which pages there are, with what the room has not answered for. */
    get pages() {
        const pages = new BoardPages(this.board.pages);
        for (const { operation } of this.#unseen()) {
            switch (operation.a ?? Action.draw) {
                case Action.draw: pages.add(operation.g ?? pages.shown); break;
                case Action.turn: pages.turn(operation.g); break;
                case Action.arrange: pages.arrange(operation.v); break;
            }
        }
        return pages;
    }

    /** Each of them concerns the page that is seen. */
    undo() { this.#command({ a: Action.undo, g: this.page }); }
    redo() { this.#command({ a: Action.redo, g: this.page }); }
    clear() { this.#command({ a: Action.clear, g: this.page }); }

    /** Shows a page, 0 … 999, to all; one that was never seen before comes last. */
    turn(page) {
        if (page !== this.pages.shown) this.#command({ a: Action.turn, g: page });
    }

    /** Sets the order of the pages; those left out are out of sight, with their ink, until they are in it again. */
    arrange(order) {
        if (order.join() !== this.pages.order.join()) this.#command({ a: Action.arrange, v: [...order] });
    }

    /**
     * Publishes a lasso: moves, copies or cuts away what is inside of a path.
     *
     * @param {{x: number, y: number}[]} path 3 to 1,024 corners in board units; closed from the last to the first
     * @param {object} [options]
     * @param {number[] | null} [options.map] `[a, b, c, d, e, f]`, where the inside goes: x' = a·x + c·y + e,
     *   y' = b·x + d·y + f, each of them at most 16384 in size; null to cut it away
     * @param {boolean} [options.keepsOriginal] whether it stays where it is, too; false
     * @param {number} [options.page] the page that is seen unless said
     * @returns {boolean} whether it was taken: false while another page writes, the author is muted, or the outbox is full
     */
    lasso(path, { map = null, keepsOriginal = false, page = this.page } = {}) {
        this.#preview = null;
        return this.#draw({ g: page, ...lassoFields(path, map, keepsOriginal) });
    }

    /**
     * Puts a page of an asset on the page that is seen.
     *
     * @param {string} asset its id, as {@link Gateway.upload} returns it
     * @param {{x: number, y: number, width: number, height: number}} box where, in board units
     * @param {number} [assetPage] the page of a PDF, from 0
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    placeImage(asset, { x, y, width, height }, assetPage = 0) {
        return this.#draw({ g: this.page, ...imageFields(asset, assetPage, x, y, width, height) });
    }

    /**
     * Shows the page as if what is inside of a path were cut away, until {@link lasso} is called or this is with null.
     *
     * @param {{x: number, y: number}[] | null} path
     */
    previewCut(path) {
        if (!path && !this.#preview) return;
        const page = this.page;
        this.#preview = path && strokeOf({ n: 0, ...lassoFields(path, null, false), ...this.#boardFields }, { page });
        this.#showLive();
    }

    /** Writes here from now on, wherever this author wrote before. */
    async takeOver() {
        if (this.#state === "elsewhere") return this.#lock.takeOver();
        if (this.#state !== "superseded") return;
        await this.#resume();
    }

    async #resume() {
        clearTimeout(this.#overTimer);
        [this.#overTimer, this.#leftAt] = [null, -Infinity];
        await this.#outbox.begin();
        if (this.#hasLock) this.#write();
    }

    /** Sends and connects at once, if it waits to do so. */
    retry() {
        this.#sender?.retry();
        this.board.retry();
    }

    /** Says what a look at the room has shown: whether its `muted` has this author. */
    noteMuted(isMuted) {
        if (isMuted === this.#isMuted) return;
        this.#isMuted = isMuted;
        if (isMuted) this.#cancelled();
        this.pen.isEnabled = this.#canWrite;
        clearInterval(this.#askingMuted);
        // Nobody is told of the end of it.
        if (isMuted) this.#askingMuted = setInterval(() => this.#askMuted(), mutedInterval);
        this.#tell("muted", { isMuted });
    }

    async #askMuted() {
        const { gateway, room } = this.#options;
        try {
            const { muted } = await gateway.json(`api/rooms/${encodeURIComponent(room)}`, { signal: this.#leaving.signal });
            if (!this.#leaving.signal.aborted) this.noteMuted((muted ?? []).includes(this.author));
        } catch (error) {
            // A room that was closed has nobody muted.
            if (error.status === 404) this.noteMuted(false);
        }
    }

    get #canWrite() {
        return this.#state === "writer" && !this.#isMuted;
    }

    /** Ends it all; what waits stays in the browser for the next page. */
    close() {
        this.#leaving.abort();
        this.#hasLock = false;
        clearInterval(this.#askingMuted);
        clearTimeout(this.#overTimer);
        this.pen.close();
        this.#sender?.close();
        this.#wetSender.close();
        this.#lock.close();
        this.board.close();
    }

    async #turned(isWriter) {
        this.#hasLock = isWriter;
        if (!isWriter) {
            this.#sender?.close();
            this.#cancelled();
            return this.#become("elsewhere");
        }
        await this.#outbox.open();
        if (!this.#hasLock) return;
        const isElsewhere = await this.#isElsewhere();
        if (!this.#hasLock) return;
        if (isElsewhere) this.#become("superseded");
        else this.#write();
    }

    /** Whether the author has written lately, and not here: then the person is asked before that one is cut off. */
    async #isElsewhere() {
        if (noted(this.#writerKey) === "here") return false;
        const { gateway, room } = this.#options;
        const state = gateway.json(`api/rooms/${encodeURIComponent(room)}`, { signal: this.#leaving.signal }).catch(() => ({}));
        const late = new Promise((resolve) => setTimeout(() => resolve({}), askingTime));
        const { writers } = await Promise.race([state, late]);
        return (writers ?? []).includes(this.author);
    }

    #write() {
        this.#sender?.close();
        this.#sender = null;
        note(this.#writerKey, "here");
        this.#become("writer");
        this.#showLive();
        // What an earlier page has sent may have to go out again, before anything new: the room says so.
        if (!this.#outbox.hasUncovered) this.#send();
        this.#followRoom();
    }

    #followRoom() {
        if (this.#state !== "writer" || !this.board.isJoined) return;
        if (this.#outbox.follow(this.board.incarnation)) this.#tellOutbox();
        if (this.#sender) this.#sender.wake();
        else this.#send();
    }

    #send() {
        const { gateway, room, author } = this.#options;
        this.#sender = new Sender(gateway, room, author, this.#outbox, this.#listener(() => this.#sessionOver()));
    }

    /** What is done with the room's answers. */
    #listener(sessionOver) {
        return {
            applied: (entry, index) => this.#answered(entry, index),
            rejected: (entry, error) => {
                if (error.code === "muted") this.noteMuted(true);
                this.#tell("rejected", { n: entry.n, error, operation: entry.operation });
                queueMicrotask(() => this.#showLive());
            },
            sessionOver,
            connection: (state) => this.#tell("sending", state),
        };
    }

    /** Another device writes as this author; or it has only sent what it had left, and this one goes on. */
    #sessionOver() {
        if (performance.now() - this.#leftAt < leftTime) return this.#resume();
        // The pen draws on meanwhile: what it draws is kept.
        this.#overTimer ??= setTimeout(() => this.#superseded(), leftWait);
    }

    async #superseded() {
        this.#overTimer = null;
        // As far as it is drawn: its pen is taken away.
        if (this.#wet) this.#ended({ points: [...this.#wet.pen.points] });
        note(this.#writerKey, "elsewhere");
        this.#become("superseded");
        if (this.#outbox.length === 0) return;
        // What was drawn before anybody could know goes out in a session of its own, and says that it is no more than that.
        await this.#outbox.begin({ left: true });
        if (this.#state !== "superseded" || !this.#hasLock) return;
        const { gateway, room, author } = this.#options;
        this.#sender?.close();
        this.#sender = new Sender(gateway, room, author, this.#outbox, this.#listener(() => {}));
    }

    #become(state) {
        this.#state = state;
        this.pen.isEnabled = this.#canWrite;
        this.#tell("writer", { state });
        this.#tellOutbox();
    }

    #time() {
        const time = this.#options.clock ? Number(this.#options.clock()) : NaN;
        return Number.isFinite(time) ? Math.trunc(time) : undefined;
    }

    #command(message) {
        if (!this.#canWrite || this.#wet) return;
        this.#enqueue((n) => ({ n, ...message, t: this.#time() }));
    }

    /** Publishes what no pen draws. */
    #draw(message) {
        if (!this.#canWrite || this.#wet || this.#outbox.isFull) {
            this.#showLive();
            return false;
        }
        this.#enqueue((n) => ({ n, s: 0, o: 0, a: Action.draw, t: this.#time(), ...this.#boardFields, ...message }));
        return true;
    }

    #began(stroke) {
        const { colour, width: line, element } = this.tool;
        // Named, so that a turn by another teacher does not move the ink.
        const g = this.page;
        // Undefined members do not reach the wire.
        const message = { c: colour, l: line, s: 0, o: 0, e: elementOf(stroke, element), a: 1, g, t: this.#time(), ...this.#boardFields };
        this.#wet = { pen: stroke, message, drawn: null };
        const { c, l, e, t, w, h } = message;
        this.#wetSender.begin({ c, l, e, t, w, h, g }, stroke);
        this.#tell("drawing", { isDrawing: true });
        this.#show();
    }

    #moved(stroke, first) {
        if (!this.#wet) return;
        this.#wetSender.moved(first);
        this.#show();
    }

    /** The size of the board, as messages tell it. */
    get #boardFields() {
        const { width, height } = this.board.size;
        return { w: width, h: height };
    }

    /** Shows the stroke under the pen. */
    #show() {
        this.board.showLive([...this.#above(), this.#underPen]);
    }

    /** The stroke under the pen, as far as it is drawn. */
    get #underPen() {
        const { pen, message, drawn } = this.#wet;
        if (drawn?.message.d.length === pen.points.length) return drawn;
        return (this.#wet.drawn = strokeOf({ n: 0, ...message, d: [...pen.points] }));
    }

    #ended(stroke) {
        const { message } = this.#wet ?? {};
        this.#wet = null;
        if (this.#outbox.isFull) this.#wetSender.giveUp();
        else this.#wetSender.end();
        this.#tell("drawing", { isDrawing: false });
        if (message && stroke.points.length > 0) this.#enqueue((n) => ({ n, ...message, d: stroke.points }));
    }

    #cancelled() {
        if (!this.#wet) return;
        this.#wet = null;
        this.#wetSender.giveUp();
        this.#tell("drawing", { isDrawing: false });
        this.#showLive();
    }

    /** The page goes, and with it a stroke whose pen is down. */
    #left() {
        this.#wetSender.leave();
        this.#cancelled();
    }

    #enqueue(make) {
        if (this.#outbox.isFull) {
            this.#showLive();
            return this.#tellOutbox();
        }
        const { kept } = this.#outbox.add((n) => {
            const operation = { by: this.#by, ...make(n) };
            return { operation, messages: shards(operation) };
        });
        this.#showLive();
        this.#tellOutbox();
        // The browser has it before the room does: a crash in between loses nothing.
        kept.then(() => this.#sender?.wake());
    }

    #answered(entry, index) {
        if (index > this.board.index && !entry.isSeen) this.#applied.set(index, entry);
        this.#tell("applied", { n: entry.n, index });
        queueMicrotask(() => {
            this.#showLive();
            this.#tellOutbox();
        });
    }

    /** The board shows an operation: if it is one that waits for its answer, it is not drawn twice. */
    #seen(operation) {
        if (operation.author !== this.author) return;
        const entry = this.#outbox.entries.find(
            (one) => one.n === operation.message.n && isSame(one.operation, operation.message));
        if (entry) entry.isSeen = true;
        else if (operation.message.left === true && this.#state === "writer") {
            this.#leftAt = performance.now();
            if (this.#overTimer !== null) this.#resume();
        }
    }

    #shown() {
        for (const index of this.#applied.keys()) if (index <= this.board.index) this.#applied.delete(index);
        this.#showLive();
    }

    /** Operations that the board does not show yet, in their order. */
    #unseen() {
        return [...this.#applied.values(), ...this.#outbox.entries].filter(({ isSeen }) => !isSeen);
    }

    /** The strokes, images and lassos that the room does not show yet on the page that is seen, from the bottom to the top. */
    #pending() {
        const page = this.page;
        const strokes = [];
        for (const entry of this.#unseen()) {
            if ((entry.operation.g ?? page) !== page) continue;
            const action = entry.operation.a ?? Action.draw;
            if (action === Action.draw) {
                // The same object each time, so that the painter knows it.
                strokes.push((entry.stroke ??= strokeOf(entry.operation)));
            } else if (action === Action.undo) strokes.pop();
            else if (action === Action.clear) strokes.length = 0;
        }
        return strokes;
    }

    /** What is shown above the room's, but for the stroke under the pen. */
    #above() {
        const entries = this.#pending();
        return this.#preview?.page === this.page ? [...entries, this.#preview] : entries;
    }

    #showLive() {
        this.board.view(this.page);
        this.#tellPages();
        const strokes = this.#above();
        this.board.showLive(this.#wet ? [...strokes, this.#underPen] : strokes);
    }

    #tellPages() {
        const pages = this.pages;
        if (pages.key === this.#pagesTold) return;
        this.#pagesTold = pages.key;
        const { shown, order, hidden } = pages;
        this.#tell("pages", { shown, order, hidden });
    }

    #tellOutbox() {
        const { length, isKept, isFull } = this.#outbox;
        this.#tell("outbox", { waiting: length, isKept, isFull });
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}

function noted(key) {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

function note(key, value) {
    try {
        localStorage.setItem(key, value);
    } catch {
        // Not remembered: the person is asked once more.
    }
}
