/**
 * Players of recorded lessons: a time that runs by itself where there is no video, and a video.
 *
 * @module
 */

import { now } from "../lectern/gateway.js";

/** A player without pictures: its time goes from the beginning of a lesson to its end. */
export class LessonPlayer {
    /** Media times of the beginning and the end in milliseconds; NaN while they are not known. */
    begin = NaN;
    end = NaN;
    #rate = 1;
    /** The media time at a time of day, from which it runs; `null`: it stands. */
    #time = NaN;
    #since = null;

    /** Tells how far the lesson goes: more of it may come. */
    setSpan(begin, end) {
        if (Number.isNaN(this.#time)) this.#time = begin;
        [this.begin, this.end] = [begin, end];
    }

    /** The media time in milliseconds, NaN while the lesson is not known. */
    get time() {
        if (this.#since === null) return this.#time;
        return Math.min(this.#time + (now() - this.#since) * this.#rate, this.end);
    }

    set time(time) {
        this.#time = Math.min(Math.max(time, this.begin), this.end);
        if (this.#since !== null) this.#since = now();
    }

    get isPlaying() {
        return this.#since !== null;
    }

    get isAtEnd() {
        return this.time >= this.end;
    }

    get rate() {
        return this.#rate;
    }

    set rate(rate) {
        this.time = this.time;
        this.#rate = rate;
    }

    play() {
        if (this.isPlaying || Number.isNaN(this.#time)) return;
        if (this.isAtEnd) this.#time = this.begin;
        this.#since = now();
    }

    pause() {
        this.#time = this.time;
        this.#since = null;
    }
}

/** The same of a video element; media time 0 of it is `offset` of the lesson. */
export class VideoPlayer {
    #video;
    #offset;

    constructor(video, offset) {
        [this.#video, this.#offset] = [video, offset];
    }

    get time() {
        return this.#video.readyState === 0 ? NaN : this.#video.currentTime * 1000 + this.#offset;
    }

    set time(time) {
        this.#video.currentTime = (time - this.#offset) / 1000;
    }

    get begin() { return this.#offset; }
    get end() { return this.#offset + this.#video.duration * 1000; }
    get isPlaying() { return !this.#video.paused; }
    play() { this.#video.play().catch(() => {}); }
    pause() { this.#video.pause(); }
}
