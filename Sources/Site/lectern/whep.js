/** A live stream over WebRTC, by the WebRTC-HTTP Egress Protocol (WHEP), which media servers speak. */

import { t } from "./language.js";
import { Backoff, deadline, now, pause, tokenOf } from "./gateway.js";

/** When a picture was taken, in a header extension of its packets; browsers know it and do not ask for it by themselves. */
const captureTimeExtension = "http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time";
/** Milliseconds for the browser to find its addresses: servers answer one offer, with all of them. */
const gatheringTime = 1000;
/** A connection is given up when for so many milliseconds nothing came, nor an answer to checks; browsers wait seven seconds. */
const silenceTime = 3000;
const unansweredChecks = 3;
const lookInterval = 250;
const requestTime = 10_000;
/** Answers that may be others later: a stream that has not begun, a server that is starting. */
const transient = new Set([404, 408, 409, 423, 425, 429]);

/** Why there is no stream. */
class WhepError extends Error {
    constructor(message, { code = "unreachable", isFinal = false, retryAfter = null } = {}) {
        super(message);
        Object.assign(this, { code, isFinal, retryAfter });
    }
}

/**
 * Plays a stream in a `<video>`, and connects again whenever it is lost.
 *
 * Event `connection`: `detail` is `{state, reason, code, retryAt}`, `state` one of `connecting`, `live`, `waiting` (until
 * `retryAt`), `refused`, `closed`.
 */
export class WhepPlayer extends EventTarget {
    #video;
    #url;
    #token;
    #stopping = new AbortController();
    #backoff = new Backoff({ first: 500, most: 10_000 });

    /** The connection that plays; null while there is none. */
    peer = null;

    /**
     * @param {HTMLVideoElement} video
     * @param {object} options
     * @param {string} options.url the endpoint of the stream
     * @param {string | (() => string | Promise<string>)} [options.token] what the server wants as Bearer
     */
    constructor(video, { url, token }) {
        super();
        [this.#video, this.#url, this.#token] = [video, new URL(url, location.href), token];
        this.#run();
    }

    /** Ends it; the video keeps its picture. */
    close() {
        this.#stopping.abort();
    }

    async #run() {
        const { signal } = this.#stopping;
        while (!signal.aborted) {
            let reason = t("The connection was lost.");
            let code = "lost";
            let least = 0;
            const session = new Session();
            try {
                this.#tell({ state: "connecting" });
                await session.open(this.#url, await tokenOf(this.#token), this.#video, signal);
                this.peer = session.peer;
                this.#backoff.reset();
                this.#tell({ state: "live" });
                await session.lost(signal);
            } catch (error) {
                [reason, code, least] = [error.message, error.code, error.retryAfter ?? 0];
                if (error.isFinal) {
                    session.close();
                    return this.#tell({ state: "refused", reason, code });
                }
            }
            this.peer = null;
            session.close();
            if (signal.aborted) break;
            const wait = this.#backoff.next(least);
            this.#tell({ state: "waiting", reason, code, retryAt: now() + wait });
            await pause(wait, signal);
        }
        this.#tell({ state: "closed" });
    }

    #tell(detail) {
        this.dispatchEvent(new CustomEvent("connection", { detail }));
    }
}

/** One connection, from its offer to its loss. */
class Session {
    peer = new RTCPeerConnection();
    #resource = null;
    #bearer = null;

    /**
     * Opens it. Returns when media can come.
     *
     * @throws {WhepError}
     */
    async open(url, bearer, video, signal) {
        this.#bearer = bearer;
        const media = new MediaStream();
        // Sound too, as students have it: pictures wait for their sound.
        for (const kind of ["video", "audio"]) {
            const transceiver = this.peer.addTransceiver(kind, { direction: "recvonly" });
            askForCaptureTime(transceiver);
            media.addTrack(transceiver.receiver.track);
        }
        const connected = this.#connected(signal);
        connected.catch(() => {});
        await this.peer.setLocalDescription();
        await this.#gathered();
        const answer = await this.#post(url, this.peer.localDescription.sdp, signal);
        try {
            await this.peer.setRemoteDescription({ type: "answer", sdp: answer });
        } catch (error) {
            throw new WhepError(t("The server's answer cannot be used: {reason}", { reason: error.message }), { code: "bad-answer" });
        }
        video.srcObject = media;
        video.play().catch(() => {});
        await connected;
    }

    /** Returns when nothing comes any more. */
    async lost(signal) {
        const { peer } = this;
        const receiver = peer.getReceivers().find(({ track }) => track.kind === "video");
        let hasPlayed = false;
        let heard = { count: -1, asked: 0, at: 0 };
        while (!signal.aborted && peer.connectionState === "connected") {
            const { count, asked } = await traffic(peer);
            if (count !== heard.count) heard = { count, asked, at: now() };
            else if (now() - heard.at > silenceTime && asked - heard.asked >= unansweredChecks) return;
            // The browser remembers sources for ten seconds; without a picture for so long, a new session has better ones.
            const isPlaying = receiver.getSynchronizationSources().length > 0;
            if (hasPlayed && !isPlaying) return;
            hasPlayed ||= isPlaying;
            await pause(lookInterval, signal);
        }
    }

    close() {
        this.peer.close();
        if (!this.#resource) return;
        const options = { method: "DELETE", headers: this.#headers(), keepalive: true };
        fetch(this.#resource, options).catch(() => {});
        this.#resource = null;
    }

    #headers(more = {}) {
        return this.#bearer ? { ...more, Authorization: `Bearer ${this.#bearer}` } : more;
    }

    #gathered() {
        const { peer } = this;
        return new Promise((resolve) => {
            const look = () => peer.iceGatheringState === "complete" && resolve();
            peer.addEventListener("icegatheringstatechange", look);
            setTimeout(resolve, gatheringTime);
            look();
        });
    }

    #connected(signal) {
        const { peer } = this;
        return new Promise((resolve, reject) => {
            peer.addEventListener("connectionstatechange", () => {
                if (peer.connectionState === "connected") resolve();
                if (peer.connectionState === "failed") reject(new WhepError(t("No media comes from the server."), { code: "no-media" }));
            });
            signal.addEventListener("abort", resolve);
        });
    }

    async #post(url, body, signal) {
        let response;
        try {
            response = await fetch(url, {
                method: "POST", body, headers: this.#headers({ "Content-Type": "application/sdp" }), signal: deadline(requestTime, signal).signal,
            });
        } catch {
            throw new WhepError(t("The media server cannot be reached, or this page may not ask it."));
        }
        if (response.status !== 201 && response.status !== 200) {
            const seconds = Number(response.headers.get("Retry-After") ?? NaN);
            throw new WhepError(refusal(response.status), {
                code: [401, 403].includes(response.status) ? "unauthorized" : "refused",
                isFinal: response.status < 500 && !transient.has(response.status),
                retryAfter: Number.isFinite(seconds) ? seconds * 1000 : null,
            });
        }
        const resource = response.headers.get("Location");
        if (resource) this.#resource = new URL(resource, response.url);
        return response.text();
    }
}

/** How many packets and answers to connectivity checks have come, and how many checks were sent (RFC 8445). */
async function traffic(peer) {
    const total = { count: 0, asked: 0 };
    for (const report of (await peer.getStats()).values()) {
        if (report.type !== "candidate-pair" || !report.nominated) continue;
        total.count += (report.packetsReceived ?? 0) + (report.responsesReceived ?? 0);
        total.asked += report.requestsSent ?? 0;
    }
    return total;
}

function refusal(status) {
    switch (status) {
        case 401: case 403: return t("The media server does not let this page in.");
        case 404: return t("The stream is not there.");
        default: return t("The media server answered {status}.", { status });
    }
}

function askForCaptureTime(transceiver) {
    // Of Chromium alone.
    const extensions = transceiver.getHeaderExtensionsToNegotiate?.() ?? [];
    for (const extension of extensions) {
        if (extension.uri === captureTimeExtension) extension.direction = "sendrecv";
    }
    if (extensions.length > 0) transceiver.setHeaderExtensionsToNegotiate(extensions);
}
