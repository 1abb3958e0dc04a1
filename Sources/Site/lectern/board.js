/** The board of a room on a canvas, in step with a video. */

import { CoreBoard } from "./core-board.js";
import { EventStream } from "./events.js";
import { now } from "./gateway.js";
import { Input, Kind, operationOf, visitsOf } from "./records.js";

/** Milliseconds between two observations that are sent to the server. */
const observationInterval = 2000;
/** How long an operation waits for a player that runs, or tells nothing, in milliseconds. */
const longestHold = 30_000;
/** The events of a stream, as the core numbers them. */
const eventTypes = ["board", "op", "wet", "mark"];
/** The gates of the core's state. */
const gates = [null, "open", "video"];
const unknown = {
    index: 0, received: 0, digest: "0".repeat(16), width: 1024, height: 768, page: 0, shown: 0, strokes: 0, flags: 0, gate: 0,
    held: 0, lead: 0, wait: NaN, growth: NaN,
};

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
 * - `operation`: `{operation}`, as `{index, author, page, ref, late, digest, message}`: it is shown now, where its page is;
 * - `pages`: `{shown, order, hidden, papers}`: other pages, another order, another paper, or another page that is shown;
 * - `page`: `{page}`: another page is drawn;
 * - `visits`: `{visits}`: of another page it is known when it was begun;
 * - `wet`: `{author, n, points}`: so many points of a stroke being drawn are shown, above the board;
 * - `pointers`: `{pointers}`: other pointers are seen above the board, or at other places: each `{colour, width, trail, tip}`, places
 *   as `[x, y, opacity]` in board units; empty when none is seen any more;
 * - `painted`: the whole board is drawn anew, as after a join or in another size;
 * - `lag`: `{held, milliseconds}`: what waits for the player's clock, and how far it is ahead of it;
 * - `skew`: `{milliseconds}`: how long after the player's picture of it ink was drawn, where there is a clock: an operation, or
 *   new points of a stroke being drawn;
 * - `behind`: `{milliseconds}`: how far the cohort's video is ahead of the player;
 * - `incarnation`: `{room}`: the board was joined, or has its first operation: the room's incarnation, "" while nobody has written
 *   to it;
 * - `name`: `{author, name}`: an author's messages say what the author is called;
 * - `gate`: `{gate}`: `open`: the cohort has no video, and its ink is shown at once; `video`: ink waits for the video;
 * - `clock`: `{milliseconds}`: the media time of the cohort's video at the server, now and then; NaN where it has none;
 * - `covered`: `{author, session, covered, room}`, at the head: a stored checkpoint holds the author's operations so far;
 * - `texts`: `{texts}`: the texts of the page that is drawn, from the bottom to the top, are other ones;
 * - `ground`: `{isDark}`: the page has the colours of a dark board, or those of a light one again; see {@link Board.isDark};
 * - `image`: there is a picture of an image that was an empty frame, or a larger one;
 * - `size`: `{width, height}`: the board's size in its own units;
 * - `progress`: `{part}`: 0 … 1 while a large board is drawn;
 * - `divergence`: `{message}`: the board was not the room's; it is joined again by itself.
 */
export class Board extends CoreBoard {
    #stream = null;
    #incarnation = "";
    #palette = [];
    #style = "smooth";
    #features = [];
    /** The page that is drawn where it is not the shown one. */
    #viewed = null;
    #observedAt = 0;
    #frame = null;
    #holdTimer = null;
    #wetTimer = null;
    /** The session whose strokes the page draws itself while they are wet, and the one that the core knows. */
    #ownSession = () => null;
    #toldSession = "";
    #wasJoined = false;

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {string} [options.cohort] unless said the token's, else `main`; `head`, for teachers, is ahead of every video
     * @param {(() => number) | import("./player-clock.js").PlayerClock} [options.clock] the media time of this page's player in milliseconds, on the time
     *   line of the room's video; NaN while unknown. Without it the server's gate alone decides
     * @param {number} [options.maxHold] how long an operation waits for a clock that runs, or tells nothing: a safety net under a
     *   wrong time line; 30,000 ms
     * @param {import("./gateway.js").Gateway} [options.gateway] else one is made of `url` and `token`
     * @param {string} [options.url] as for {@link Gateway}
     * @param {string | (() => string | Promise<string>)} [options.token] as for {@link Gateway}
     * @param {boolean} [options.observe] whether to tell the server how far ink and picture are apart, where there is a clock;
     *   true
     */
    constructor(canvas, options) {
        super(canvas, { observe: true, maxHold: longestHold, ...options }, unknown);
        // After the caller has put its listeners on.
        queueMicrotask(() => {
            if (!this.#stream) this._tell("connection", { state: "connecting" });
        });
    }

    /** The cohort whose releases are shown; undefined where that is left to the server. */
    get cohort() { return this._options.cohort; }
    /** The room's incarnation; "" while nobody has written to it. */
    get incarnation() { return this.#incarnation; }
    /** Whether the board is there, and follows the room. */
    get isJoined() { return (this._state.flags & 1) !== 0; }
    /** Its colours, and its ink style. */
    get palette() { return this.#palette; }
    get style() { return this.#style; }
    /** `open`: the cohort has no video; `video`: it has; null while the room has not said. */
    get gate() { return gates[this._state.gate]; }
    /** The page that is drawn: the shown one, unless {@link view} has named another. */
    get page() { return this.#viewed ?? this._state.shown; }
    /** Whether a redo may find something on that page. */
    get hasUndone() { return (this._state.flags & 2) !== 0; }
    /** Whether an undo may find something there: a stroke, a removal, or a clear where the service lets clears be undone. */
    get canUndo() {
        return this.strokes > 0 || (this._state.flags & 8) !== 0 || (this.#features.includes("undoable-clear") && (this._state.flags & 4) !== 0);
    }
    /** What the service offers beyond strokes on one page, as the reply to a join tells it. */
    get features() { return [...this.#features]; }
    /**
     * Draws a page, whichever is shown; null for the shown one again.
     *
     * @param {number | null} page
     */
    view(page) {
        if (page === this.#viewed) return;
        this.#viewed = page;
        this._call((core) => core.ask("studentView", page ?? -1));
    }

    /**
     * Shows strokes, images and lassos above the room's and above those being drawn, as {@link Painter.showLive}.
     *
     * @param {import("./painter.js").Entry[]} strokes from the bottom to the top; a stroke that changes is a new object
     */
    showLive(strokes) {
        this._painter.showLive(strokes);
    }

    /** Names the session whose strokes the page itself shows while they are drawn; `session` is asked for each message. */
    hideSession(session) {
        this.#ownSession = session;
    }

    /**
     * Shows the pointer of the person at this board at once, above the page that is drawn.
     *
     * @param {{x: number, y: number} | null} place in board units; null when it is lifted
     * @param {{author: string, colour: number, width: number}} pointer who points, and colour and width as in messages. Pointers of
     *   this author that the room tells of later were seen here already
     */
    point(place, { author, colour, width }) {
        const input = new Input().word(!!place).number(place?.x ?? 0).number(place?.y ?? 0).word(colour).number(width).data(author);
        this._call((core) => core.ask("studentPoint", input));
    }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        this._call((core) => core.ask("studentLook", this._time));
    }

    /** Shows another cohort, from its beginning: its video is earlier or later. */
    setCohort(cohort) {
        if (cohort === this.cohort) return;
        this._options.cohort = cohort;
        if (this._host.core) this.#follow();
    }

    /** Connects at once if it waits to do so. */
    retry() {
        this.#stream?.retry();
    }

    /** Ends the connection; the canvas keeps its picture. */
    close() {
        this.#stream?.close();
        this._close();
        this.#rest();
    }

    // The core.

    /** There is an instance, the first or after one that failed. */
    _begin() {
        this.#toldSession = "";
        this.#follow();
        this._call((core) => core.ask("studentView", this.#viewed ?? -1));
        this._resize();
    }

    /** Begins with the room's board in the cohort. */
    #follow() {
        const { clock, maxHold } = this._options;
        this._call((core) => core.ask("studentBegin", !!clock, this.cohort === "head", maxHold));
        this.#connect();
    }

    _failed(error, wait) {
        this.#rest();
        // The next instance opens another one.
        this.#stream?.close();
        this.#stream = null;
        this._state = { ...this._state, held: 0 };
        super._failed(error, wait);
    }

    #rest() {
        clearTimeout(this.#holdTimer);
        clearTimeout(this.#wetTimer);
        cancelAnimationFrame(this.#frame);
        this.#frame = null;
    }

    get _resizing() { return "studentResize"; }

    /** Tells what the core has done. */
    _take([state, ...records]) {
        const before = this._state;
        this._state = stateOf(state);
        this._canvas.shape(this.size);
        // What is above another page is told anew.
        if (this._state.page !== before.page) {
            this._painter.showLive([]);
            this._tell("page", { page: this._state.page });
        }
        // The picture of a board that is joined anew stays until then.
        this.#wasJoined ||= this.isJoined;
        if (this._canvas.pixels > 0 && (this.isJoined || !this.#wasJoined)) {
            this._painter.show(records.some(({ kind }) => kind === Kind.painted));
        }
        // What a join tells comes first: the colours are there when the board is painted.
        for (const isJoin of [true, false]) {
            for (const record of records) if ((record.kind === Kind.joined) === isJoin) this._perform(record);
        }
        if (this._state.held !== before.held) this._tell("lag", { held: this._state.held, milliseconds: this._state.lead });
        this.#schedule();
    }

    _perform(record) {
        switch (record.kind) {
            case Kind.joined:
                [this.#incarnation, this.#style] = [record.text(), record.text()];
                this.#palette = record.list(() => record.colour());
                this.#features = record.list(() => record.text());
                break;
            case Kind.incarnation:
                this.#incarnation = record.text();
                this._tell("incarnation", { room: this.#incarnation });
                break;
            case Kind.operation: {
                const operation = operationOf(record);
                this.#visit(operation);
                this._tell("operation", { operation });
                break;
            }
            case Kind.visits:
                this._visits = visitsOf(record).sort((one, other) => one.index - other.index);
                this._tell("visits", { visits: this.visits });
                break;
            case Kind.index: {
                const [index, digest, author] = [record.number(), record.digest(), record.text() || null];
                this._tell("index", { index, received: this._state.received, author, strokes: this.strokes, digest });
                break;
            }
            case Kind.named: {
                const author = this._noteName(record);
                this._tell("name", { author, name: this.nameOf(author) });
                break;
            }
            case Kind.skew: this.#observe(record.number(), record.word() === 1); break;
            case Kind.gate: this._tell("gate", { gate: gates[record.word()] }); break;
            case Kind.clock: {
                const video = record.number();
                this._tell("clock", { milliseconds: video });
                const behind = video - this._time;
                if (Number.isFinite(behind)) this._tell("behind", { milliseconds: behind });
                break;
            }
            case Kind.covered: {
                const [covered, author, session, room] = [record.number(), record.text(), record.text(), record.text()];
                this._tell("covered", { author, session: session || undefined, covered, room });
                break;
            }
            case Kind.restart:
                this._tell("divergence", { message: record.text() });
                this.#stream?.restart();
                break;
            default: super._perform(record);
        }
    }

    /** A page that nothing was known of is drawn on, or turned to. */
    #visit(operation) {
        const { index, page } = operation;
        if (this._visits.some((visit) => visit.page === page)) return;
        const { message } = operation;
        if (![undefined, 1, 5].includes(message.a)) return;
        this._visits.push({ index, time: message.t ?? NaN, page });
        this._tell("visits", { visits: this.visits });
    }

    /** Looks again when something is due: strokes being drawn before a frame, the rest also while nobody sees the page. */
    #schedule() {
        const { wait, growth } = this._state;
        clearTimeout(this.#holdTimer);
        if (wait >= 0) this.#holdTimer = setTimeout(() => this.look(), wait);
        clearTimeout(this.#wetTimer);
        if (growth > 0) this.#wetTimer = setTimeout(() => this.#lookAtWet(), growth);
        else if (growth === 0) this.#lookAtWet();
    }

    #lookAtWet() {
        this.#frame ??= requestAnimationFrame(() => {
            this.#frame = null;
            this._call((core) => core.ask("studentGrow", this._time));
        });
    }

    // The server.

    #connect() {
        this.#stream?.close();
        const stream = new EventStream(this.gateway, `api/rooms/${encodeURIComponent(this.room)}/events`, {
            query: { cohort: this.cohort },
            onevent: (event) => {
                if (stream === this.#stream) this.#receive(event);
            },
            onstate: (state) => {
                if (stream === this.#stream) this._tell("connection", state);
            },
        });
        this.#stream = stream;
    }

    #receive({ type, data }) {
        if (type === "wet") {
            const session = this.#ownSession() ?? "";
            if (session !== this.#toldSession) {
                const name = new Input().raw(session);
                this._host.call((core) => core.call("studentOwnSession", name));
            }
            this.#toldSession = session;
        }
        this._call((core) => core.ask("studentReceive", eventTypes.indexOf(type), { bytes: data }, this._time));
    }

    /** Ink is drawn: how far it is from its picture is told to the page, and now and then to the server. */
    #observe(skew, isCounted) {
        this._tell("skew", { milliseconds: skew });
        // What the player has jumped over is not late, and nobody sees a hidden page.
        if (!this._options.observe || !isCounted || document.hidden) return;
        if (now() - this.#observedAt < observationInterval) return;
        this.#observedAt = now();
        this._report({ v: this._time, index: this.index, skew });
    }
}

function stateOf(record) {
    return {
        index: record.number(), received: record.number(), digest: record.digest(), width: record.number(), height: record.number(),
        page: record.word(), shown: record.word(), strokes: record.word(), flags: record.word(), gate: record.word(),
        held: record.word(), lead: record.number(), wait: record.number(), growth: record.number(),
    };
}
