/** The media time of the picture that a `<video>` shows, frame by frame. */

import { now } from "./gateway.js";

/** Milliseconds from 1900, where NTP begins, to 1970; and from one era of NTP to the next. */
const ntpBegin = 2_208_988_800_000;
const ntpEra = 2 ** 32 * 1000;
/** A frame that is off by more milliseconds counts only when others agree with it: one wrong time must not move a clock. */
const jump = 1000;
const agreement = 250;
const agreeing = 3;
/** Milliseconds without a frame that are a stall: so many frames, between these bounds. */
const [stallFrames, leastStall, mostStall] = [5, 500, 3000];
const checkInterval = 50;
const statisticsInterval = 1000;

/**
 * A clock by the frames of a video. `time` is the media time that is seen now, for the `clock` of a board.
 *
 * Event `change`: the state is another, or the time has jumped (`isJump`).
 */
export class FrameClock extends EventTarget {
    #video;
    #options;
    #peer;
    #serverClock;
    /** The frame that is shown: its media time, when it is seen, when it came here. */
    #frame = null;
    /** Frames that do not agree with it, and how many do with each other. */
    #candidate = null;
    /** The player has said that it goes elsewhere. */
    #isSeeking = false;
    /** Milliseconds from one frame to the next, on average. */
    #interval = 1000 / 30;
    /** What the mean delays of the connection are; of `media`, where its zero is. */
    #delays = { buffer: 0, roundTrip: 0 };
    #begin = { peer: null, at: 0, last: 0 };
    #listening = new AbortController();
    #timers = [];

    /** `wait` (for a first frame), `play`, `pause`, `stall` or `end`. */
    state = "wait";
    /** Where the time came from: `capture`, `utc-delay` or `media`; null while there is none. */
    carrier = null;

    /**
     * @param {HTMLVideoElement} video
     * @param {object} [options]
     * @param {"auto" | "capture" | "utc-delay" | "media"} [options.time] where times come from. `capture`: UTC at which the
     *   picture was taken, as its sender says; `utc-delay`: UTC at which it arrived, less half the round trip and `delay`;
     *   `media`: the player's own time. `auto`: the first of them that a connection has; without one `media`
     * @param {number} [options.offset] milliseconds added to each time
     * @param {number} [options.delay] of `utc-delay`: milliseconds from the camera to the network
     * @param {import("./server-clock.js").ServerClock} [options.serverClock] UTC, for `utc-delay` and the browser's estimate of `capture`
     * @param {() => RTCPeerConnection | null} [options.peer] the connection that the video comes by
     */
    constructor(video, { time = "auto", offset = 0, delay = 0, serverClock = null, peer = () => null } = {}) {
        super();
        this.#video = video;
        this.#options = { time, offset, delay };
        [this.#serverClock, this.#peer] = [serverClock, peer];
        const { signal } = this.#listening;
        const look = () => this.#look();
        for (const name of ["pause", "play", "waiting", "ended"]) video.addEventListener(name, look, { signal });
        video.addEventListener("seeking", () => (this.#isSeeking = true), { signal });
        const onFrame = (at, metadata) => {
            if (signal.aborted) return;
            this.#take(at, metadata);
            video.requestVideoFrameCallback(onFrame);
        };
        video.requestVideoFrameCallback(onFrame);
        this.#timers = [setInterval(look, checkInterval), setInterval(() => this.#readStatistics(), statisticsInterval)];
    }

    close() {
        this.#listening.abort();
        this.#timers.forEach(clearInterval);
    }

    /** The media time in milliseconds that is seen now; NaN until a frame has told one. */
    get time() {
        if (!this.#frame) return NaN;
        const { media, seenAt } = this.#frame;
        if (this.state !== "play") return media;
        // Between two frames time goes on; behind the last one it does not go far.
        return media + Math.min(now() - seenAt, 2 * this.#interval + checkInterval) * this.rate;
    }

    /** How fast the video plays: 1 is as it was recorded. */
    get rate() {
        return this.#video.srcObject ? 1 : this.#video.playbackRate;
    }

    get framesPerSecond() {
        return this.state === "play" ? 1000 / this.#interval : 0;
    }

    /** Milliseconds since the last frame came; NaN before the first one. */
    get silence() {
        return this.#frame ? now() - this.#frame.cameAt : NaN;
    }

    #take(at, metadata) {
        const origin = performance.timeOrigin;
        const seenAt = origin + (metadata.expectedDisplayTime ?? at);
        const found = this.#mediaTime(metadata, seenAt);
        const media = found.media + this.#options.offset;
        if (!Number.isFinite(media)) return;
        this.carrier = found.carrier;
        const frame = { media, seenAt, cameAt: now() };
        const last = this.#frame;
        if (!last) return this.#show(frame, false);
        const passed = this.state === "play" ? (seenAt - last.seenAt) * this.rate : 0;
        const isJump = Math.abs(media - last.media - passed) > jump;
        if (isJump && !this.#isSeeking && !this.#isConfirmed(frame)) return;
        if (this.state === "play" && !isJump && seenAt > last.seenAt) {
            this.#interval += (Math.min(seenAt - last.seenAt, mostStall) - this.#interval) / 8;
        }
        this.#show(frame, isJump);
    }

    /** Whether some frames before it say the same. */
    #isConfirmed(frame) {
        const before = this.#candidate;
        const agrees = before
            && Math.abs(frame.media - before.media - (frame.seenAt - before.seenAt) * this.rate) <= agreement;
        this.#candidate = { ...frame, count: agrees ? before.count + 1 : 1 };
        return this.#candidate.count >= agreeing;
    }

    #show(frame, isJump) {
        this.#frame = frame;
        this.#candidate = null;
        this.#isSeeking = false;
        const before = this.state;
        this.state = this.#stateNow();
        if (isJump || this.state !== before) this.#tell(isJump);
    }

    /** Looks for what no frame tells: pauses, stalls, the end. */
    #look() {
        if (!this.#frame) return;
        const state = this.#stateNow();
        if (state === this.state) return;
        // Of what has played since the last frame.
        if (this.state === "play" && state === "pause") this.#frame.media = this.time;
        this.state = state;
        this.#tell(false);
    }

    #stateNow() {
        const video = this.#video;
        if (!video.srcObject) {
            if (video.ended) return "end";
            if (video.paused) return "pause";
            if (video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA) return "stall";
        }
        const limit = Math.min(Math.max(stallFrames * this.#interval / this.rate, leastStall), mostStall);
        return this.silence > limit ? "stall" : "play";
    }

    #tell(isJump) {
        this.dispatchEvent(new CustomEvent("change", { detail: { state: this.state, isJump } }));
    }

    /** The media time of a frame, NaN where it has none, and where that comes from. */
    #mediaTime(metadata, seenAt) {
        const peer = this.#peer();
        const { time } = this.#options;
        const isStream = Boolean(this.#video.srcObject);
        // A frame of a connection that has been lost since.
        if (isStream && !peer) return { media: NaN };
        const isTried = (carrier) => time === carrier || time === "auto" && isStream;
        if (isTried("capture")) {
            const media = this.#captureTime(metadata, peer);
            if (Number.isFinite(media)) return { carrier: "capture", media };
        }
        if (isTried("utc-delay")) return { carrier: "utc-delay", media: this.#arrivalTime(metadata, seenAt) };
        if (isTried("media") || !isStream && time === "auto") return { carrier: "media", media: this.#playerTime(metadata, seenAt, peer) };
        return { media: NaN };
    }

    /** When the picture was taken: by the sender's clock, else as the browser has worked it out by its own. */
    #captureTime({ rtpTimestamp, captureTime }, peer) {
        const receiver = peer?.getReceivers().find(({ track }) => track.kind === "video");
        const source = receiver?.getSynchronizationSources()[0];
        if (Number.isFinite(source?.captureTimestamp) && rtpTimestamp !== undefined) {
            // Of the newest packet, which may be one of a later frame; RTP counts 90 kHz in 32 bits.
            const ahead = (source.rtpTimestamp - rtpTimestamp | 0) / 90;
            const media = source.captureTimestamp - ntpBegin - ahead;
            return media + Math.round((now() - media) / ntpEra) * ntpEra;
        }
        return performance.timeOrigin + (captureTime ?? NaN) + (this.#serverClock?.offset ?? NaN);
    }

    /** When the picture arrived, less the time that it was under way. */
    #arrivalTime({ receiveTime }, seenAt) {
        const arrivedAt = receiveTime === undefined ? seenAt - this.#delays.buffer : performance.timeOrigin + receiveTime;
        return arrivedAt + (this.#serverClock?.offset ?? NaN) - this.#delays.roundTrip / 2 - this.#options.delay;
    }

    /** The player's own time. Over WebRTC it counts from the first frame, and goes on with the next connection. */
    #playerTime({ mediaTime }, seenAt, peer) {
        const media = mediaTime * 1000;
        if (!peer) {
            // Of a live video in Safari whose playlist tells the time of day.
            const date = this.#video.getStartDate?.().getTime();
            return (Number.isFinite(date) ? date : 0) + media;
        }
        if (peer !== this.#begin.peer) {
            const last = this.#begin.peer ? this.#begin.last + seenAt : 0;
            Object.assign(this.#begin, { peer, at: last - media });
        }
        this.#begin.last = this.#begin.at + media - seenAt;
        return this.#begin.at + media;
    }

    async #readStatistics() {
        const peer = this.#peer();
        if (!peer) return;
        for (const report of (await peer.getStats()).values()) {
            if (report.type === "inbound-rtp" && report.kind === "video" && report.jitterBufferEmittedCount > 0) {
                this.#delays.buffer = 1000 * report.jitterBufferDelay / report.jitterBufferEmittedCount;
            } else if (report.type === "candidate-pair" && report.nominated && report.currentRoundTripTime !== undefined) {
                this.#delays.roundTrip = 1000 * report.currentRoundTripTime;
            }
        }
    }
}
