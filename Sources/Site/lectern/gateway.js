/** Requests to Lectern's gateway: addresses, tokens, errors, server time. */

import { home, reasonOf, t } from "./language.js";

/** Seconds that a server may ask for before the next request, at most. */
const longestWait = 3600;
/** Milliseconds in which nothing of an answer comes until a request counts as lost; an idle event stream has a comment every 15 s. */
const silence = 40_000;
/** The same of what the server takes longer for, and of a file in all: it gives them 5 minutes. */
const longSilence = 330_000;
/** The same of times, which are of no use later. */
export const clockLimit = 5000;

/** What the gateway answered instead of what was asked for; `code` as in the documentation of its API. */
export class GatewayError extends Error {
    name = "GatewayError";

    /** @param {number} status the HTTP status; 0 where no answer came */
    constructor(status, code, message, retryAfter = null) {
        super(message);
        this.status = status;
        this.code = code;
        /** Milliseconds after which the gateway wants to be asked again; null where it does not say. */
        this.retryAfter = retryAfter;
    }

    /** Whether asking again may help. */
    get isTransient() {
        return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
    }
}

/** One gateway, and how to be let in. */
export class Gateway {
    #token;

    /**
     * @param {object} [options]
     * @param {string} [options.url] its address, with its path where it has one; where this file came from unless said
     * @param {string | (() => string | Promise<string>)} [options.token] a token, or what returns a fresh one; none where a
     *   cookie or nothing is needed
     */
    constructor({ url = home, token } = {}) {
        const address = new URL(url, globalThis.location?.href);
        if (!address.pathname.endsWith("/")) address.pathname += "/";
        this.url = address.href;
        this.#token = token;
    }

    /**
     * The address of a path such as `api/rooms`, with a query; what is undefined or null is left out.
     *
     * @param {string} path
     * @param {object} [query]
     */
    address(path, query = {}) {
        const url = new URL(path, this.url);
        for (const [name, value] of Object.entries(query)) {
            if (value !== undefined && value !== null) url.searchParams.set(name, value);
        }
        return url.href;
    }

    /**
     * Sends a request and returns its response. It ends where nothing of the answer comes, or no more of it: its body fails then.
     *
     * @param {string} path
     * @param {RequestInit & {query?: object, json?: object, limit?: number, isRepeated?: boolean}} [options] `json`: what is posted;
     *   `limit`: milliseconds without a byte of the answer, 40,000 unless said; `isRepeated`: the caller may ask again, so it ends when the
     *   network comes back; true where it reads
     * @returns {Promise<Response>}
     * @throws {GatewayError} an answer other than 2xx and 304, or none
     */
    async request(path, { query, json, method = json && "POST", headers = {}, signal, limit = silence, isRepeated = !method, ...options } = {}) {
        const token = await tokenOf(this.#token);
        if (token) headers = { ...headers, Authorization: `Bearer ${token}` };
        if (json) [headers, options.body] = [{ ...headers, "Content-Type": "application/json" }, JSON.stringify(json)];
        const watch = deadline(limit, signal, isRepeated);
        try {
            const reply = await fetch(this.address(path, query), { cache: "no-store", ...options, method, headers, signal: watch.signal });
            const response = watched(reply, watch);
            if (response.ok || response.status === 304) return response;
            throw errorOf(response.status, await response.text().catch(() => ""), response.headers.get("Retry-After"));
        } catch (error) {
            watch.clear();
            if (error instanceof GatewayError || signal?.aborted) throw error;
            throw unreachable(this.url);
        }
    }

    /** Sends a request and reads its JSON. */
    async json(path, options) {
        const response = await this.request(path, options);
        return response.json();
    }

    /**
     * Uploads a file that boards of a room may show.
     *
     * @param {string} room
     * @param {Blob} file a PNG, JPEG, WebP, HEIC or PDF of at most 50 MiB
     * @param {object} [options]
     * @param {(sent: number) => void} [options.onprogress] 0 … 1 of the file are sent
     * @param {string} [options.password] of an encrypted PDF, which the service stores without encryption
     * @param {AbortSignal} [options.signal]
     * @returns {Promise<{id: string, type: string, pages: number, width: number, height: number}>} the size of its first page,
     *   in pixels or points
     * @throws {GatewayError} among others `too-large`, `unreadable`, `needs-password`, `assets-full`, `no-journal`, `no-sandbox`
     */
    upload(room, file, options = {}) {
        return this.#send(`api/rooms/${encodeURIComponent(room)}/assets`, file, options);
    }

    /**
     * Makes each page of a file a page of a room, behind those that there are, and turns to the first.
     *
     * @param {string} room
     * @param {Blob} file as for {@link upload}
     * @param {object} options a file that has been sent is imported whatever becomes of this page
     * @param {string} options.author who imports it
     * @param {string} [options.name] what boards call them; the author unless said
     * @param {number} [options.time] its media time in milliseconds, that at the teacher unless said, as far as the room knows it:
     *   else the answer has a `warning`
     * @param {"paper" | "picture"} [options.as] what the pages become: paper, under the ink, or pictures, to be cut and moved
     * @param {90 | 180 | 270} [options.rotate] degrees by which all pages are rotated clockwise
     * @param {(sent: number, made: number) => void} [options.onprogress] 0 … 1 of the file are sent, and of its pages made
     * @param {string} [options.password] as for {@link upload}
     * @param {AbortSignal} [options.signal]
     * @returns {Promise<{id: string, pages: number[]}>} the asset, and the pages
     * @throws {GatewayError} as {@link upload}, and among others `unsupported`, `too-many-pages`, `incomplete`: not all pages were
     *   made
     */
    importFile(room, file, { author, name, time, rotate, as, ...options }) {
        const path = `api/rooms/${encodeURIComponent(room)}/import`;
        return this.#send(path, file, { query: { author, name, t: time, rotate, as }, accept: "application/x-ndjson", ...options });
    }

    /**
     * Copies what a page shows to a new page of a room.
     *
     * @param {string} room
     * @param {number} page
     * @param {object} [options]
     * @param {string} [options.to] the other room, this one unless said
     * @param {boolean} [options.moves] whether the page goes out of sight then
     * @param {number} [options.time] as for {@link importFile}
     * @param {string} [options.author] who asks for it
     * @param {string} [options.name] what boards call them; the author unless said
     * @returns {Promise<{page: number}>} the new page
     */
    copyPage(room, page, { to = room, moves = false, time, author, name } = {}) {
        return this.#change(room, page, "copy", { author, name }, { to, move: moves, t: time });
    }

    /**
     * Rotates what a page shows, clockwise; a slide fills the board then, as far as its shape allows.
     *
     * @param {string} room
     * @param {number} page
     * @param {object} [options]
     * @param {90 | 180 | 270} [options.by] degrees
     * @param {number} [options.time] as for {@link importFile}
     * @param {string} [options.author] who asks for it
     * @param {string} [options.name] what boards call them; the author unless said
     * @returns {Promise<{page: number, by: number}>}
     */
    rotatePage(room, page, { by = 90, time, author, name } = {}) {
        return this.#change(room, page, "rotate", { author, name }, { by, t: time });
    }

    #change(room, page, what, query, order) {
        return this.json(`api/rooms/${encodeURIComponent(room)}/pages/${page}/${what}`, { query, json: order, limit: longSilence });
    }

    /**
     * Takes no more of what an author sends, or takes it again; for teachers of the room and operators.
     *
     * @param {string} room
     * @param {string} author
     * @param {boolean} isMuted
     */
    async mute(room, author, isMuted) {
        const path = `api/rooms/${encodeURIComponent(room)}/authors/${encodeURIComponent(author)}/mute`;
        await this.request(path, { method: isMuted ? "PUT" : "DELETE" });
    }

    /** Tells the server what a reader of a room has observed: `reader` tells it from others, and says nothing else. */
    observe(room, { cohort, reader }, observation) {
        const path = `api/rooms/${encodeURIComponent(room)}/observations`;
        const headers = { "Content-Type": "application/x-ndjson" };
        // Telemetry: nothing depends on it.
        this.request(path, { method: "POST", query: { cohort, reader }, headers, body: JSON.stringify(observation) + "\n" }).catch(() => {});
    }

    /**
     * Sends a file and reads the JSON of the answer, of several lines the last one. `fetch` does not tell how much of a file is
     * sent.
     */
    async #send(path, file, { query, accept = "application/json", password, onprogress = () => {}, signal }) {
        const token = await tokenOf(this.#token);
        const request = new XMLHttpRequest();
        request.open("POST", this.address(path, query));
        request.timeout = longSilence;
        if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
        request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
        request.setRequestHeader("Accept", accept);
        // A header: addresses are logged on the way.
        if (password) request.setRequestHeader("Ink-Password", encodeURIComponent(password));
        request.upload.onprogress = ({ loaded, total }) => onprogress(total > 0 ? loaded / total : 1, 0);
        request.onprogress = () => {
            const line = lastLine(request.responseText, true);
            if (line?.of > 0) onprogress(1, line.made / line.of);
        };
        const abort = () => request.abort();
        signal?.addEventListener("abort", abort);
        try {
            await new Promise((resolve, reject) => {
                request.onload = resolve;
                request.onerror = request.ontimeout = () => reject(unreachable(this.url));
                request.onabort = () => reject(new DOMException(t("The upload was given up."), "AbortError"));
                request.send(file);
                if (signal?.aborted) abort();
            });
        } finally {
            signal?.removeEventListener("abort", abort);
        }
        const text = request.responseText;
        const answer = request.status >= 200 && request.status < 300 ? lastLine(text, false) : null;
        if (answer && !answer.error) return answer;
        throw errorOf(request.status, answer ? JSON.stringify(answer) : text, request.getResponseHeader("Retry-After"));
    }

    /**
     * How far the server's clock is ahead of this machine's, in milliseconds: the best of some round trips, as NTP does it.
     *
     * @returns {Promise<{offset: number, roundTrip: number}>}
     */
    async clockOffset(tries = 4) {
        let best = null;
        for (let i = 0; i < tries; i++) {
            const sentAt = now();
            const { received, sent } = await this.json("api/time", { limit: clockLimit });
            const gotAt = now();
            const roundTrip = gotAt - sentAt - (sent - received);
            if (!best || roundTrip < best.roundTrip) {
                best = { offset: (received - sentAt + (sent - gotAt)) / 2, roundTrip };
            }
        }
        return best;
    }
}

function errorOf(status, text, retryAfter) {
    let [code, message] = ["unavailable", t("The server answered {status}.", { status })];
    try {
        const body = JSON.parse(text);
        const { code: known, message: english } = body?.error ?? {};
        if (typeof known === "string") [code, message] = [known, reasonOf(known, String(english))];
    } catch {
        // Not from Lectern: a proxy's page.
    }
    const seconds = Number(retryAfter ?? NaN);
    const wait = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), longestWait) * 1000 : null;
    return new GatewayError(status, code, message, wait);
}

/** The last line of JSON in a text, where it is whole: one that more may follow ends with a line feed. */
function lastLine(text, isOpen) {
    const lines = (isOpen ? text.slice(0, text.lastIndexOf("\n") + 1) : text).split("\n").filter((line) => line !== "");
    try {
        return JSON.parse(lines.at(-1) ?? "null");
    } catch {
        return null;
    }
}

/** A token, or what returns a fresh one, as that. */
export function tokenOf(token) {
    return typeof token === "function" ? token() : token;
}

/** UTC milliseconds that never step. */
export function now() {
    return performance.timeOrigin + performance.now();
}

/** Waits between tries: doubled each time up to a limit, and spread so that clients do not come all at once. */
export class Backoff {
    #tries = 0;

    constructor({ first = 500, most = 15_000 } = {}) {
        this.first = first;
        this.most = most;
    }

    /** It worked: the next wait is the first again. */
    reset() {
        this.#tries = 0;
    }

    /** Milliseconds until the next try, and no less than what the server asks for. */
    next(least = 0) {
        const wait = Math.min(this.first * 2 ** this.#tries++, this.most);
        return Math.max(least ?? 0, 0) + wait * (0.5 + Math.random() / 2);
    }
}

/** No answer came. A browser does not say whether that is for the page's origin. */
export function unreachable(url) {
    const origin = globalThis.location?.origin;
    const isOwn = !url || !origin || new URL(url).origin === origin;
    return new GatewayError(0, "unreachable", isOwn ? t("The server cannot be reached.")
        : t("The server cannot be reached, or does not let pages of {origin} in (http.allowed_origins).", { origin }));
}

/** A response whose watch goes on with each part of its body. */
function watched(response, watch) {
    // Browsers give a body to answers that have none.
    if (!response.body || [204, 205, 304].includes(response.status)) {
        watch.clear();
        return response;
    }
    const heard = new TransformStream({
        transform(part, body) {
            watch.extend();
            body.enqueue(part);
        },
        flush: watch.clear,
    });
    return new Response(response.body.pipeThrough(heard), response);
}

/**
 * A signal that is aborted after so long, with another one, and when the network comes back: what was asked over the one before may
 * never be answered. Call `extend` for as long again, and `clear` when what it is for has ended.
 */
export function deadline(milliseconds, signal, endsOnline = true) {
    const controller = new AbortController();
    const end = () => controller.abort();
    let timer = null;
    const clear = () => {
        clearTimeout(timer);
        globalThis.removeEventListener?.("online", end);
        signal?.removeEventListener("abort", end);
    };
    const extend = () => {
        clearTimeout(timer);
        timer = setTimeout(end, milliseconds);
    };
    controller.signal.addEventListener("abort", clear);
    if (endsOnline) globalThis.addEventListener?.("online", end);
    signal?.addEventListener("abort", end);
    extend();
    if (signal?.aborted) end();
    return { signal: controller.signal, clear, extend };
}

/** Waits so long, or until the browser is online again, or until the signal is aborted. */
export function pause(milliseconds, signal) {
    const { signal: end } = deadline(milliseconds, signal);
    return new Promise((resolve) => (end.aborted ? resolve() : end.addEventListener("abort", resolve)));
}
