/**
 * Sends the stroke under the pen while it is being drawn.
 *
 * Nothing answers for what is sent here, and nothing depends on it: the operation follows when the pen is lifted.
 *
 * @module
 */

/** Milliseconds between two updates, and between two times that the whole stroke is sent. */
const interval = 33;
const repeatInterval = 1000;
/** Characters of an update at most. */
const mostCharacters = 32 << 10;
/** Milliseconds until an update counts as lost, and until the next try after a refusal. */
const timeout = 3000;
const refusedPause = 15_000;

/** Sends one stroke at a time, one request at a time: where requests are slow, updates are fewer and larger. */
export class WetSender {
    #gateway;
    #room;
    #author;
    #numbering;
    #stroke = null;
    /** Of strokes that were given up: what tells so, and the last one, whose number the next stroke has. */
    #lines = [];
    #last = null;
    #session = "";
    #isSending = false;
    #timer = null;
    #pausedUntil = 0;
    #isClosed = false;

    /**
     * @param {Gateway} gateway
     * @param {() => {n: number, session: string}} numbering the number that the next operation will have
     */
    constructor(gateway, room, author, numbering) {
        [this.#gateway, this.#room, this.#author, this.#numbering] = [gateway, room, author, numbering];
    }

    /**
     * The pen is down.
     *
     * @param {object} style the keys of the message but `n` and the points
     * @param {PenStroke} pen its points, which grow
     */
    begin(style, pen) {
        this.giveUp();
        this.#stroke = new SentStroke(style, pen);
        this.#pump();
    }

    /** The points from `first` on are new or other ones, or those that the browser predicts. */
    moved(first) {
        this.#stroke?.change(first);
        this.#pump();
    }

    /** The pen is up: the operation says all. */
    end() {
        this.#stroke = null;
    }

    /** The stroke will not come. */
    giveUp() {
        const line = this.#stroke?.givenUp();
        if (line) {
            this.#session = this.#stroke.session;
            this.#lines.push(line);
            this.#last = this.#stroke;
        }
        this.#stroke = null;
        this.#pump();
    }

    /** Gives up the stroke at once: the page may be about to go. */
    leave() {
        this.giveUp();
        if (this.#lines.length > 0) this.#post(this.#lines.splice(0), this.#session, null);
    }

    close() {
        this.leave();
        this.#isClosed = true;
        clearTimeout(this.#timer);
    }

    /** Sends what is new as soon as it may. */
    #pump() {
        clearTimeout(this.#timer);
        if (this.#isSending || this.#isClosed) return;
        const at = performance.now();
        if (this.#lines.length > 0) return void this.#post(this.#lines.splice(0), this.#session, null);
        const stroke = this.#stroke;
        if (!stroke) return;
        const due = Math.max(stroke.due, this.#pausedUntil);
        if (due > at) {
            if (Number.isFinite(due)) this.#timer = setTimeout(() => this.#pump(), due - at);
            return;
        }
        const { n, session } = this.#numbering();
        if (stroke.n !== n || stroke.session !== session) {
            // Its number went to another operation: it begins anew under the next one.
            const line = stroke.session === session ? stroke.givenUp() : null;
            if (line) this.#lines.push(line);
            this.#session = session;
            stroke.restart(n, session, this.#last);
        }
        const updates = stroke.updates(at);
        if (updates.length > 0) this.#post([...this.#lines.splice(0), ...updates], session, stroke);
    }

    async #post(lines, session, stroke) {
        this.#isSending = true;
        const path = `api/rooms/${encodeURIComponent(this.#room)}/wet`;
        try {
            await this.#gateway.request(path, {
                method: "POST", query: { author: this.#author }, body: lines.join("\n") + "\n",
                headers: { "Content-Type": "application/x-ndjson", "Ink-Session": session },
                signal: AbortSignal.timeout?.(timeout),
                // Arrives also when the page is gone.
                keepalive: stroke === null,
            });
            stroke?.arrived();
        } catch (error) {
            stroke?.lost();
            const isRefused = error.status > 0 && !error.isTransient;
            this.#pausedUntil = performance.now() + (isRefused ? refusedPause : Math.max(error.retryAfter ?? 0, 500));
        }
        this.#isSending = false;
        this.#pump();
    }
}

/** What has gone out of a stroke. */
class SentStroke {
    n = NaN;
    session = "";
    #style;
    #pen;
    #update = 0;
    #hasGone = false;
    /** The first point that has not gone out, and the first that may not have arrived. */
    #sent = 0;
    #arrived = 0;
    #hasNews = true;
    #sentAt = -Infinity;
    #repeatAt = Infinity;
    #repeatFrom = 0;

    constructor(style, pen) {
        [this.#style, this.#pen] = [style, pen];
    }

    /** Starts again under another number. Where a stroke that was given up had it, updates are counted on. */
    restart(n, session, before) {
        this.#update = before?.n === n && before.session === session ? before.#update : 0;
        [this.n, this.session, this.#sent, this.#arrived, this.#repeatFrom] = [n, session, 0, 0, 0];
        this.#hasGone = false;
    }

    /** When the next update may go out, as `performance.now()`. */
    get due() {
        return Math.max(this.#hasNews ? 0 : this.#repeatAt, this.#sentAt + interval);
    }

    change(first) {
        this.#sent = Math.min(this.#sent, first);
        this.#arrived = Math.min(this.#arrived, first);
        this.#hasNews = true;
    }

    arrived() {
        this.#arrived = this.#sent;
    }

    lost() {
        this.#sent = this.#arrived;
        this.#hasNews = true;
    }

    /** What tells that it will not come; null where nothing of it has gone out. */
    givenUp() {
        return this.#hasGone ? JSON.stringify({ n: this.n, u: ++this.#update, x: true }) : null;
    }

    /** The points that are new, and once a second the whole stroke, or a part of a long one. */
    updates(at) {
        const updates = [];
        const count = this.#pen.points.length;
        if (this.#repeatAt === Infinity) this.#repeatAt = at + repeatInterval;
        if (at >= this.#repeatAt) {
            this.#repeatAt = at + repeatInterval;
            const end = this.#encode(this.#repeatFrom, updates);
            if (this.#repeatFrom <= this.#sent) this.#sent = Math.max(this.#sent, end);
            this.#repeatFrom = end < count ? end : 0;
        }
        while (this.#sent < count || (this.#hasNews && updates.length === 0)) this.#sent = this.#encode(this.#sent, updates);
        [this.#hasNews, this.#hasGone, this.#sentAt] = [false, true, at];
        return updates;
    }

    /** Adds an update with as many points from `first` on as fit. Returns the place after the last one. */
    #encode(first, updates) {
        const { points, predicted = [] } = this.#pen;
        let end = points.length;
        this.#update++;
        for (;;) {
            const update = { n: this.n, u: this.#update, k: first, ...this.#style, d: points.slice(first, end) };
            if (end === points.length && predicted.length > 0) update.p = predicted;
            const text = JSON.stringify(update);
            if (text.length <= mostCharacters || end - first <= 1) {
                updates.push(text);
                return end;
            }
            end = first + Math.max(Math.floor(((end - first) * mostCharacters) / text.length) - 1, 1);
        }
    }
}
