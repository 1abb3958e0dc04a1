/**
 * The board of a room on a canvas, in step with a video.
 *
 * @module
 */

import { EventStream } from "./events.js";
import { Gateway, now } from "./gateway.js";
import { HoldQueue } from "./hold.js";
import { BoardModel, Divergence } from "./model.js";
import { Painter } from "./painter.js";

/** Milliseconds between two observations that are sent to the server. */
const observationInterval = 2000;

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
 * - `index`: `{index, received, author, strokes, digest}`: what is shown, and up to where the server has sent;
 * - `operation`: `{operation}`, as `BoardModel.apply` takes it: it is shown now;
 * - `painted`: the whole board is drawn anew, as after a join or in another size;
 * - `lag`: `{held, milliseconds}`: what waits for the player's clock, and how far it is ahead of it;
 * - `skew`: `{milliseconds}`: how long after the player's picture of it an operation was drawn, where there is a clock;
 * - `behind`: `{milliseconds}`: how far the cohort's video is ahead of the player;
 * - `size`: `{width, height}`: the board's size in its own units;
 * - `progress`: `{part}`: 0 … 1 while a large board is drawn;
 * - `divergence`: `{message}`: the board was not the room's; it is joined again by itself.
 */
export class Board extends EventTarget {
    #canvas;
    #options;
    #model = new BoardModel();
    #painter;
    #stream = null;
    #held;
    /** Strokes of the joined board that the player has not reached yet. */
    #veil;
    #veiled = new Set();
    #incarnation = "";
    #received = 0;
    #isJoined = false;
    #observer;
    #pixels = 0;
    #observedAt = 0;

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {object} options
     * @param {string} options.room the room's name
     * @param {string} [options.cohort] unless said the token's, else `main`; `head`, for teachers, is ahead of every video
     * @param {() => number} [options.clock] the media time of this page's player in milliseconds, on the time line of the
     *   room's video; NaN while unknown. Without it the server's gate alone decides
     * @param {number} [options.maxHold] see {@link HoldQueue}; 30,000 ms
     * @param {Gateway} [options.gateway] or `url` and `token` as for {@link Gateway}
     * @param {boolean} [options.observe] whether to tell the server how far this page has come; true
     */
    constructor(canvas, { gateway, url, token, ...options }) {
        super();
        this.gateway = gateway ?? new Gateway({ url, token });
        this.#canvas = canvas;
        this.#options = { clock: null, observe: true, ...options };
        this.#painter = new Painter(canvas);
        this.#painter.onprogress = () => this.#tell("progress", { part: this.#painter.progress });
        const tellLag = () => this.#tellLag();
        this.#held = new HoldQueue(this.#options.clock, (operation) => this.#apply(operation), tellLag);
        this.#veil = new HoldQueue(this.#options.clock, (stroke) => this.#unveil(stroke), tellLag);
        if (options.maxHold !== undefined) this.#held.maxHold = this.#veil.maxHold = options.maxHold;
        this.#observer = new ResizeObserver((entries) => this.#resize(entries[0]));
        this.#observer.observe(canvas);
        this.#shape();
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
    /** The board's size in its own units, its colours, and its ink style. */
    get size() { return { width: this.#model.width, height: this.#model.height }; }
    get palette() { return this.#model.palette; }
    get style() { return this.#model.style; }
    /** How many strokes are on the board. */
    get strokes() { return this.#model.count; }
    /** Whether a redo may find something. */
    get hasUndone() { return this.#model.undoneCount > 0; }
    /** Draws the board; for strokes that the room does not have yet. */
    get painter() { return this.#painter; }

    /** Looks at the player's clock at once: call it after a seek. */
    look() {
        this.#held.look();
        this.#veil.look();
    }

    /** Shows another cohort, from its beginning: its video is earlier or later. */
    setCohort(cohort) {
        if (cohort === this.cohort) return;
        this.#options.cohort = cohort;
        this.#forget();
        this.#connect();
    }

    /** Connects at once if it waits to do so. */
    retry() {
        this.#stream.retry();
    }

    /** Ends the connection; the canvas keeps its picture. */
    close() {
        this.#stream.close();
        this.#observer.disconnect();
        this.#held.clear();
        this.#veil.clear();
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
        if (this.#options.clock) {
            const time = this.#held.time;
            for (const stroke of this.#model.strokes) {
                if (stroke.time === undefined || stroke.time < time) continue;
                this.#veiled.add(stroke);
                this.#veil.add(stroke, stroke.time);
            }
        }
        this.#shape();
        this.#paint();
        this.#tellIndex();
    }

    #take(operation) {
        if (!this.#isJoined || operation.index <= this.#received) return;
        if (operation.index !== this.#received + 1) return this.#rejoin("an operation is missing");
        this.#received = operation.index;
        const { t } = operation.message;
        this.#held.add(operation, t === undefined ? undefined : Math.trunc(t), operation.late === true);
    }

    #apply(operation) {
        let change;
        try {
            change = this.#model.apply(operation);
        } catch (error) {
            if (!(error instanceof Divergence)) throw error;
            return this.#rejoin(error.message);
        }
        for (const stroke of change.hidden) this.#veiled.delete(stroke);
        if (change.isResized) {
            this.#shape();
            this.#paint();
        } else this.#painter.change(change.shown, change.hidden);
        this.#tell("operation", { operation });
        this.#tellIndex();
        this.#observe(operation);
    }

    #unveil(stroke) {
        if (this.#veiled.delete(stroke)) this.#painter.change([stroke], []);
    }

    /** Compares with a mark: the server's word on where the cohort stands. */
    #compare(mark) {
        if (mark.room !== "") this.#incarnation ||= mark.room;
        const isSame = this.#isJoined && mark.room === this.#incarnation && mark.index === this.index;
        if (isSame && mark.digest !== undefined && mark.digest !== this.digest) {
            return this.#rejoin("the digest of a mark is another");
        }
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
        this.#isJoined = false;
    }

    #shape() {
        const { width, height } = this.size;
        const shape = `${width} / ${height}`;
        if (this.#canvas.style.aspectRatio === shape) return;
        this.#canvas.style.aspectRatio = shape;
        this.#tell("size", { width, height });
    }

    #resize(entry) {
        const box = entry.devicePixelContentBoxSize?.[0];
        const pixels = box ? box.inlineSize : entry.contentRect.width * (globalThis.devicePixelRatio ?? 1);
        if (Math.round(pixels) === this.#pixels || pixels < 1) return;
        this.#pixels = Math.round(pixels);
        this.#paint();
    }

    #paint() {
        if (this.#pixels === 0) return;
        const { width, height, style } = this.#model;
        const strokes = this.#model.strokes.filter((stroke) => !this.#veiled.has(stroke));
        this.#painter.reset(strokes, { style, width, height, pixels: this.#pixels });
        this.#tell("painted", {});
    }

    /** How far ink and picture are apart: told to the page, and now and then to the server. */
    #observe({ message, late }) {
        const time = this.#held.time;
        if (!Number.isFinite(time) || message.t === undefined || late) return;
        const skew = time - message.t;
        this.#tell("skew", { milliseconds: skew });
        if (!this.#options.observe || now() - this.#observedAt < observationInterval) return;
        this.#observedAt = now();
        const body = JSON.stringify({ v: time, index: this.index, skew }) + "\n";
        const path = `api/rooms/${encodeURIComponent(this.room)}/observations`;
        const headers = { "Content-Type": "application/x-ndjson" };
        // Telemetry: nothing depends on it.
        this.gateway.request(path, { method: "POST", query: { cohort: this.cohort }, headers, body }).catch(() => {});
    }

    #tellLag() {
        const held = this.#held.length + this.#veiled.size;
        this.#tell("lag", { held, milliseconds: Math.max(this.#held.ahead, this.#veil.ahead) });
    }

    #tellIndex() {
        const { index, author, count, digest } = this.#model;
        this.#tell("index", { index, received: this.#received, author, strokes: count, digest });
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
