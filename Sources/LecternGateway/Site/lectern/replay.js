/**
 * A recorded lesson on a canvas, in step with a recording of its video.
 *
 * @module
 */

import { BoardCanvas } from "./board-canvas.js";
import { BoardPages } from "./board-pages.js";
import { Backoff, Gateway, GatewayError, now } from "./gateway.js";
import { ImageStore } from "./images.js";
import { RecordedLesson } from "./lesson.js";
import { Action, BoardModel, Divergence } from "./model.js";
import { Painter } from "./painter.js";
import { WetInk } from "./wet.js";

/** Points that are kept of a lesson, about 100 bytes each; a lesson with fewer is fetched once. */
const mostPoints = 1_000_000;
/** Operations in the first reply after a seek, and in those that are fetched ahead. */
const firstPage = 200;
const fullPage = 1000;
/** Milliseconds before the player from which a lesson is fetched, and what they grow by where nothing was drawn in them. */
const firstLead = 20_000;
const leadGrowth = 6;
/** A gap before the player of so many milliseconds is fetched, a longer one skipped. */
const shortGap = 60_000;
/** Milliseconds between two questions whether there is more of a lesson that goes on: the first, and the longest. */
const pollIntervals = { first: 2000, most: 30_000 };
/** Milliseconds between two looks at a player when nothing comes soon, and what soon is. */
const lookInterval = 100;
const soon = 200;
/** Strokes that grow are looked for among so many operations, as the server does it. */
const mostGrowing = 64;
/** Operations that are applied one by one; beyond, the board at the player's time takes the place of the one shown. */
const mostSteps = 256;
/** Strokes that are put on one by one, and strokes looked at to take some off; beyond, the whole board is painted, a slice at a time. */
const mostPutOn = 64;
const mostUnderTakenOff = 1000;

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
 * Events, each with a `detail`; `connection`, `painted`, `pages`, `size`, `progress` and `divergence` are those of `Board`:
 * - `index`: `{index, last, author, strokes, digest}`: what is shown, and how far the lesson goes;
 * - `operation`: `{operation}`: the player has passed it; not after a jump;
 * - `wet`: `{author, n, points}`: so many points of a growing stroke are shown;
 * - `lesson`: `{epochs, last, fetched}`: the lesson goes so far, and so many operations of it are here.
 */
export class Replay extends EventTarget {
    #canvas;
    #options;
    #player;
    #onpicture = () => this.look();
    #painter;
    #images;
    #lesson;
    /** The board that is shown; null before the first. */
    #model = null;
    #epoch;
    /** Strokes that grow, whether others are on the canvas, and milliseconds of media time until one has another point. */
    #wet = new WetInk();
    #growing = [];
    #isWetStale = false;
    #wetWait = Infinity;
    #pagesTold = "";
    #time = NaN;
    #timer = null;
    #frame = null;
    #isClosed = false;
    #isRefused = false;
    /** The request under way. */
    #request = null;
    #backoff = new Backoff();
    #retryAt = 0;
    #lead = firstLead;
    #pollInterval = pollIntervals.first;
    #polledAt = 0;

    /**
     * @param {HTMLCanvasElement} canvas as for `Board`
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {(() => number) | import("./player-clock.js").PlayerClock} options.clock the media time of the recording in milliseconds, on the time
     *   line of the lesson; NaN while unknown. A `PlayerClock` of a video follows its pictures
     * @param {string} [options.cohort] whose lesson it is: as far as it was released to it. `head`, for teachers: all of it
     * @param {number} [options.epoch] the encoder session whose time line that is; the last one unless said
     * @param {boolean} [options.grows] whether strokes grow; true. Otherwise they appear whole at their beginning
     * @param {number} [options.mostPoints] points of strokes that are kept, about 100 bytes each; 1,000,000
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
        this.#epoch = options.epoch;
        this.#lesson = new RecordedLesson(this.#options);
        this.#images = new ImageStore(this.gateway, options.room, () => options.cohort);
        this.#painter = new Painter(canvas, this.#images);
        this.#painter.onprogress = () => this.#tell("progress", { part: this.#painter.progress });
        this.#canvas = new BoardCanvas(canvas, (size) => this.#tell("size", size), () => this.#paint());
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
    get index() { return this.#model?.index ?? 0; }
    /** The digest of what is shown, 16 hexadecimal digits. */
    get digest() { return this.#model?.digest ?? "0".repeat(16); }
    /** The board's size in its own units. */
    get size() { return { width: this.#model?.width ?? 1024, height: this.#model?.height ?? 768 }; }
    /** What an author is called, as far as the lesson was fetched. */
    nameOf(author) { return this.#model?.names.of(author) ?? author; }
    /** Draws the board. */
    get painter() { return this.#painter; }
    /** The page that is shown. */
    get page() { return this.#model?.pages.shown ?? 0; }
    /** Which pages there are: `{shown, order, hidden}`. */
    get pages() {
        const { shown, order, hidden } = this.#model?.pages ?? new BoardPages();
        return { shown, order: [...order], hidden: [...hidden] };
    }
    /** How many strokes are on the page that is shown. */
    get strokes() { return this.#model?.countOn(this.page) ?? 0; }
    /** The last operation of the lesson, as far as it was released. */
    get last() { return this.#lesson.last; }
    /** The encoder sessions of the lesson: `{ep, first, last, from, to}` each. */
    get epochs() { return this.#lesson.epochs; }
    /** The encoder session on whose time line the player is; undefined while nothing was released. */
    get epoch() { return this.#epoch; }
    /** The media times at which the player's session begins and ends, NaN while they are not known. */
    get span() {
        const from = this.epochs.find(({ ep }) => ep === this.#epoch)?.from ?? NaN;
        const to = this.#lesson.endOf(this.#epoch);
        return { from, to: Number.isFinite(to) ? to : NaN };
    }
    /** Whether the board is that of the player's time: what it needs has been fetched. */
    get isThere() {
        return this.#model !== null && this.#lesson.index(this.#time, this.#epoch) === this.index;
    }

    /** Changes to the time line of another encoder session. */
    setEpoch(epoch) {
        this.#epoch = epoch;
        this.look();
    }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        cancelAnimationFrame(this.#frame);
        clearTimeout(this.#timer);
        if (this.#isClosed) return;
        const time = this.#playerTime();
        const isRunning = time !== this.#time;
        if (time < this.#time) this.#clearWet();
        this.#time = time;
        const index = Number.isFinite(time) ? this.#lesson.index(time, this.#epoch) : null;
        if (index !== null && this.#move(index)) {
            this.#lead = firstLead;
            this.#grow();
        }
        this.#fetch(index);
        const next = this.#lesson.entries(this.index, 1)[0];
        const comes = Math.min(this.#wetWait, next && next.epoch === this.#epoch ? next.due - time : Infinity);
        if (isRunning && comes < soon) this.#frame = requestAnimationFrame(() => this.look());
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
        this.#isClosed = true;
        this.#request?.abort();
        this.#player?.removeEventListener("change", this.#onpicture);
        this.look();
        this.#canvas.close();
        this.#images.close();
        this.#wet.clear();
        this.#tell("connection", { state: "closed", reason: null, code: null, retryAt: null });
    }

    #playerTime() {
        try {
            return Number(this.#player ? this.#player.time : this.#options.clock());
        } catch {
            return NaN;
        }
    }

    // The board.

    /** Shows the board after so many operations. Returns false where it cannot be had. */
    #move(index) {
        if (index === this.#model?.index) return true;
        const steps = index - (this.#model?.index ?? Infinity);
        const entries = steps > 0 && steps <= mostSteps ? this.#lesson.entries(this.#model.index, steps) : [];
        if (entries.length > 0 && entries.length === steps) this.#advance(entries);
        else if (!this.#jump(index)) return false;
        if (this.#model.pages.key !== this.#pagesTold) {
            this.#pagesTold = this.#model.pages.key;
            this.#tell("pages", this.pages);
        }
        const { author, digest } = this.#model;
        this.#tell("index", { index, last: this.last, author, strokes: this.strokes, digest });
        return true;
    }

    /** Applies what the player has passed, and draws what came of it. */
    #advance(entries) {
        const before = this.page;
        const [shown, hidden] = [new Map(), new Map()];
        let [wasWet, isResized] = [false, false];
        for (const entry of entries) {
            const change = this.#model.apply(entry);
            for (const stroke of change.hidden) if (!shown.delete(stroke.index)) hidden.set(stroke.index, stroke);
            for (const stroke of change.shown) if (!hidden.delete(stroke.index)) shown.set(stroke.index, stroke);
            // The operation takes the place of its wet stroke before the next frame.
            if (this.#wet.settle(entry.author, entry.message.n)) wasWet = true;
            isResized ||= change.isResized;
        }
        // What came and went on other pages is drawn when they are shown.
        const isSeen = ({ page }) => page === this.page;
        const inOrder = [...shown.values()].filter(isSeen).sort((one, other) => one.index - other.index);
        this.#show(inOrder, [...hidden.values()].filter(isSeen), isResized || this.page !== before);
        if (wasWet) this.#painter.showLive(this.#wet.drawnOn(this.page));
        for (const operation of entries) this.#tell("operation", { operation });
    }

    /** Shows another board. */
    #jump(index) {
        const model = this.#lesson.board(index);
        if (!model) return false;
        const before = this.#model ?? new BoardModel();
        const isNew = !this.#model || before.pages.shown !== model.pages.shown
            || ["width", "height", "style"].some((key) => before[key] !== model[key]);
        this.#model = model;
        this.#clearWet();
        const [old, fresh] = [before.strokes, model.strokes];
        const [oldIndices, freshIndices] = [old, fresh].map((list) => new Set(list.map((stroke) => stroke.index)));
        this.#show(
            fresh.filter((stroke) => !oldIndices.has(stroke.index)),
            old.filter((stroke) => !freshIndices.has(stroke.index)), isNew);
        return true;
    }

    #show(shown, hidden, isNew) {
        this.#canvas.shape(this.size);
        const isMuch = shown.length > mostPutOn || hidden.length * this.strokes > mostUnderTakenOff;
        if (isNew || isMuch) this.#paint();
        else this.#painter.change(shown, hidden);
    }

    #paint() {
        if (this.#canvas.pixels === 0 || !this.#model) return;
        const { width, height, style, palette, strokes } = this.#model;
        // What is wet no longer must not be on the new picture.
        this.#painter.showLive(this.#wet.drawnOn(this.page));
        this.#painter.reset(strokes, { style, palette, width, height, pixels: this.#canvas.pixels });
        this.#tell("painted", {});
    }

    /** Lets strokes grow that the player is in, by the rules of the server for those in the log. */
    #grow() {
        const [authors, growing] = [new Set(), []];
        for (const entry of this.#lesson.entries(this.index, mostGrowing)) {
            if ((entry.message.a ?? Action.draw) > Action.draw || entry.epoch !== this.#epoch) break;
            if (authors.has(entry.author)) continue;
            authors.add(entry.author);
            if (entry.isGrowing && entry.message.t < this.#time) growing.push(entry);
        }
        // They lie above each other in the order of the log, whichever began to grow first.
        const indices = growing.map(({ index }) => index);
        const kept = this.#growing.filter((index) => indices.includes(index));
        if (kept.some((index, place) => index !== indices[place])) this.#clearWet();
        this.#growing = indices;
        for (const entry of growing) this.#wet.complete(entry);
        const { isChanged, wait } = this.#wet.grow(this.#time, () => false, this.page, ({ author, n }, points) => {
            this.#tell("wet", { author, n, points });
        });
        this.#wetWait = wait;
        if (isChanged || this.#isWetStale) this.#painter.showLive(this.#wet.drawnOn(this.page));
        this.#isWetStale = false;
    }

    #clearWet() {
        this.#isWetStale ||= !this.#wet.isEmpty;
        this.#wet.clear();
    }

    // The server.

    /** Asks for what is needed next, if anything is. */
    #fetch(index) {
        const isAt = index !== null && index === this.#model?.index;
        // What the player waits for comes before what was to be fetched ahead.
        if (!isAt && this.#request?.isAhead && Number.isFinite(this.#time)) {
            this.#request.abort();
            this.#request = null;
        }
        if (this.#request || this.#isRefused || now() < this.#retryAt) return;
        const query = isAt ? this.#queryAhead() : this.#queryAt(this.#time);
        if (query) this.#ask(query, isAt);
    }

    /** For the board at a time. */
    #queryAt(time) {
        // The beginning tells how long the lesson is.
        if (!Number.isFinite(time)) return this.#lesson.isEmpty ? { limit: firstPage } : null;
        const before = this.#lesson.lastBefore(time, this.#epoch);
        if (before && before.epoch === this.#epoch && time - before.due < Math.max(shortGap, this.#lead)) {
            const { last } = this.#lesson.stretch(before.index);
            if (last === before.index) return { after: last, limit: fullPage };
        }
        return { from: Math.max(time - this.#lead, -(2 ** 53)), limit: firstPage };
    }

    /** For what will be needed: what follows, then what lies before, as far as both may be kept. */
    #queryAhead() {
        const lesson = this.#lesson;
        const { first, last, ahead } = lesson.stretch(this.index);
        if (last < lesson.last) {
            // Where not all has room, so much that what is forgotten lies before the player.
            if (lesson.last - last > lesson.budget && ahead > this.#options.mostPoints / 4) return null;
            const limit = Math.min(fullPage, lesson.nextBoard(last) - last, Math.max(Math.floor(lesson.capacity / 8), 1));
            return { after: last, limit };
        }
        const { last: done } = lesson.stretch(0);
        if (first - done > 0 && first - done <= lesson.budget) {
            return { after: done > 0 ? done : undefined, limit: Math.min(fullPage, first - done) };
        }
        if (now() - this.#polledAt < this.#pollInterval) return null;
        this.#polledAt = now();
        return { after: last, limit: fullPage };
    }

    async #ask(query, isAhead) {
        const request = new AbortController();
        request.isAhead = isAhead;
        this.#request = request;
        const { room, cohort } = this.#options;
        let [reply, problem] = [null, null];
        try {
            reply = await this.gateway.json(`api/rooms/${encodeURIComponent(room)}/replay`, {
                query: { ...query, cohort, ep: this.#epoch, room: this.#lesson.room || undefined }, signal: request.signal,
            });
        } catch (error) {
            problem = error instanceof GatewayError ? error : new GatewayError(0, "unreachable", "The server's answer broke off.");
        }
        if (request.signal.aborted) return;
        this.#request = null;
        if (reply) this.#take(reply, query);
        else this.#fail(problem);
        this.look();
    }

    #take(reply, query) {
        const lesson = this.#lesson;
        const before = lesson.last;
        try {
            lesson.add(reply);
        } catch (error) {
            if (!(error instanceof Divergence)) throw error;
            return this.#restart(error.message);
        }
        this.#epoch ??= lesson.epochs.at(-1)?.ep;
        lesson.prune(lesson.index(this.#time, this.#epoch) ?? reply.ops.at(-1)?.index ?? this.index);
        if (query.from !== undefined && lesson.index(this.#time, this.#epoch) === null) this.#lead *= leadGrowth;
        // A lesson that goes on is asked for more often.
        const isMore = lesson.last > before;
        this.#pollInterval = isMore ? pollIntervals.first : Math.min(this.#pollInterval * 1.5, pollIntervals.most);
        this.#backoff.reset();
        this.#tell("connection", { state: "live", reason: null, code: null, retryAt: null });
        this.#tell("lesson", { epochs: lesson.epochs, last: lesson.last, fetched: lesson.count });
    }

    #fail(error) {
        const { code, message: reason } = error;
        // The room has another life now.
        if (code === "unknown-index" && this.#lesson.room !== "") return this.#restart(reason);
        const isAbsent = code === "unknown-room" || code === "unknown-cohort";
        if (error.isTransient || isAbsent) {
            this.#retryAt = now() + this.#backoff.next(error.retryAfter);
            const state = isAbsent ? { state: "live", retryAt: null } : { state: "waiting", retryAt: this.#retryAt };
            return this.#tell("connection", { ...state, reason, code });
        }
        this.#isRefused = true;
        this.#tell("connection", { state: "refused", reason, code, retryAt: null });
    }

    /** Fetches everything again. */
    #restart(message) {
        this.#tell("divergence", { message });
        this.#lesson = new RecordedLesson(this.#options);
        this.#epoch = this.#options.epoch;
        this.#model = null;
        this.#clearWet();
        this.#retryAt = now() + this.#backoff.next();
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
