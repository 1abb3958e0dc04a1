/**
 * A recorded lesson on a canvas, in step with a recording of its video.
 *
 * @module
 */

import { t } from "./language.js";
import { BoardCanvas } from "./board-canvas.js";
import { CoreHost } from "./core.js";
import { Backoff, Gateway, GatewayError, now, readerName } from "./gateway.js";
import { ImageStore } from "./images.js";
import { AuthorNames } from "./names.js";
import { Painter, nextTask } from "./painter.js";
import { PointerLayer } from "./pointer-layer.js";
import { Kind, operationOf, pagesOf, pointersOf, visitsOf } from "./records.js";

/** Points of a lesson that are kept, about 50 bytes each; a lesson with fewer is fetched once. */
const mostPoints = 1_000_000;
/** Milliseconds between two looks at a player when nothing comes soon, and what soon is. */
const lookInterval = 100;
const soon = 200;
/** Milliseconds of a task in which a reply is added. */
const slice = 8;
/** A lesson of which nothing is known. */
const unknown = {
    index: 0, digest: "0".repeat(16), width: 1024, height: 768, page: 0, strokes: 0, flags: 0, epoch: NaN, from: NaN, to: NaN,
    wait: NaN, author: null,
};

/**
 * Shows a recorded lesson as it was at a player's time, forwards and backwards.
 *
 * ```js
 * import { PlayerClock, Replay } from "https://ink.example/lectern.js";
 * const replay = new Replay(canvas, { room: "physics", clock: new PlayerClock(video) });
 * ```
 *
 * A stroke whose points have times (`m`) grows with them. The board at any time is the one that the class had: the
 * operations that the player has passed, folded, and compared with the server's digests.
 *
 * Events, each with a `detail`; `connection`, `painted`, `ground`, `pages`, `page`, `pointers`, `size`, `progress` and `divergence` are those of `Board`:
 * - `index`: `{index, last, author, strokes, digest}`: what is shown, and how far the lesson goes;
 * - `operation`: `{operation}`: the player has passed it; not after a jump;
 * - `wet`: `{author, n, points}`: so many points of a growing stroke are shown;
 * - `lesson`: `{epochs, last, fetched}`: the lesson goes so far, and so many operations of it are here;
 * - `visits`: `{visits}`: when pages came to be shown, as far as the lesson was fetched.
 */
export class Replay extends EventTarget {
    #canvas;
    #options;
    #player;
    #onpicture = () => this.look();
    #host = new CoreHost();
    #painter;
    #images;
    #pointers;
    /** The pointers that are seen. */
    #seen = [];
    /** What the core said last, and what it says now and then. */
    #state = unknown;
    #lesson = { room: "", last: 0, fetched: 0, epochs: [] };
    #pages = { shown: 0, order: [0], hidden: [], papers: {} };
    #pagesTold = "";
    #visits = [];
    #names = new AuthorNames();
    #time = NaN;
    #timer = null;
    #frame = null;
    #isClosed = false;
    #isRefused = false;
    /** The request under way. */
    #request = null;
    #backoff = new Backoff();
    #retryAt = 0;
    #reader = readerName();

    /**
     * @param {HTMLCanvasElement} canvas as for `Board`
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {(() => number) | import("./player-clock.js").PlayerClock} options.clock the media time of the recording in milliseconds, on the time
     *   line of the lesson; NaN while unknown. A `PlayerClock` of a video follows its pictures
     * @param {string} [options.cohort] whose lesson it is: as far as it was released to it. `head`, for teachers: all of it
     * @param {number} [options.epoch] the encoder session whose time line that is; the last one unless said
     * @param {boolean} [options.grows] whether strokes grow; true. Otherwise they appear whole at their beginning
     * @param {number} [options.mostPoints] points of strokes that are kept, about 50 bytes each; 1,000,000
     * @param {import("./gateway.js").Gateway} [options.gateway] else one is made of `url` and `token`
     * @param {string} [options.url] as for {@link Gateway}
     * @param {string | (() => string | Promise<string>)} [options.token] as for {@link Gateway}
     */
    constructor(canvas, { gateway, url, token, ...options }) {
        super();
        this.gateway = gateway ?? new Gateway({ url, token });
        this.#options = { grows: true, mostPoints, ...options };
        // One that tells of pictures is looked at with each.
        this.#player = typeof options.clock === "function" ? null : options.clock;
        this.#player?.addEventListener("change", this.#onpicture);
        this.#images = new ImageStore(this.gateway, options.room, () => options.cohort);
        this.#host.add({ onready: () => this.#begin(), onfailure: (error) => this.#failed(error) });
        this.#painter = new Painter(canvas, this.#images, this.#host);
        this.#pointers = new PointerLayer(canvas);
        this.#painter.ontexts = (texts) => this.#tell("texts", { texts });
        this.#painter.onground = (isDark) => this.#tell("ground", { isDark });
        this.#painter.onprogress = () => this.#tell("progress", { part: this.#painter.progress });
        this.#canvas = new BoardCanvas(canvas, (size) => this.#tell("size", size), () => this.#resize());
        this.#canvas.shape(this.size);
        // After the caller has put its listeners on.
        queueMicrotask(() => {
            this.#tell("connection", { state: "connecting", reason: null, code: null, retryAt: null });
            this.look();
        });
    }

    /** The room's name. */
    get room() { return this.#options.room; }
    /** The room's incarnation; "" while it is not known. */
    get incarnation() { return this.#lesson.room; }
    /** The index of the last operation shown. */
    get index() { return this.#state.index; }
    /** The digest of what is shown, 16 hexadecimal digits. */
    get digest() { return this.#state.digest; }
    /** The board's size in its own units. */
    get size() { return { width: this.#state.width, height: this.#state.height }; }
    /** What an author is called, as far as the lesson was fetched. */
    nameOf(author) { return this.#names.of(author); }
    /** Draws the board. */
    get painter() { return this.#painter; }
    /** Whether the board is to be seen on a dark ground, as `Board.isDark`. */
    get isDark() { return this.#painter.isDark; }
    set isDark(isDark) { this.#painter.isDark = isDark; }
    /** The page that is shown. */
    get page() { return this.#state.page; }
    /**
     * Which pages there are: `{shown, order, hidden, papers}`; `papers` has `lines`, `squares`, `dots`, `staves` or `slide` for each
     * page that has one.
     */
    get pages() {
        const { shown, order, hidden, papers } = this.#pages;
        return { shown, order: [...order], hidden: [...hidden], papers: { ...papers } };
    }
    /**
     * When pages came to be shown, as far as the lesson was fetched: `{index, time, page}` of the operations after which they are, in
     * the order of the log. Times are media times in milliseconds, NaN where they are not known.
     */
    get visits() { return this.#visits.map((visit) => ({ ...visit })); }
    /** How many strokes are on the page that is shown. */
    get strokes() { return this.#state.strokes; }
    /** The last operation of the lesson, as far as it was released. */
    get last() { return this.#lesson.last; }
    /** The encoder sessions of the lesson: `{ep, first, last, from, to}` each. */
    get epochs() { return this.#lesson.epochs; }
    /** The encoder session on whose time line the player is; undefined while nothing was released. */
    get epoch() { return Number.isNaN(this.#state.epoch) ? this.#options.epoch : this.#state.epoch; }
    /** The media times at which the player's session begins and ends, NaN while they are not known. */
    get span() { return { from: this.#state.from, to: this.#state.to }; }
    /** Whether the board is that of the player's time: what it needs has been fetched. */
    get isThere() { return (this.#state.flags & 2) !== 0; }

    /** Changes to the time line of another encoder session. */
    setEpoch(epoch) {
        this.#options.epoch = epoch;
        this.#call((core) => core.replayEpoch(epoch, this.#time));
        this.look();
    }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        cancelAnimationFrame(this.#frame);
        clearTimeout(this.#timer);
        if (this.#isClosed) return;
        const time = this.#playerTime();
        const isRunning = time !== this.#time;
        this.#time = time;
        this.#call((core) => core.replayLook(time));
        this.#fetch();
        if (isRunning && this.#state.wait < soon) this.#frame = requestAnimationFrame(() => this.look());
        else this.#timer = setTimeout(() => this.look(), lookInterval);
    }

    /** Draws the pointers where the canvas is now, as that of `Board`. */
    showPointers() {
        this.#pointers.show(this.#seen, this.size);
    }

    /** Asks the server again at once, also after a refusal. */
    retry() {
        this.#isRefused = false;
        this.#retryAt = 0;
        this.look();
    }

    /** Ends it; the canvas keeps its picture. */
    close() {
        this.#isClosed = true;
        this.#request?.abort();
        this.#player?.removeEventListener("change", this.#onpicture);
        this.look();
        this.#canvas.close();
        this.#images.close();
        this.#pointers.close();
        this.#tell("connection", { state: "closed", reason: null, code: null, retryAt: null });
    }

    #playerTime() {
        try {
            return Number(this.#player ? this.#player.time : this.#options.clock());
        } catch {
            return NaN;
        }
    }

    // The core.

    /** There is an instance, the first or after one that failed: it fetches the lesson. */
    #begin() {
        if (this.#isClosed) return;
        const { grows, mostPoints, epoch } = this.#options;
        this.#call((core) => core.replayBegin(grows, mostPoints, epoch));
        this.#resize();
        this.look();
    }

    /** The instance is gone, and what it had. */
    #failed(error) {
        this.#request?.abort();
        this.#request = null;
        this.#state = { ...this.#state, flags: 0 };
        this.#seen = [];
        this.#pointers.close();
        this.#tell("divergence", { message: t("The core has failed: {reason}", { reason: error.message }) });
        this.gateway.observe(this.room, { cohort: this.#options.cohort, reader: this.#reader },
            { index: this.index, fault: String(error.message).slice(0, 200) });
    }

    #resize() {
        const { pixels } = this.#canvas;
        if (pixels > 0) this.#call((core) => core.replayResize(pixels));
    }

    #call(body) {
        const records = this.#isClosed ? undefined : this.#host.call(body);
        if (records) this.#take(records);
    }

    /** Tells what the core has done. */
    #take([state, ...records]) {
        const next = stateOf(state);
        const hasBoard = (next.flags & 1) !== 0;
        // The picture stays until the lesson is here, or here again.
        if (!hasBoard) [next.width, next.height] = [this.#state.width, this.#state.height];
        const { page } = this.#state;
        this.#state = next;
        if (next.page !== page) this.#tell("page", { page: next.page });
        this.#canvas.shape(this.size);
        if (hasBoard && this.#canvas.pixels > 0) this.#painter.show(records.some(({ kind }) => kind === Kind.painted));
        for (const record of records) this.#perform(record);
    }

    #perform(record) {
        switch (record.kind) {
            case Kind.lesson: {
                this.#lesson = lessonOf(record);
                const { epochs, last, fetched } = this.#lesson;
                this.#backoff.reset();
                this.#tell("connection", { state: "live", reason: null, code: null, retryAt: null });
                this.#tell("lesson", { epochs, last, fetched });
                break;
            }
            case Kind.operation: this.#tell("operation", { operation: operationOf(record) }); break;
            case Kind.index: {
                const [index, digest, author] = [record.float(), record.digest(), record.text() || null];
                this.#tell("index", { index, last: this.last, author, strokes: this.strokes, digest });
                break;
            }
            case Kind.pages: this.#turn(pagesOf(record)); break;
            case Kind.visits: {
                const visits = visitsOf(record);
                if (JSON.stringify(visits) === JSON.stringify(this.#visits)) break;
                this.#visits = visits;
                this.#tell("visits", { visits: this.visits });
                break;
            }
            case Kind.wet: {
                const [n, points, author] = [record.float(), record.word(), record.text()];
                this.#tell("wet", { author, n, points });
                break;
            }
            case Kind.named: this.#names.note(record.text(), { by: record.text() }); break;
            case Kind.restart:
                this.#tell("divergence", { message: record.text() });
                this.#lesson = { room: "", last: 0, fetched: 0, epochs: [] };
                this.#retryAt = now() + this.#backoff.next();
                break;
            case Kind.pointers: {
                this.#seen = pointersOf(record);
                this.showPointers();
                this.#tell("pointers", { pointers: this.#seen });
                break;
            }
            case Kind.painted: this.#tell("painted", {}); break;
            case Kind.image: this.#images.retry(record.text()); break;
        }
    }

    #turn(pages) {
        this.#pages = pages;
        const told = JSON.stringify(pages);
        if (told === this.#pagesTold) return;
        this.#pagesTold = told;
        this.#tell("pages", this.pages);
    }

    // The server.

    /** Asks for what is needed next, if anything is. */
    #fetch() {
        // What the player waits for comes before what was to be fetched ahead.
        if (!this.isThere && this.#request?.isAhead && Number.isFinite(this.#time)) {
            this.#request.abort();
            this.#request = null;
        }
        if (this.#request || this.#isRefused || now() < this.#retryAt) return;
        const query = this.#host.call((core) => core.replayRequest());
        if (query) this.#ask(query);
    }

    async #ask(query) {
        const request = new AbortController();
        request.isAhead = this.isThere;
        this.#request = request;
        const { room, cohort } = this.#options;
        let [reply, problem] = [null, null];
        try {
            const path = `api/rooms/${encodeURIComponent(room)}/replay`;
            const response = await this.gateway.request(path, { query: { ...query, cohort }, signal: request.signal });
            reply = new Uint8Array(await response.arrayBuffer());
        } catch (error) {
            problem = error instanceof GatewayError ? error : new GatewayError(0, "unreachable", t("The server's answer broke off."));
        }
        if (request.signal.aborted) return;
        if (reply) this.#receive(request, reply);
        else {
            this.#request = null;
            this.#fail(problem);
            this.look();
        }
    }

    /** Adds a reply, in as many tasks as it takes. */
    #receive(request, reply) {
        request.isAhead = false;
        this.#call((core) => core.replayReceive(reply));
        const add = () => {
            if (request !== this.#request) return;
            if ((this.#state.flags & 4) !== 0) {
                this.#call((core) => core.replayAdd(slice));
                return nextTask(add);
            }
            this.#request = null;
            this.look();
        };
        add();
    }

    #fail(error) {
        const { code, message: reason } = error;
        // The room has another life now.
        if (code === "unknown-index" && this.incarnation !== "") return this.#call((core) => core.replayRestart(reason));
        const isAbsent = code === "unknown-room" || code === "unknown-cohort";
        if (error.isTransient || isAbsent) {
            this.#retryAt = now() + this.#backoff.next(error.retryAfter);
            const state = isAbsent ? { state: "live", retryAt: null } : { state: "waiting", retryAt: this.#retryAt };
            return this.#tell("connection", { ...state, reason, code });
        }
        this.#isRefused = true;
        this.#tell("connection", { state: "refused", reason, code, retryAt: null });
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}

function stateOf(record) {
    return {
        index: record.float(), digest: record.digest(), width: record.float(), height: record.float(), page: record.word(),
        strokes: record.word(), flags: record.word(), epoch: record.float(), from: record.float(), to: record.float(),
        wait: record.float(), author: record.text() || null,
    };
}

function lessonOf(record) {
    const [room, last, fetched] = [record.text(), record.float(), record.word()];
    const time = (number) => (Number.isNaN(number) ? null : number);
    const epochs = Array.from({ length: record.word() }, () => ({
        ep: record.float(), first: record.float(), last: record.float(), from: time(record.float()), to: time(record.float()),
    }));
    return { room, last, fetched, epochs };
}
