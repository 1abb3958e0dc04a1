/** A recorded lesson on a canvas, in step with a recording of its video. */

import { t } from "./language.js";
import { CoreBoard } from "./core-board.js";
import { Backoff, GatewayError, now } from "./gateway.js";
import { nextTask } from "./dom.js";
import { Input, Kind, operationOf, visitsOf } from "./records.js";

/** Points of a lesson that are kept, about 50 bytes each; a lesson with fewer is fetched once. */
const mostPoints = 1_000_000;
/** Milliseconds between two looks at a player when nothing comes soon, and what soon is. */
const lookInterval = 100;
const soon = 200;
/** Milliseconds of a task in which a reply is added. */
const slice = 8;
const unknown = {
    index: 0, digest: "0".repeat(16), width: 1024, height: 768, page: 0, strokes: 0, flags: 0, epoch: NaN, from: NaN, to: NaN,
    wait: NaN,
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
export class Replay extends CoreBoard {
    #lesson = { room: "", last: 0, fetched: 0, epochs: [] };
    /** The player's time at the last look. */
    #looked = NaN;
    #timer = null;
    #frame = null;
    #isRefused = false;
    #request = null;
    #backoff = new Backoff();
    #retryAt = 0;

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
    constructor(canvas, options) {
        super(canvas, { grows: true, mostPoints, ...options }, unknown);
        // After the caller has put its listeners on.
        queueMicrotask(() => {
            this.#tellConnection("connecting");
            this.look();
        });
    }

    /** The room's incarnation; "" while it is not known. */
    get incarnation() { return this.#lesson.room; }
    /** The page that is shown. */
    get page() { return this._state.page; }
    /** The last operation of the lesson, as far as it was released. */
    get last() { return this.#lesson.last; }
    /** The encoder sessions of the lesson: `{ep, first, last, from, to}` each. */
    get epochs() { return this.#lesson.epochs; }
    /** The encoder session on whose time line the player is; undefined while nothing was released. */
    get epoch() { return Number.isNaN(this._state.epoch) ? this._options.epoch : this._state.epoch; }
    /** The media times at which the player's session begins and ends, NaN while they are not known. */
    get span() { return { from: this._state.from, to: this._state.to }; }
    /** Whether the board is that of the player's time: what it needs has been fetched. */
    get isThere() { return (this._state.flags & 2) !== 0; }

    /** Changes to the time line of another encoder session. */
    setEpoch(epoch) {
        this._options.epoch = epoch;
        this._call((core) => core.ask("replayEpoch", epoch, this.#looked));
        this.look();
    }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        cancelAnimationFrame(this.#frame);
        clearTimeout(this.#timer);
        if (this._isClosed) return;
        const time = this._time;
        const isRunning = time !== this.#looked;
        this.#looked = time;
        this._call((core) => core.ask("replayLook", time));
        this.#fetch();
        if (isRunning && this._state.wait < soon) this.#frame = requestAnimationFrame(() => this.look());
        else this.#timer = setTimeout(() => this.look(), lookInterval);
    }

    /** Asks the server again at once, also after a refusal. */
    retry() {
        this.#isRefused = false;
        this.#retryAt = 0;
        this.look();
    }

    /** Ends it; the canvas keeps its picture. */
    close() {
        this.#request?.abort();
        this._close();
        this.look();
        this.#tellConnection("closed");
    }

    // The core.

    /** There is an instance, the first or after one that failed: it fetches the lesson. */
    _begin() {
        const { grows, mostPoints, epoch } = this._options;
        this._call((core) => core.ask("replayBegin", !!grows, mostPoints, epoch));
        this._resize();
        this.look();
    }

    _failed(error, wait) {
        this.#request?.abort();
        this.#request = null;
        super._failed(error, wait);
    }

    get _resizing() { return "replayResize"; }

    /** Tells what the core has done. */
    _take([state, ...records]) {
        const next = stateOf(state);
        const hasBoard = (next.flags & 1) !== 0;
        // The picture stays until the lesson is here, or here again.
        if (!hasBoard) [next.width, next.height] = [this._state.width, this._state.height];
        const { page } = this._state;
        this._state = next;
        if (next.page !== page) this._tell("page", { page: next.page });
        this._canvas.shape(this.size);
        if (hasBoard && this._canvas.pixels > 0) this._painter.show(records.some(({ kind }) => kind === Kind.painted));
        for (const record of records) this._perform(record);
    }

    _perform(record) {
        switch (record.kind) {
            case Kind.lesson: {
                this.#lesson = lessonOf(record);
                const { epochs, last, fetched } = this.#lesson;
                this.#backoff.reset();
                this.#tellConnection("live");
                this._tell("lesson", { epochs, last, fetched });
                break;
            }
            case Kind.operation: this._tell("operation", { operation: operationOf(record) }); break;
            case Kind.index: {
                const [index, digest, author] = [record.number(), record.digest(), record.text() || null];
                this._tell("index", { index, last: this.last, author, strokes: this.strokes, digest });
                break;
            }
            case Kind.visits: {
                const visits = visitsOf(record);
                if (JSON.stringify(visits) === JSON.stringify(this._visits)) break;
                this._visits = visits;
                this._tell("visits", { visits: this.visits });
                break;
            }
            case Kind.named: this._noteName(record); break;
            case Kind.restart:
                this._tell("divergence", { message: record.text() });
                this.#lesson = { room: "", last: 0, fetched: 0, epochs: [] };
                this.#retryAt = now() + this.#backoff.next();
                break;
            default: super._perform(record);
        }
    }

    // The server.

    /** Asks for what is needed next, if anything is. */
    #fetch() {
        // What the player waits for comes before what was to be fetched ahead.
        if (!this.isThere && this.#request?.isAhead && Number.isFinite(this.#looked)) {
            this.#request.abort();
            this.#request = null;
        }
        if (this.#request || this.#isRefused || now() < this.#retryAt) return;
        const [wanted] = this._host.call((core) => core.ask("replayRequest")) ?? [];
        if (!wanted) return;
        const [from, after, limit, ep] = wanted.times(4, () => wanted.number());
        // What is not wanted is NaN, or no text.
        const query = Object.entries({ from, after, limit, ep, room: wanted.text() });
        this.#ask(Object.fromEntries(query.filter(([, value]) => value !== "" && !Number.isNaN(value))));
    }

    async #ask(query) {
        const request = new AbortController();
        request.isAhead = this.isThere;
        this.#request = request;
        const { room, cohort } = this._options;
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
        this._call((core) => core.ask("replayReceive", { bytes: reply }));
        const add = () => {
            if (request !== this.#request) return;
            if ((this._state.flags & 4) !== 0) {
                this._call((core) => core.ask("replayAdd", slice));
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
        if (code === "unknown-index" && this.incarnation !== "") return this._call((core) => core.ask("replayRestart", new Input().raw(reason)));
        const isAbsent = code === "unknown-room" || code === "unknown-cohort";
        this.#isRefused = !error.isTransient && !isAbsent;
        if (this.#isRefused) return this.#tellConnection("refused", { reason, code });
        this.#retryAt = now() + this.#backoff.next(error.retryAfter);
        this.#tellConnection(isAbsent ? "live" : "waiting", { reason, code, retryAt: isAbsent ? null : this.#retryAt });
    }

    #tellConnection(state, { reason = null, code = null, retryAt = null } = {}) {
        this._tell("connection", { state, reason, code, retryAt });
    }
}

function stateOf(record) {
    return {
        index: record.number(), digest: record.digest(), width: record.number(), height: record.number(), page: record.word(),
        strokes: record.word(), flags: record.word(), epoch: record.number(), from: record.number(), to: record.number(),
        wait: record.number(),
    };
}

function lessonOf(record) {
    const [room, last, fetched] = [record.text(), record.number(), record.word()];
    const time = (number) => (Number.isNaN(number) ? null : number);
    const epochs = record.list(() => ({
        ep: record.number(), first: record.number(), last: record.number(), from: time(record.number()), to: time(record.number()),
    }));
    return { room, last, fetched, epochs };
}
