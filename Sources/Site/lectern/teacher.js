/** A teacher's board: what is drawn on it goes to the room, and nothing of it is lost. */

import { Board } from "./board.js";
import { timeOf } from "./core-board.js";
import { Gateway } from "./gateway.js";
import { OwnInk } from "./own-ink.js";
import { Pen } from "./pen.js";
import { Element, Input, papers } from "./records.js";
import { commands, TeacherSession } from "./teacher-session.js";
import { cleanName } from "./words.js";

/** The number of the page that is seen, whichever it is. */
const seenPage = 1000;

/**
 * What the pen draws with.
 *
 * @typedef {object} Tool
 * @property {number} element one of {@link Element}
 * @property {number} colour an index into the board's palette, or `0xRRGGBB` where its features name `rgb`
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
 * - `lost`: `{draw}`: the system has taken a stroke back, as for a palm or a notification; `draw()` draws it again, on its page alone;
 * - `foreign`: `{}`: a tool has passed over what others have drawn, as {@link Teacher.removable} has it;
 * - `pages`: `{shown, order, hidden}`: the pages as this teacher sees them, with what the room has not answered for.
 *
 * Those of the board come from {@link board}.
 */
export class Teacher extends EventTarget {
    /** @type {Tool} */
    tool = { element: Element.freehand, colour: 0, width: 3 };
    /**
     * Whether the tool {@link Element}.pointer points where a mouse or a pen is above the board, without touching it, too: at most 15
     * points a second go out.
     */
    pointsWithoutTouching = false;
    /** The board at the head of the room's log. */
    board;
    /** The canvas of the board. */
    canvas;
    /** The pointers on the canvas. */
    pen;
    /**
     * Takes what the pen draws while it is set, in place of the room; the eraser end of a pen erases all the same.
     *
     * @type {Record<"began" | "moved" | "ended" | "cancelled", (stroke: import("./pen.js").PenStroke) => void> | null}
     */
    gesture = null;
    #options;
    #session;
    #leaving = new AbortController();
    /** As the session has told them. */
    #outbox = { waiting: 0, isKept: false, isFull: false };
    #isMuted = false;
    #page = null;
    #pages = null;
    #sessionName = "";
    #ink;
    /** What the pen is drawing for {@link gesture}. */
    #gesture = null;
    #name;

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {string} options.author the author's name: 1 to 64 of a to z, 0 to 9, _ and -
     * @param {string} [options.name] what the author is called on boards: up to 64 characters; the author's name unless said
     * @param {() => number} [options.clock] the media time of what is being recorded, in milliseconds on the time line of
     *   the room's video; NaN while unknown. Without it strokes have no time and go out with those before them
     * @param {import("./gateway.js").Gateway} [options.gateway] else one is made of `url` and `token`
     * @param {string} [options.url] as for {@link Gateway}
     * @param {string | (() => string | Promise<string>)} [options.token] as for {@link Gateway}
     */
    constructor(canvas, { gateway, url, token, ...options }) {
        super();
        const used = gateway ?? new Gateway({ url, token });
        this.#options = options;
        this.#name = cleanName(options.name);
        const { signal } = this.#leaving;
        const { room, author } = options;
        this.canvas = canvas;
        this.#session = new TeacherSession({ gateway: used, room, author, name: this.#name }, {
            began: () => this.#tellAll(),
            failed: (error) => {
                this.#ink.forget();
                this.board.reportFailure(error);
            },
            told: (type, detail) => this.#take(type, detail),
            live: (shown) => this.#takeLive(shown),
        });
        this.board = new Board(canvas, { room, cohort: "head", gateway: used, observe: false });
        this.#ink = new OwnInk(this.board, author);
        this.board.addEventListener("operation", ({ detail: { operation } }) => {
            if (operation.author === this.author) this.#session.tell("shown", () => new Input().data(JSON.stringify(operation.message)));
        });
        this.board.addEventListener("index", () => this.#tellBoard());
        this.board.addEventListener("incarnation", () => this.#tellJoined());
        this.board.addEventListener("covered", ({ detail: { author, session, covered } }) => {
            if (author === this.author) this.#session.tell("covered", () => new Input().number(covered).data(session));
        });
        this.board.addEventListener("pages", () => this.#tellPages());
        this.board.addEventListener("painted", () => this.#ink.show());
        // Of its own strokes the page has more than the room.
        this.board.hideSession(() => this.#sessionName);
        this.pen = new Pen(canvas, () => this.board.size, {
            pen: (...sample) => this.#session.pen(...sample),
            flags: () => (this.gesture ? 4 : 0),
            tool: () => [this.time, this.tool.element, this.tool.colour, this.tool.width],
            fingers: (draw) => this.#session.tell("fingers", () => new Input().word(draw)),
            even: (isEven) => this.#session.tell("even", () => new Input().word(isEven)),
            tapped: (count) => (count === 2 ? this.undo() : this.redo()),
            began: (stroke) => this.#began(stroke),
            moved: (stroke) => (this.#gesture ? this.#gesture.moved(stroke) : this.#ink.move()),
            ended: (stroke) => (this.#gesture ? this.#gesture.ended(stroke) : this.#ink.lift()),
            cancelled: (stroke) => (this.#gesture ? this.#gesture.cancelled(stroke) : this.#ink.lift()),
            lost: (draw) => this.#lost(draw),
            hovers: () => this.pointsWithoutTouching && this.tool.element === Element.pointer && !this.gesture,
            hovered: (event, numbers, place) => this.#hovered(event, numbers, place),
        });
        addEventListener("pagehide", () => this.#session.leave(), { signal });
        addEventListener("online", () => this.#session.tell("retry"), { signal });
        this.#session.begin();
    }

    /** Who draws. */
    get author() { return this.#options.author; }
    /** What boards call the author; undefined where it is the author. */
    get name() { return this.#name || undefined; }
    /** The media time of what is drawn now, in milliseconds; undefined while it is not known. */
    get time() {
        const time = timeOf(this.#options.clock);
        return Number.isFinite(time) ? Math.trunc(time) : undefined;
    }
    /** How many operations the room has not answered for. */
    get waiting() { return this.#outbox.waiting; }
    /** `waiting` at first, then as in the event `writer`. */
    get state() { return this.#session.state; }
    /** Whether the room takes nothing of this author. */
    get isMuted() { return this.#isMuted; }
    /** Whether the room takes what is done here: it writes, and is not muted. */
    get isWriting() { return this.state === "writer" && !this.#isMuted; }

    /**
     * The page that is seen, on which all that is drawn goes: while the pen is down it stays, even where another teacher turns
     * to another one.
     */
    get page() { return this.#page ?? this.board.pages.shown; }
    /** Which pages there are, with what the room has not answered for, and `unused`, a number for a new one, if there is one. */
    get pages() {
        const { shown, order, hidden, unused } = this.#pages ?? this.board.pages;
        return { shown, order: [...order], hidden: [...hidden], unused };
    }

    /** Each of them concerns the page that is seen. */
    undo() { this.#command("undo"); }
    redo() { this.#command("redo"); }
    clear() { this.#command("clear"); }

    /**
     * Takes strokes, images, texts and lassos of the page that is seen off the board: one step for {@link undo}. Those that are not there
     * any more are passed over.
     *
     * @param {number[]} indices 1 to 256 different ones, as operations of {@link board} and the event `applied` tell them
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    remove(indices) {
        return this.#command("remove", (input) => input.word(indices.length).numbers(indices));
    }

    /**
     * Those of some entries of the page that is seen that the room removes for this author: all of them, or the author's own alone where
     * the features of the board have `author-scope`.
     *
     * @param {number[]} indices
     */
    removable(indices) {
        const { features, painter } = this.board;
        return features.includes("author-scope") ? painter.own(indices, this.author) : indices;
    }

    /** Tells that a tool has passed over what others have drawn. */
    passOver() {
        this.dispatchEvent(new CustomEvent("foreign", { detail: {} }));
    }

    /** Shows a page, 0 … 999, to all; one that was never seen before comes last. */
    turn(page) { this.#command("turn", (input) => input.word(page)); }

    /**
     * Lays a paper under the ink of a page: no undo, eraser, clear or lasso takes it away, and another one replaces it.
     *
     * @param {"blank" | "lines" | "squares" | "dots" | "staves"} kind
     * @param {object} [options]
     * @param {number} [options.distance] of its lines in board units, 8 … 256
     * @param {number} [options.page] the page that is seen unless said
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    setPaper(kind, { distance = 32, page = seenPage } = {}) {
        return this.#command("paper", (input) => input.word(page).word(papers.indexOf(kind)).numbers([distance]));
    }

    /**
     * Lays a page of an asset under the ink of the page that is seen, as its paper.
     *
     * @param {string} asset its id
     * @param {{x: number, y: number, width: number, height: number}} box where, in board units
     * @param {number} [assetPage] the page of a PDF, from 0
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    setSlide(asset, { x, y, width, height }, assetPage = 0) {
        return this.#command("slide", (input) => input.word(assetPage).raw(asset).numbers([x, y, width, height]));
    }

    /**
     * Takes entries of the page that is seen off the board, and draws others in their place: the same ones in another colour or width.
     * They lie above all others. The next {@link undo} takes all of it back, where the room remembers as many steps, and the next
     * {@link redo} brings it again.
     *
     * @param {number[]} indices 1 to 256 different ones
     * @param {object[]} messages of strokes and texts in board units, as `board.painter.selectedInk()` has them; at most 256
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    redraw(indices, messages) {
        return this.#command("redraw", (input) =>
            messages.reduce((input, message) => input.data(JSON.stringify(message)), input.word(indices.length).numbers(indices)));
    }

    /** Sets the order of the pages; those left out are out of sight, with their ink, until they are in it again. */
    arrange(order) { this.#command("arrange", (input) => input.list(order)); }

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
    lasso(path, { map = null, keepsOriginal = false, page = seenPage } = {}) {
        return this.#command("lasso", (input) =>
            input.word(page).word(keepsOriginal).word(map !== null).numbers(map ?? [0, 0, 0, 0, 0, 0]).corners(path));
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
        return this.#command("image", (input) => input.word(assetPage).raw(asset).numbers([x, y, width, height]));
    }

    /**
     * Writes a text on the page that is seen. Lines part at line feeds alone; the whole is scaled evenly to fit the box.
     *
     * @param {string} text 1 to 2,000 bytes of UTF-8 without other control characters
     * @param {object} place
     * @param {number} place.x of the box in board units, as y, width and height
     * @param {number} place.y
     * @param {number} place.width
     * @param {number} place.height
     * @param {number} place.lineHeight of a line in board units, 4 … 512: the size that the text is edited with
     * @param {number} [place.colour] as in {@link Tool}; 0
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    writeText(text, { x, y, width, height, lineHeight, colour = 0 }) {
        return this.#command("text", (input) => input.word(colour).numbers([lineHeight, x, y, width, height]).data(text));
    }

    /**
     * Shows the page as if what is inside of a path were cut away, until {@link lasso} is called or this is with null.
     *
     * @param {{x: number, y: number}[] | null} path
     */
    previewCut(path) {
        this.#session.tell("preview", () => new Input().word(path !== null).corners(path ?? []));
    }

    /** Writes here from now on, wherever this author wrote before. */
    async takeOver() {
        this.#session.takeOver();
    }

    /** Sends and connects at once, if it waits to do so. */
    retry() {
        this.#session.tell("retry");
        this.board.retry();
    }

    /** Says what a look at the room has shown: whether its `muted` has this author. */
    noteMuted(isMuted) {
        this.#session.tell("muted", () => new Input().word(isMuted));
    }

    /** Ends it all; what waits stays in the browser for the next page. */
    close() {
        this.#session.close();
        this.#leaving.abort();
        this.#ink.close();
        this.pen.close();
        this.board.close();
    }

    /** Tells a session that begins what is known. */
    #tellAll() {
        if (!this.pen.drawsWithFingers) this.#session.tell("fingers", () => new Input().word(false));
        if (this.#isMuted) this.#session.tell("muted", () => new Input().word(true));
        this.#tellJoined();
    }

    #tellBoard() {
        const { size, index } = this.board;
        this.#session.tell("board", () => new Input().numbers([size.width, size.height, index]));
    }

    #tellPages() {
        const { shown, order, hidden } = this.board.pages;
        this.#session.tell("pages", () => new Input().word(shown).list(order).list(hidden));
    }

    #tellJoined() {
        if (!this.board.isJoined) return;
        this.#tellBoard();
        this.#tellPages();
        this.#session.tell("joined", () => new Input().data(this.board.incarnation));
    }

    #command(name, add = (input) => input) {
        return this.#session.tell("command", () => add(new Input().number(this.time).word(commands[name])));
    }

    /** Takes an event, and tells it. */
    #take(type, detail) {
        if (type === "muted") this.#isMuted = detail.isMuted;
        else if (type === "outbox") this.#outbox = detail;
        else if (type === "pages") this.#pages = detail;
        else if (type === "drawing" && !detail.isDrawing) this.#ink.end();
        this.pen.isEnabled = this.isWriting;
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    #began(stroke) {
        this.#gesture = stroke.isErasing ? null : this.gesture;
        if (this.#gesture) this.#gesture.began(stroke);
        else this.#ink.begin(stroke, this.tool);
    }

    /** Offers a stroke that the system has taken back: it belongs on its page, and is for the room. */
    #lost(draw) {
        const { page } = this;
        const drawLost = () => {
            if (this.page !== page) return;
            const { gesture } = this;
            this.gesture = null;
            draw();
            this.gesture = gesture;
        };
        this.dispatchEvent(new CustomEvent("lost", { detail: { draw: drawLost } }));
    }

    /** A mouse or a pen is above the board; `place` is null where it has left. */
    #hovered(event, numbers, place) {
        this.#session.pen(4, event, 0, numbers);
        if (place && this.pen.isEnabled) this.#ink.hover(place, this.tool);
        else this.#ink.lift();
    }

    #takeLive({ session, page, pages, entries }) {
        [this.#sessionName, this.#page, this.#pages] = [session, page, pages];
        this.board.view(page);
        this.#ink.take(entries);
    }
}
