/**
 * The time line of a teacher's strokes: which time they are given, so that a video's clock can be compared with it.
 *
 * @module
 */

import { FrameClock, ServerClock } from "../lectern.js";
import { $, say, timeWords } from "./common.js";

/** A room whose video is so near to the time of day uses that as its time line. */
const sameTimeLine = 12 * 3600_000;
/** Another time line is followed when it is off by so many milliseconds: samples come now and then only. */
const timeLineStep = 400;
/** Milliseconds in which a second click answers the question of the first. */
const questionTime = 4000;

/**
 * The media time of what is drawn now. Its `kind` is one of
 * - `auto`: the time of day, or where the room's video runs on another time line, that;
 * - `utc`: the time of day, by the server's clock;
 * - `media`: the time of the video: of a player on this page (`?video=`), else of the room's fastest one;
 * - `since-start`: milliseconds since a moment.
 */
export class TimeLine {
    static kinds = ["auto", "utc", "media", "since-start"];

    #gateway;
    #room;
    #query;
    #serverClock;
    #player = null;
    /** Of the room's video from the time of day; NaN while it has no clock. */
    #shift = NaN;

    constructor(gateway, room, query) {
        [this.#gateway, this.#room, this.#query] = [gateway, room, query];
        this.#serverClock = new ServerClock(gateway);
        const asked = query.get("time") ?? this.#stored("kind");
        this.kind = TimeLine.kinds.includes(asked) ? asked : "auto";
        // The server's time of the start.
        this.startedAt = momentOf(query.get("start") ?? this.#stored("start"));
    }

    /** Measures the server's clock, again and again; the time is NaN until then. */
    async start() {
        await this.#serverClock.start();
        // A room that nobody has written to has no state.
        this.follow(await this.#gateway.json(`api/rooms/${this.#room}`).catch(() => ({})));
    }

    /** Takes the time of a player on this page. */
    play(video, source) {
        video.src = source;
        this.#player = new FrameClock(video, { offset: Number(this.#query.get("offset")) || 0 });
        if (!this.#query.has("time")) this.kind = "media";
    }

    get time() {
        switch (this.kind) {
            case "utc": return this.#serverClock.time;
            case "media": return this.#player ? this.#player.time : this.#serverClock.time + this.#shift;
            case "since-start": return this.#serverClock.time - this.startedAt;
            default: return this.#serverClock.time + (this.#isOwnTimeLine ? this.#shift : 0);
        }
    }

    /** Chooses another kind, for this room and browser. */
    choose(kind) {
        this.kind = kind;
        localStorage.setItem(this.#key("kind"), kind);
    }

    /** Counts from now. */
    begin() {
        this.startedAt = this.#serverClock.time;
        localStorage.setItem(this.#key("start"), String(this.startedAt));
    }

    /** Compares with the videos of a room: the fastest one tells the time line. */
    follow({ cohorts = [] }) {
        const videos = cohorts.map(({ v }) => v).filter((video) => typeof video === "number");
        if (videos.length === 0 || Number.isNaN(this.#serverClock.offset)) return;
        // What the fastest students see now, and so much more as they are said to be behind.
        const latency = (Number(this.#query.get("latency")) || 0) * 1000;
        const shift = Math.max(...videos) - this.#serverClock.time + latency;
        if (!(Math.abs(shift - this.#shift) <= timeLineStep)) this.#shift = shift;
    }

    /** What the time is and where it comes from, for the teacher. */
    get words() {
        const { time, uncertainty } = { time: this.time, uncertainty: this.#serverClock.uncertainty };
        if (this.kind === "since-start" && Number.isNaN(this.startedAt)) return "Press Start when the video begins.";
        if (Number.isNaN(time)) {
            if (this.kind === "media") return this.#player ? "The video has not begun." : "No video has told its time yet.";
            return "Asking for the server's time…";
        }
        if (this.kind === "since-start") return `${time < 0 ? "−" : ""}${timeWords(Math.abs(time))} since the start`;
        if (this.kind === "media" || this.kind === "auto" && this.#isOwnTimeLine) return `${timeWords(time)} on the video's time line`;
        return `${new Date(time).toISOString().slice(11, 19)} UTC, within ${uncertainty.toFixed(1)} ms of the server`;
    }

    get #isOwnTimeLine() {
        return Math.abs(this.#shift) >= sameTimeLine;
    }

    #key(name) {
        return `lectern-time-${name} ${this.#room}`;
    }

    #stored(name) {
        return localStorage.getItem(this.#key(name));
    }
}

/** Shows the time line in the side panel, and lets the teacher choose. */
export function showTimeLine(timeLine, query) {
    const [choice, button] = [$("time-kind"), $("time-start")];
    const source = query.get("video");
    if (source) {
        $("time-video").hidden = false;
        timeLine.play($("time-video"), source);
    }
    choice.value = timeLine.kind;
    // A start in the middle of a lesson would be wrong for all that follows: that takes two clicks.
    let askedAt = -Infinity;
    const isAsked = () => performance.now() - askedAt < questionTime;
    const show = () => {
        const isBegun = !Number.isNaN(timeLine.startedAt);
        say($("time-now"), timeLine.words);
        button.hidden = timeLine.kind !== "since-start";
        say(button, !isBegun ? "Start" : isAsked() ? "Click again to start at 0" : "Start anew");
        button.classList.toggle("primary", !isBegun || isAsked());
    };
    choice.addEventListener("change", () => {
        timeLine.choose(choice.value);
        show();
    });
    button.addEventListener("click", () => {
        if (Number.isNaN(timeLine.startedAt) || isAsked()) {
            timeLine.begin();
            askedAt = -Infinity;
        } else askedAt = performance.now();
        show();
    });
    show();
    setInterval(show, 500);
}

/** A moment in milliseconds of UTC: a date with a zone, or that number; NaN for anything else. */
function momentOf(text) {
    if (!text) return NaN;
    return Number.isNaN(Number(text)) ? Date.parse(text) : Number(text);
}
