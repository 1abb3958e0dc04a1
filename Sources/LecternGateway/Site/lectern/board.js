/**
 * The board of a room on a canvas, in step with a video.
 *
 * @module
 */

import { BoardCanvas } from "./board-canvas.js";
import { EventStream } from "./events.js";
import { Gateway, now } from "./gateway.js";
import { HoldQueue } from "./hold.js";
import { ImageStore } from "./images.js";
import { Action, BoardModel, Divergence, Element } from "./model.js";
import { Painter } from "./painter.js";
import { WetInk, endOf } from "./wet.js";

/** Milliseconds between two observations that are sent to the server. */
const observationInterval = 2000;
/** Milliseconds between two looks at strokes being drawn when nothing comes, and operations that wait that are looked at. */
const wetInterval = 1000;
const mostGrowing = 64;
/** A player that goes on faster than this, or farther than so many milliseconds at once, has jumped. */
const fastestPlay = 2;
const jumpTolerance = 250;
/** Milliseconds that a picture may be shown until the player counts as standing. */
const longestPicture = 1000;

/**
 * Shows a room's board on a canvas and keeps it so: joins, resumes, checks digests, draws, scales.
 *
 * The canvas keeps the shape of the board: give it a width by a style sheet, and no height. Paint nothing on it; what is
 * under the ink is its CSS background.
 *
 * ```js
 * import { Board } from "https://ink.example/lectern.js";
 * const board = new Board(canvas, { room: "physics", cohort: "hls", clock: () => video.currentTime * 1000 });
 * board.addEventListener("connection", ({ detail }) => { status.textContent = detail.state; });
 * ```
 *
 * Events, each with a `detail`:
 * - `connection`: `{state, reason, code, retryAt}`, see `ConnectionState` in events.js;
 * - `index`: `{index, received, author, strokes, digest}`: what is shown, and up to where the server has sent; `strokes`: on
 *   the page that is drawn, `digest`: of all pages;
 * - `operation`: `{operation}`, as `BoardModel.apply` takes it: it is shown now, where its page is;
 * - `pages`: `{shown, order, hidden}`: other pages, another order, or another page that is shown;
 * - `wet`: `{author, n, points}`: so many points of a stroke being drawn are shown, above the board;
 * - `painted`: the whole board is drawn anew, as after a join or in another size;
 * - `lag`: `{held, milliseconds}`: what waits for the player's clock, and how far it is ahead of it;
 * - `skew`: `{milliseconds}`: how long after the player's picture of it ink was drawn, where there is a clock: an operation, or
 *   new points of a stroke being drawn;
 * - `behind`: `{milliseconds}`: how far the cohort's video is ahead of the player;
 * - `incarnation`: `{room}`: the board was joined, or has its first operation: the room's incarnation, "" while nobody has written
 *   to it;
 * - `gate`: `{gate}`: `open`: the cohort has no video, and its ink is shown at once; `video`: ink waits for the video;
 * - `clock`: `{milliseconds}`: the media time of the cohort's video at the server, now and then; NaN where it has none;
 * - `covered`: `{author, session, covered, room}`, at the head: a stored checkpoint holds the author's operations so far;
 * - `image`: there is a picture of an image that was an empty frame, or a larger one;
 * - `size`: `{width, height}`: the board's size in its own units;
 * - `progress`: `{part}`: 0 … 1 while a large board is drawn;
 * - `divergence`: `{message}`: the board was not the room's; it is joined again by itself.
 */
export class Board extends EventTarget {
    #canvas;
    #options;
    #model = new BoardModel();
    #painter;
    #images;
    #stream = null;
    #held;
    /** Strokes of the joined board that the player has not reached yet. */
    #veil;
    #veiled = new Set();
    #incarnation = "";
    #received = 0;
    #isJoined = false;
    #observedAt = 0;
    /** A name for the server, which tells by it how many report; it says nothing else. */
    #reader = `r${Math.random().toString(36).slice(2)}`;
    /** From where the player has played on: what lies before, it has jumped over. NaN while that is not known. */
    #playedFrom = NaN;
    #played = { time: NaN, at: 0 };
    /** Strokes that are being drawn, and those above the room's that the page shows itself. */
    #wet = new WetInk();
    #live = [];
    /** The page that is drawn where it is not the shown one, and what was told of the pages. */
    #viewed = null;
    #pagesTold = "";
    /** Whether strokes grow in this cohort: they are due when the player has reached their end, not their beginning. */
    #isProgressive = false;
    #gate = null;
    #frame = null;
    #wetTimer = null;
    /** The session whose strokes the page draws itself while they are wet. */
    #ownSession = () => null;
    #player = null;
    #onpicture = () => this.look();

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {string} [options.cohort] unless said the token's, else `main`; `head`, for teachers, is ahead of every video
     * @param {(() => number) | PlayerClock} [options.clock] the media time of this page's player in milliseconds, on the time
     *   line of the room's video; NaN while unknown. Without it the server's gate alone decides
     * @param {number} [options.maxHold] see {@link HoldQueue}; 30,000 ms
     * @param {Gateway} [options.gateway] or `url` and `token` as for {@link Gateway}
     * @param {boolean} [options.observe] whether to tell the server how far ink and picture are apart, where there is a clock;
     *   true
     */
    constructor(canvas, { gateway, url, token, ...options }) {
        super();
        this.gateway = gateway ?? new Gateway({ url, token });
        this.#options = { observe: true, ...options, clock: this.#follow(options.clock) };
        this.#images = new ImageStore(this.gateway, options.room, () => this.cohort);
        this.#painter = new Painter(canvas, this.#images);
        this.#painter.onimage = () => this.#tell("image", {});
        this.#painter.onprogress = () => this.#tell("progress", { part: this.#painter.progress });
        const tellLag = () => this.#tellLag();
        this.#held = new HoldQueue(this.#options.clock, (operation) => this.#apply(operation), tellLag);
        this.#veil = new HoldQueue(this.#options.clock, (stroke) => this.#unveil(stroke), tellLag);
        if (options.maxHold !== undefined) this.#held.maxHold = this.#veil.maxHold = options.maxHold;
        this.#canvas = new BoardCanvas(canvas, (size) => this.#tell("size", size), () => this.#paint());
        this.#canvas.shape(this.size);
        this.#connect();
    }

    /** The room's name. */
    get room() { return this.#options.room; }
    /** The cohort whose releases are shown; undefined where that is left to the server. */
    get cohort() { return this.#options.cohort; }
    /** The index of the last operation shown. */
    get index() { return this.#model.index; }
    /** The digest of what is shown, 16 hexadecimal digits. */
    get digest() { return this.#model.digest; }
    /** The room's incarnation; "" while nobody has written to it. */
    get incarnation() { return this.#incarnation; }
    /** Whether the board is there, and follows the room. */
    get isJoined() { return this.#isJoined; }
    /** The board's size in its own units, its colours, and its ink style. */
    get size() { return { width: this.#model.width, height: this.#model.height }; }
    get palette() { return this.#model.palette; }
    get style() { return this.#model.style; }
    /** `open`: the cohort has no video; `video`: it has; null while the room has not said. */
    get gate() { return this.#gate; }
    /** The page that is drawn: the shown one, unless {@link view} has named another. */
    get page() { return this.#viewed ?? this.#model.pages.shown; }
    /** Which pages there are: `{shown, order, hidden}`. */
    get pages() {
        const { shown, order, hidden } = this.#model.pages;
        return { shown, order: [...order], hidden: [...hidden] };
    }
    /** How many strokes are on the page that is drawn. */
    get strokes() { return this.#model.countOn(this.page); }
    /** Whether a redo may find something on that page. */
    get hasUndone() { return this.#model.undoneOn(this.page) > 0; }
    /** Whether an undo may find something there: a stroke, or a clear where the service lets clears be undone. */
    get canUndo() {
        return this.strokes > 0 || (this.features.includes("undoable-clear") && this.#model.isClearedOn(this.page));
    }
    /** What the service offers beyond strokes on one page, as the reply to a join tells it. */
    get features() { return [...this.#model.features]; }
    /** What an author is called, as far as this board knows. */
    nameOf(author) { return this.#model.names.of(author); }
    /** Draws the board; for strokes that the room does not have yet. */
    get painter() { return this.#painter; }

    /**
     * Draws a page, whichever is shown; null for the shown one again.
     *
     * @param {number | null} page
     */
    view(page) {
        const before = this.page;
        this.#viewed = page;
        if (this.page === before) return;
        this.#paintPage();
        this.#tellIndex();
    }

    /**
     * Shows strokes, images and lassos above the room's and above those being drawn, as {@link Painter.showLive}.
     *
     * @param {Stroke[]} strokes from the bottom to the top; a stroke that changes is a new object
     */
    showLive(strokes) {
        this.#live = strokes;
        this.#painter.showLive(this.#above());
    }

    /** What is above the room's strokes: lassos of the page, which take what is below them, then wet strokes, then the rest. */
    #above() {
        const end = this.#live.findLastIndex(({ message }) => message.e === Element.lasso) + 1;
        return [...this.#live.slice(0, end), ...this.#wet.drawnOn(this.page), ...this.#live.slice(end)];
    }

    /** Names the session whose strokes the page itself shows while they are drawn; `session` is asked for each message. */
    hideSession(session) {
        this.#ownSession = session;
    }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        this.#followPlayer();
        this.#held.look();
        this.#veil.look();
        this.#lookAtWet();
    }

    /** Shows another cohort, from its beginning: its video is earlier or later. */
    setCohort(cohort) {
        if (cohort === this.cohort) return;
        this.#options.cohort = cohort;
        this.#isProgressive = false;
        this.#forget();
        this.#showWet();
        this.#connect();
    }

    /** Connects at once if it waits to do so. */
    retry() {
        this.#stream.retry();
    }

    /** Ends the connection; the canvas keeps its picture. */
    close() {
        this.#stream.close();
        this.#canvas.close();
        this.#images.close();
        this.#held.clear();
        this.#veil.clear();
        this.#wet.clear();
        clearTimeout(this.#wetTimer);
        this.#player?.removeEventListener("change", this.#onpicture);
    }

    /** The clock as a function; one that tells of pictures is looked at with each. */
    #follow(clock) {
        if (!clock || typeof clock === "function") return clock ?? null;
        this.#player = clock;
        clock.addEventListener("change", this.#onpicture);
        return () => clock.time;
    }

    #connect() {
        this.#stream?.close();
        const stream = new EventStream(this.gateway, `api/rooms/${encodeURIComponent(this.room)}/events`, {
            query: { cohort: this.cohort },
            onevent: (event) => {
                if (stream === this.#stream) this.#receive(event);
            },
            onstate: (state) => {
                if (stream === this.#stream || !this.#stream) this.#tell("connection", state);
            },
        });
        this.#stream = stream;
    }

    #receive({ type, data }) {
        let body;
        try {
            body = JSON.parse(data);
        } catch {
            return this.#rejoin("an event is no JSON");
        }
        if (type === "board") this.#join(body);
        else if (type === "op") this.#take(body);
        else if (type === "wet") this.#takeWet(body);
        else if (type === "mark") this.#compare(body);
    }

    #join(reply) {
        this.#forget();
        try {
            this.#model.join(reply);
        } catch (error) {
            return this.#rejoin(error.message);
        }
        this.#incarnation = reply.room;
        this.#received = reply.index;
        this.#isJoined = true;
        [this.#playedFrom, this.#played] = [NaN, { time: NaN, at: 0 }];
        this.#followPlayer();
        if (this.#options.clock) {
            const time = this.#held.time;
            const { order, hidden } = this.#model.pages;
            for (const stroke of [...order, ...hidden].flatMap((page) => this.#model.strokesOn(page))) {
                const due = this.#isProgressive && stroke.time !== undefined ? endOf(stroke.message) : stroke.time;
                if (due === undefined || due < time) continue;
                this.#veiled.add(stroke);
                this.#veil.add(stroke, due);
            }
        }
        this.#canvas.shape(this.size);
        this.#paint();
        this.#tell("incarnation", { room: this.#incarnation });
        this.#tellPages();
        this.#tellIndex();
    }

    #take(operation) {
        if (!this.#isJoined || operation.index <= this.#received) return;
        if (operation.index !== this.#received + 1) return this.#rejoin("an operation is missing");
        this.#received = operation.index;
        this.#followPlayer();
        this.#held.add(operation, this.#dueTime(operation.message), operation.late === true);
        if (this.#options.clock && this.#isProgressive) this.#lookAtWet();
    }

    /** When the player has reached an operation; where strokes grow, their end. */
    #dueTime(message) {
        if (this.#isProgressive && (message.a ?? Action.draw) <= Action.draw) return endOf(message);
        return message.t === undefined ? undefined : Math.trunc(message.t);
    }

    #apply(operation) {
        const before = this.page;
        let change;
        try {
            change = this.#model.apply(operation);
        } catch (error) {
            if (!(error instanceof Divergence)) throw error;
            return this.#rejoin(error.message);
        }
        for (const stroke of change.hidden) this.#veiled.delete(stroke);
        // The operation takes the place of its wet stroke before the next frame.
        const wasWet = this.#wet.settle(operation.author, operation.message.n);
        if (change.isResized) {
            this.#canvas.shape(this.size);
            this.#paint();
        } else if (this.page !== before) this.#paintPage();
        else if (change.page === this.page) this.#painter.change(change.shown, change.hidden);
        if (wasWet) this.#showWet();
        this.#tell("operation", { operation });
        this.#tellPages();
        this.#tellIndex();
        // One that was released late was not late for this player alone.
        if (!operation.late) this.#observe(this.#dueTime(operation.message));
    }

    #unveil(stroke) {
        if (this.#veiled.delete(stroke) && stroke.page === this.page) this.#painter.change([stroke], []);
    }

    /** Takes points of a stroke being drawn. */
    #takeWet(release) {
        if (!this.#isJoined || release.index <= this.#received) return;
        if (release.session !== undefined && release.session === this.#ownSession()) return;
        const isHead = this.cohort === "head";
        if (!isHead) this.#isProgressive = true;
        if (this.#wet.take(release, isHead)) this.#showWet();
        this.#lookAtWet();
    }

    /** Looks at strokes being drawn with the next frame. */
    #lookAtWet() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this.#growWet();
        });
    }

    #growWet() {
        clearTimeout(this.#wetTimer);
        const isExpired = this.#wet.expire();
        const { clock } = this.#options;
        const time = clock ? this.#held.time : Infinity;
        // As the server does it: nothing grows behind an operation of its author, or one that is no stroke.
        const authors = new Set();
        let hasBarrier = false;
        for (const operation of clock && this.#isProgressive ? this.#held.first(mostGrowing) : []) {
            const { author, message, late } = operation;
            hasBarrier = (message.a ?? Action.draw) > Action.draw;
            if (hasBarrier) break;
            if (authors.has(author)) continue;
            authors.add(author);
            if (!late && message.t < time) this.#wet.complete(operation);
        }
        const isHeldBack = ({ author, isComplete }) => !isComplete && (hasBarrier || authors.has(author));
        const { isChanged, wait: next } = this.#wet.grow(time, isHeldBack, this.page, ({ author, n }, points, due) => {
            this.#tell("wet", { author, n, points });
            this.#observe(due);
        });
        if (isExpired || isChanged) this.#showWet();
        if (this.#wet.isEmpty && !(this.#isProgressive && this.#held.length > 0)) return;
        const wait = Number.isFinite(next) ? Math.min(Math.max(next, 0), 100) : clock ? 100 : wetInterval;
        this.#wetTimer = setTimeout(() => this.#lookAtWet(), wait);
    }

    #showWet() {
        this.#painter.showLive(this.#above());
    }

    /** Compares with a mark: the server's word on where the cohort stands. */
    #compare(mark) {
        this.#followPlayer();
        if (mark.author !== undefined) this.#tell("covered", mark);
        if (this.#incarnation === "" && mark.room !== "") {
            this.#incarnation = mark.room;
            this.#tell("incarnation", { room: mark.room });
        }
        if (mark.gate !== undefined && mark.gate !== this.#gate) {
            this.#gate = mark.gate;
            this.#tell("gate", { gate: mark.gate });
        }
        const isSame = this.#isJoined && mark.room === this.#incarnation && mark.index === this.index;
        if (isSame && mark.digest !== undefined && mark.digest !== this.digest) {
            return this.#rejoin("the digest of a mark is another");
        }
        this.#tell("clock", { milliseconds: typeof mark.v === "number" ? mark.v : NaN });
        const behind = typeof mark.v === "number" ? mark.v - this.#held.time : NaN;
        if (Number.isFinite(behind)) this.#tell("behind", { milliseconds: behind });
    }

    #rejoin(message) {
        this.#tell("divergence", { message });
        this.#isJoined = false;
        this.#held.clear();
        this.#stream.restart();
    }

    #forget() {
        this.#held.clear();
        this.#veil.clear();
        this.#veiled.clear();
        this.#wet.clear();
        this.#isJoined = false;
    }

    #paint() {
        if (this.#canvas.pixels === 0) return;
        const { width, height, style, palette } = this.#model;
        const strokes = this.#model.strokesOn(this.page).filter((stroke) => !this.#veiled.has(stroke));
        // What is wet no longer must not be on the new picture.
        this.#showWet();
        this.#painter.reset(strokes, { style, palette, width, height, pixels: this.#canvas.pixels });
        this.#tell("painted", {});
    }

    /** Draws another page than before. What is shown above the board is told anew by the page. */
    #paintPage() {
        this.#live = [];
        this.#paint();
        this.#lookAtWet();
    }

    /** Ink is drawn: how far it is from its picture is told to the page, and now and then to the server. */
    #observe(due) {
        const time = this.#followPlayer();
        const skew = time - due;
        if (!Number.isFinite(skew)) return;
        this.#tell("skew", { milliseconds: skew });
        // What the player has jumped over is not late, and nobody sees a hidden page.
        if (!this.#options.observe || due < this.#playedFrom || document.hidden) return;
        if (now() - this.#observedAt < observationInterval) return;
        this.#observedAt = now();
        const body = JSON.stringify({ v: time, index: this.index, skew }) + "\n";
        const path = `api/rooms/${encodeURIComponent(this.room)}/observations`;
        const headers = { "Content-Type": "application/x-ndjson" };
        // Telemetry: nothing depends on it.
        this.gateway.request(path, { method: "POST", query: { cohort: this.cohort, reader: this.#reader }, headers, body }).catch(() => {});
    }

    /** Notes where the player has jumped to, and returns its time. */
    #followPlayer() {
        const last = this.#played;
        const [time, at] = [this.#held.time, now()];
        if (time === last.time) {
            // Between two pictures, or it stands.
            last.at = Math.max(last.at, at - longestPicture);
        } else if (Number.isFinite(time)) {
            const hasJumped = time - last.time > fastestPlay * (at - last.at) + jumpTolerance;
            if (hasJumped || !(this.#playedFrom <= time)) this.#playedFrom = time;
            this.#played = { time, at };
        }
        return time;
    }

    #tellLag() {
        const held = this.#held.length + this.#veiled.size;
        this.#tell("lag", { held, milliseconds: Math.max(this.#held.ahead, this.#veil.ahead) });
    }

    #tellIndex() {
        const { index, author, digest } = this.#model;
        this.#tell("index", { index, received: this.#received, author, strokes: this.strokes, digest });
    }

    #tellPages() {
        if (this.#model.pages.key === this.#pagesTold) return;
        this.#pagesTold = this.#model.pages.key;
        this.#tell("pages", this.pages);
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
