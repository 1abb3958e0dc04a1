/**
 * The clocks of a student's page. That of a video that may break: while it shows no picture, stands when the class's video does not, or
 * tells no time, the board follows the server's gate alone, and it goes back in step when the video plays.
 */

import { ClockSender } from "../lectern/clock-sender.js";
import { ServerClock } from "../lectern/server-clock.js";

/** Milliseconds without a picture, or of standing, until the video counts as broken; and between two looks. */
const failingTime = 5000;
const interval = 500;
/** The class's video stands, too, where its time goes on by less than this part of the time of day. */
const leastRate = 0.25;

/**
 * The clock of a player for a board: `time` is that of the player, and Infinity while it is broken or undated, so that nothing
 * waits for it.
 *
 * Events: `change`, as that of the player; `broken`, with `{isBroken}`.
 */
export class WatchedClock extends EventTarget {
    isBroken = false;
    #player;
    #video;
    #dates;
    #last = { place: NaN, at: performance.now() };
    /** The time of the class's video, from marks: the last one and the one before, with when they came. */
    #marks = [];

    /** `dates` say where its time of day comes from, if not from the element. */
    constructor(player, video, dates = null) {
        super();
        [this.#player, this.#video, this.#dates] = [player, video, dates];
        player.addEventListener("change", () => this.dispatchEvent(new Event("change")));
        video.addEventListener("error", () => this.#set(true));
        setInterval(() => this.#look(), interval);
    }

    get time() {
        return this.isBroken || this.isUndated ? Infinity : this.#player.time;
    }

    /** The media time at which the video begins; NaN while that is not known. */
    get begin() {
        return this.isUndated ? NaN : this.#player.timeOf(0);
    }

    /** Whether it plays, and nothing certain tells which time its pictures are of. */
    get isUndated() {
        return this.#dates?.isUndated === true;
    }

    /** Takes the class's media time from a mark of the server; NaN where it has no clock. */
    noteServer(time) {
        this.#marks = [...this.#marks.slice(-1), { time, at: performance.now() }];
    }

    /** Whether the class's video stands as well, as far as the last two marks tell. */
    get #classStands() {
        const [before, last] = this.#marks;
        if (!last || !Number.isFinite(last.time) || performance.now() - last.at > 3 * failingTime) return false;
        return last.time - before.time < leastRate * (last.at - before.at);
    }

    #look() {
        const { error, readyState, paused, ended, currentTime } = this.#video;
        const at = performance.now();
        const hasPicture = readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
        // A pause of the video pauses the board.
        const isFine = !error && hasPicture && (paused || ended || currentTime !== this.#last.place);
        const hasMoved = currentTime !== this.#last.place;
        if (isFine) this.#last = { place: currentTime, at };
        if (this.isBroken) {
            if (isFine && (hasMoved || paused)) this.#set(false);
        } else if (error || at - this.#last.at > failingTime && !(hasPicture && this.#classStands)) this.#set(true);
    }

    #set(isBroken) {
        if (isBroken === this.isBroken) return;
        this.isBroken = isBroken;
        if (!isBroken) this.#last.at = performance.now();
        this.dispatchEvent(new CustomEvent("broken", { detail: { isBroken } }));
        this.dispatchEvent(new Event("change"));
    }
}

/**
 * A video without pictures, to try Lectern without a camera: a media time that runs with the time of day, some seconds behind, and is
 * told to the room as a cohort's clock.
 */
export class DemoClock extends EventTarget {
    /** Seconds behind the time of day. */
    delay;
    rate = 1;
    #serverClock;
    #sender;
    #pausedAt = null;

    constructor(gateway, room, cohort, delay) {
        super();
        this.delay = delay;
        this.#serverClock = new ServerClock(gateway);
        // Its time line is the time of day.
        this.#sender = new ClockSender(gateway, room, cohort, this, (time) => this.#serverClock.time - time, "demo");
    }

    /** Measures the server's clock; samples are sent from then on. */
    async start() {
        await this.#serverClock.start();
        this.#tell(false);
    }

    get isPaused() { return this.#pausedAt !== null; }

    get state() { return Number.isNaN(this.time) ? "wait" : this.isPaused ? "pause" : "play"; }

    /** Why the room does not take the samples; null when it does. */
    get problem() { return this.#sender.problem; }

    /** The media time in milliseconds; NaN until the server's clock is known. */
    get time() {
        return this.#pausedAt ?? this.#serverClock.time - this.delay * 1000;
    }

    /** Stops and goes on; a video that goes on is back at its delay. */
    toggle() {
        this.#pausedAt = this.isPaused ? null : this.time;
        this.jump();
    }

    /** Tells the room where the video is after a jump. */
    jump() {
        this.#tell(true);
    }

    #tell(isJump) {
        this.dispatchEvent(new CustomEvent("change", { detail: { isJump } }));
    }
}
