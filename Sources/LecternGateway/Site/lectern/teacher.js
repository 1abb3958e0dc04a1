/**
 * A teacher's board: what is drawn on it goes to the room, and nothing of it is lost.
 *
 * @module
 */

import { remember, remembered } from "./dom.js";
import { Board } from "./board.js";
import { Backoff, Gateway, GatewayError, unreachable } from "./gateway.js";
import { cleanName } from "./words.js";
import { OutboxStore, WriterLock } from "./outbox-store.js";
import { Pen } from "./pen.js";
import { Input, papers } from "./records.js";
import { TeacherCore } from "./teacher-core.js";

/** What is drawn: the values of a message's `e`. */
export const Element = Object.freeze({ freehand: 0, line: 1, ellipse: 2, rectangle: 3, eraser: 4, image: 5, lasso: 6, pointer: 7, text: 8, highlighter: 9, arrow: 10 });

/** What else a message does: the values of its `a`. */
const Action = Object.freeze({ undo: 2, redo: 3, clear: 4, turn: 5, arrange: 6 });
/** Milliseconds until an update of wet ink counts as lost. */
const wetTimeout = 3000;
/** Milliseconds after which a session of the core that has failed is not the reason for the next one to fail. */
const soundTime = 60_000;
/** Milliseconds after which a pointer that rests above the board goes. */
const hoverRest = 2000;
/** The numbers of an image, a lasso, a paper, a removal and a text among commands, and of the page that is seen. */
const [imageCommand, lassoCommand, paperCommand, removeCommand, textCommand] = [7, 8, 9, 10, 11];
const [slideCommand, redrawCommand, seenPage] = [12, 13, 1000];

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
     * @type {{began: (stroke: import("./pen.js").PenStroke) => void, moved: (stroke: import("./pen.js").PenStroke) => void, ended: (stroke: import("./pen.js").PenStroke) => void,
     *   cancelled: (stroke: import("./pen.js").PenStroke) => void} | null}
     */
    gesture = null;
    #options;
    #core = null;
    #failures = new Backoff();
    #failedAt = -Infinity;
    #store;
    #lock;
    #leaving = new AbortController();
    /** Whether this page has the right to write; null while that is not known. */
    #hasLock = null;
    #timer = null;
    /** As the core has told them. */
    #state = "waiting";
    #outbox = { waiting: 0, isKept: false, isFull: false };
    #isMuted = false;
    #page = null;
    #pages = null;
    #session = "";
    /** What is shown above the room's: entries by their ids, and the stroke under the pen. */
    #live = new Map();
    #drawn = null;
    /** What the pen is drawing for {@link gesture}. */
    #gesture = null;
    /** The pointer under the hand: who points, and with what; null while none does. */
    #pointer = null;
    #hoverTimer = null;
    /** Where the browser notes that this author writes here. */
    #writerKey;
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
        TeacherCore.expectTeacher();
        const used = gateway ?? new Gateway({ url, token });
        this.#options = { gateway: used, ...options };
        this.#name = cleanName(options.name);
        const { signal } = this.#leaving;
        this.canvas = canvas;
        this.board = new Board(canvas, { room: options.room, cohort: "head", gateway: used, observe: false });
        this.board.addEventListener("operation", ({ detail: { operation } }) => {
            if (operation.author === this.author) this.#tellCore("shown", () => new Input().data(JSON.stringify(operation.message)));
        });
        this.board.addEventListener("index", () => this.#tellBoard());
        this.board.addEventListener("incarnation", () => this.#tellJoined());
        this.board.addEventListener("covered", ({ detail: { author, session, covered } }) => {
            if (author === this.author) this.#tellCore("covered", () => new Input().number(covered).data(session));
        });
        this.board.addEventListener("pages", () => this.#tellPages());
        this.board.addEventListener("painted", () => this.#show());
        // Of its own strokes the page has more than the room.
        this.board.hideSession(() => this.#session);
        const key = `${used.url} ${options.room} ${options.author}`;
        this.#writerKey = `lectern-writer ${key}`;
        this.#store = new OutboxStore(key);
        this.pen = new Pen(canvas, () => this.board.size, {
            pen: (...sample) => this.#movePen(...sample),
            flags: () => (this.gesture ? 4 : 0),
            tool: () => [this.#time(), this.tool.element, this.tool.colour, this.tool.width],
            fingers: (draw) => this.#tellCore("fingers", () => new Input().word(draw)),
            even: (isEven) => this.#tellCore("even", () => new Input().word(isEven)),
            tapped: (count) => (count === 2 ? this.undo() : this.redo()),
            began: (stroke) => this.#began(stroke),
            moved: (stroke) => (this.#gesture ? this.#gesture.moved(stroke) : this.#showDrawn()),
            ended: (stroke) => (this.#gesture ? this.#gesture.ended(stroke) : this.#lift()),
            cancelled: (stroke) => (this.#gesture ? this.#gesture.cancelled(stroke) : this.#lift()),
            lost: (draw) => this.#lost(draw),
            hovers: () => this.pointsWithoutTouching && this.tool.element === Element.pointer && !this.gesture,
            hovered: (event, numbers, place) => this.#hovered(event, numbers, place),
        });
        addEventListener("pagehide", () => this.#leave(), { signal });
        addEventListener("online", () => this.#tellCore("retry"), { signal });
        this.#lock = new WriterLock(key, (hasLock) => {
            this.#hasLock = hasLock;
            this.#tellCore("right", () => new Input().word(hasLock));
        });
        this.#lock.request();
        this.#begin();
    }

    /** Who draws. */
    get author() { return this.#options.author; }
    /** What boards call the author; undefined where it is the author. */
    get name() { return this.#name || undefined; }
    /** The media time of what is drawn now, in milliseconds; undefined while it is not known. */
    get time() { return this.#time(); }
    /** How many operations the room has not answered for. */
    get waiting() { return this.#outbox.waiting; }
    /** `waiting` at first, then as in the event `writer`. */
    get state() { return this.#state; }
    /** Whether the room takes nothing of this author. */
    get isMuted() { return this.#isMuted; }

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
    undo() { this.#command(Action.undo); }
    redo() { this.#command(Action.redo); }
    clear() { this.#command(Action.clear); }

    /**
     * Takes strokes, images, texts and lassos of the page that is seen off the board: one step for {@link undo}. Those that are not there
     * any more are passed over.
     *
     * @param {number[]} indices 1 to 256 different ones, as operations of {@link board} and the event `applied` tell them
     * @returns {boolean} whether it was taken, as {@link lasso}
     */
    remove(indices) {
        return this.#command(removeCommand, (input) => input.word(indices.length).numbers(indices));
    }

    /** Shows a page, 0 … 999, to all; one that was never seen before comes last. */
    turn(page) { this.#command(Action.turn, (input) => input.word(page)); }

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
        return this.#command(paperCommand, (input) => input.word(page).word(papers.indexOf(kind)).numbers([distance]));
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
        return this.#command(slideCommand, (input) => input.word(assetPage).raw(asset).numbers([x, y, width, height]));
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
        return this.#command(redrawCommand, (input) =>
            messages.reduce((input, message) => input.data(JSON.stringify(message)), input.word(indices.length).numbers(indices)));
    }

    /** Sets the order of the pages; those left out are out of sight, with their ink, until they are in it again. */
    arrange(order) { this.#command(Action.arrange, (input) => input.list(order)); }

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
        return this.#command(lassoCommand, (input) =>
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
        return this.#command(imageCommand, (input) => input.word(assetPage).raw(asset).numbers([x, y, width, height]));
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
        return this.#command(textCommand, (input) => input.word(colour).numbers([lineHeight, x, y, width, height]).data(text));
    }

    /**
     * Shows the page as if what is inside of a path were cut away, until {@link lasso} is called or this is with null.
     *
     * @param {{x: number, y: number}[] | null} path
     */
    previewCut(path) {
        this.#tellCore("preview", () => new Input().word(path !== null).corners(path ?? []));
    }

    /** Writes here from now on, wherever this author wrote before. */
    async takeOver() {
        if (this.#state === "elsewhere") this.#lock.takeOver();
        else this.#tellCore("takeOver");
    }

    /** Sends and connects at once, if it waits to do so. */
    retry() {
        this.#tellCore("retry");
        this.board.retry();
    }

    /** Says what a look at the room has shown: whether its `muted` has this author. */
    noteMuted(isMuted) {
        this.#tellCore("muted", () => new Input().word(isMuted));
    }

    /** Ends it all; what waits stays in the browser for the next page. */
    close() {
        this.#leave();
        this.#leaving.abort();
        this.#core = null;
        clearTimeout(this.#timer);
        clearTimeout(this.#hoverTimer);
        this.pen.close();
        this.#lock.close();
        this.board.close();
    }

    /** Makes a session, the first or after one has failed: it reads from the store what there is to send. */
    async #begin() {
        for (const backoff = new Backoff(); !this.#core && !this.#leaving.signal.aborted; ) {
            try {
                const module = await TeacherCore.load();
                if (this.#leaving.signal.aborted) return;
                this.#core = new TeacherCore(module, this.author, this.#name);
            } catch (error) {
                console.error(error);
                await new Promise((resolve) => setTimeout(resolve, backoff.next()));
                if (this.#leaving.signal.aborted) return;
            }
        }
        if (!this.pen.drawsWithFingers) this.#tellCore("fingers", () => new Input().word(false));
        if (this.#isMuted) this.#tellCore("muted", () => new Input().word(true));
        if (this.board.isJoined) this.#tellJoined();
        if (this.#hasLock !== null) this.#tellCore("right", () => new Input().word(this.#hasLock));
    }

    /** Calls the core, and does what it wants then. One that fails is replaced. */
    #call(body) {
        const core = this.#core;
        if (!core) return undefined;
        try {
            const result = body(core);
            this.#run(core);
            return result;
        } catch (error) {
            if (!(error instanceof WebAssembly.RuntimeError)) throw error;
            console.error(error);
            if (this.#core === core) {
                [this.#core, this.#drawn, this.#live] = [null, null, new Map()];
                this.board.reportFailure(error);
                this.#beginAgain();
            }
            return undefined;
        }
    }

    /** Makes a session in the place of one that has failed; not at once, for what it reads from the store may be the reason. */
    #beginAgain() {
        if (performance.now() - this.#failedAt > soundTime) this.#failures.reset();
        this.#failedAt = performance.now();
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#begin(), this.#failures.next());
    }

    #tellCore(call, input = () => undefined) {
        return this.#call((core) => core.tell(call, input())) === true;
    }

    #tellBoard() {
        const { size, index } = this.board;
        this.#tellCore("board", () => new Input().numbers([size.width, size.height, index]));
    }

    #tellPages() {
        const { shown, order, hidden } = this.board.pages;
        this.#tellCore("pages", () => new Input().word(shown).list(order).list(hidden));
    }

    #tellJoined() {
        if (!this.board.isJoined) return;
        this.#tellBoard();
        this.#tellPages();
        this.#tellCore("joined", () => new Input().data(this.board.incarnation));
    }

    #command(action, add = (input) => input) {
        return this.#tellCore("command", () => add(new Input().number(this.#time()).word(action)));
    }

    #time() {
        const time = this.#options.clock ? Number(this.#options.clock()) : NaN;
        return Number.isFinite(time) ? Math.trunc(time) : undefined;
    }

    #run(core) {
        clearTimeout(this.#timer);
        while (core === this.#core) {
            const { step, ...detail } = core.next();
            switch (step) {
                case "wait":
                    if (Number.isNaN(detail.until)) return;
                    this.#timer = setTimeout(() => this.#call(() => {}), Math.max(detail.until - performance.now(), 0));
                    return;
                case "load": this.#load(core); break;
                case "store": this.#keep(core, detail); break;
                case "post": this.#post(core, detail); break;
                case "look": this.#look(core); break;
                case "note": remember(this.#writerKey, detail.writesHere ? "here" : "elsewhere"); break;
                case "live": this.#takeLive(core.live()); break;
                default: this.#take(step, detail);
            }
        }
    }

    /** Takes an event, and tells it. */
    #take(type, detail) {
        if (type === "writer") this.#state = detail.state;
        else if (type === "muted") this.#isMuted = detail.isMuted;
        else if (type === "outbox") this.#outbox = detail;
        else if (type === "pages") this.#pages = detail;
        else if (type === "drawing" && !detail.isDrawing) this.#drawn = null;
        this.pen.isEnabled = this.#state === "writer" && !this.#isMuted;
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    async #load(core) {
        const records = await this.#store.read();
        const input = new Input().word(records !== null).word(remembered(this.#writerKey) === "here");
        for (const { session, n, bytes } of records ?? []) input.data(session).number(n).data(bytes);
        if (core === this.#core) this.#tellCore("loaded", () => input);
    }

    async #keep(core, { id, records, deleted }) {
        const isKept = await this.#store.write(records, deleted);
        if (core === this.#core) this.#tellCore("stored", () => new Input().word(id).word(isKept));
    }

    async #post(core, { id, target, outlives, session, body }) {
        const { gateway, room } = this.#options;
        let answer;
        try {
            const response = await gateway.request(`api/rooms/${encodeURIComponent(room)}/${target}`, {
                method: "POST", isRepeated: true, query: { author: this.author }, body, keepalive: outlives,
                headers: { "Content-Type": "application/x-ndjson", "Ink-Session": session },
                ...(target === "wet" ? { limit: wetTimeout } : { signal: this.#leaving.signal }),
            });
            const bytes = new Uint8Array(await response.arrayBuffer());
            answer = ["answered", new Input().word(id).data(bytes)];
        } catch (error) {
            const { status, code, message, retryAfter } = error instanceof GatewayError ? error : unreachable();
            answer = ["failed", new Input().word(id).word(status).number(retryAfter).data(code).data(message)];
        }
        if (core === this.#core) this.#tellCore(answer[0], () => answer[1]);
    }

    async #look(core) {
        const { gateway, room } = this.#options;
        // 2: nobody has said.
        let [isWriting, isMuted] = [2, 2];
        try {
            const { writers, muted } = await gateway.json(`api/rooms/${encodeURIComponent(room)}`, { signal: this.#leaving.signal });
            [isWriting, isMuted] = [(writers ?? []).includes(this.author), (muted ?? []).includes(this.author)];
        } catch (error) {
            // A room that was closed has nobody muted.
            if (error.status === 404) isMuted = false;
        }
        if (core === this.#core) this.#tellCore("looked", () => new Input().word(isWriting).word(isMuted));
    }

    /** The page goes, and with it a stroke whose pen is down. */
    #leave() {
        const post = this.#core?.leave();
        if (post) this.#post(this.#core, post);
        this.#call(() => {});
    }

    #movePen(phase, event, flags, numbers) {
        const change = this.#core ? this.#call((core) => core.pen(phase, event, flags, numbers)) : undefined;
        return change ?? { isCancelled: phase > 1, hasBegun: false, hasEnded: false, first: null };
    }

    #began(stroke) {
        this.#gesture = stroke.isErasing ? null : this.gesture;
        if (this.#gesture) return this.#gesture.began(stroke);
        const { colour: c, width: l, element } = this.tool;
        if (element === Element.pointer && !stroke.isErasing) {
            this.#point(stroke.points.at(-1));
            this.#drawn = { stroke, message: null };
            return;
        }
        const { width: w, height: h } = this.board.size;
        this.#drawn = { stroke, message: { c, l, e: stroke.isErasing ? Element.eraser : element, w, h } };
        this.#showDrawn();
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

    /** Shows the stroke under the pen. */
    #showDrawn() {
        if (this.#drawn?.stroke.element !== undefined) this.#drawn.message.e = this.#drawn.stroke.element;
        if (this.#drawn?.message) this.#show();
        else if (this.#drawn) this.#point(this.#drawn.stroke.points.at(-1));
    }

    /** Shows the pointer under the hand. */
    #point(place) {
        clearTimeout(this.#hoverTimer);
        const { colour, width } = this.tool;
        this.#pointer ??= { author: this.author, colour, width };
        this.board.point(place, this.#pointer);
    }

    #lift() {
        clearTimeout(this.#hoverTimer);
        if (this.#pointer) this.board.point(null, this.#pointer);
        this.#pointer = null;
    }

    /** A mouse or a pen is above the board; `place` is null where it has left. */
    #hovered(event, numbers, place) {
        this.#movePen(4, event, 0, numbers);
        if (!place || !this.pen.isEnabled) return this.#lift();
        this.#point(place);
        this.#hoverTimer = setTimeout(() => this.#lift(), hoverRest);
    }

    #takeLive({ session, page, pages, entries }) {
        const before = this.#live;
        [this.#session, this.#page, this.#pages] = [session, page, pages];
        // The same object each time, so that the painter knows it.
        this.#live = new Map(entries.map(({ id, text }) => [id, before.get(id) ?? { message: JSON.parse(text) }]));
        this.board.view(page);
        this.#show();
    }

    #show() {
        const live = [...this.#live.values()];
        if (this.#drawn?.message) live.push({ message: { n: 0, ...this.#drawn.message, d: [...this.#drawn.stroke.points] } });
        this.board.showLive(live);
    }
}
