/** The time line of a teacher's strokes: which time they are given, so that a video's clock can be compared with it. */

import { remember, remembered } from "../lectern/dom.js";
import { t } from "../lectern/language.js";
import { FrameClock } from "../lectern/frame-clock.js";
import { LiveClock } from "../lectern/live-clock.js";
import { ServerClock } from "../lectern/server-clock.js";
import { $, say, serverKey, spanWords, timeWords } from "./common.js";
import { now } from "../lectern/gateway.js";

/** A room whose video is so near to the time of day uses that as its time line. */
const sameTimeLine = 12 * 3600_000;
/** Ink whose times lie farther below the time at the teacher is seen before its voice, in milliseconds. */
const mostBehind = 250;
/** Milliseconds in which a second click answers the question of the first. */
const questionTime = 4000;

/**
 * The media time of what is drawn now. Its `kind` is one of
 * - `auto`: the time at the teacher, as the room tells it; the time of day where it does not;
 * - `utc`: the time of day, by the server's clock;
 * - `media`: the time of a player on this page (`?video=`), else as `auto`, and unknown where the room does not tell it;
 * - `since-start`: milliseconds since a moment.
 */
export class TimeLine {
    static kinds = ["auto", "utc", "media", "since-start"];

    #room;
    #query;
    #serverClock;
    #player = null;
    /** What the room tells of its time. */
    live;

    constructor(gateway, room, query) {
        [this.#room, this.#query] = [room, query];
        this.#serverClock = new ServerClock(gateway);
        // The address counts more than what was answered before.
        const given = (parameter, name = parameter) => query.get(parameter) ?? remembered(this.#key(name));
        this.live = new LiveClock({ gateway, room, latency: latencyOf(given("latency")) });
        const asked = given("time", "kind");
        this.kind = TimeLine.kinds.includes(asked) ? asked : "auto";
        // The server's time of the start.
        this.startedAt = momentOf(given("start"));
    }

    /** Measures the server's clock, again and again; the time is NaN until then. */
    async start() {
        await this.#serverClock.start();
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
            case "media": return this.#player ? this.#player.time : this.live.time;
            case "since-start": return this.#serverClock.time - this.startedAt;
            default: return Number.isFinite(this.live.time) ? this.live.time : this.#serverClock.time;
        }
    }

    /** Chooses another kind, for this room and browser. */
    choose(kind) {
        this.kind = kind;
        remember(this.#key("kind"), kind);
    }

    begin() {
        this.startedAt = this.#serverClock.time;
        remember(this.#key("start"), String(this.startedAt));
    }

    /** Answers how late students see the teacher, for this room and browser: milliseconds. */
    answerLatency(milliseconds) {
        this.live.latency = milliseconds;
        remember(this.#key("latency"), String(milliseconds / 1000));
    }

    /**
     * What keeps the students' board and video apart: `{tone, words}`, no words where nothing does, and whether to ask how late
     * students are.
     */
    get step() {
        const { state } = this.live;
        const behind = this.live.time - this.time;
        if (state === "unknown" || state === "open") return { tone: "", words: "" };
        if (state === "no-clock") return { tone: "wait", words: t("The students' video has no known time") };
        if (state === "unknown-latency" && (this.kind === "auto" || this.kind === "media" && !this.#player)) {
            return { tone: "wait", words: t("Not in step yet: how late do students see you?"), isAsking: true };
        }
        if (behind > mostBehind) return { tone: "bad", words: t("Your ink runs {time} ahead of your voice", { time: spanWords(behind) }) };
        return { tone: "", words: "" };
    }

    /** What the time is and where it comes from, for the teacher. */
    get words() {
        const { time, uncertainty } = { time: this.time, uncertainty: this.#serverClock.uncertainty };
        if (this.kind === "since-start" && Number.isNaN(this.startedAt)) return t("Press Start when the video begins.");
        if (Number.isNaN(time)) {
            if (this.kind === "media") return this.#player ? t("The video has not begun.") : t("No video has told its time yet.");
            return t("Asking for the server's time…");
        }
        if (this.kind === "since-start") return t("{time} since the start", { time: `${time < 0 ? "−" : ""}${timeWords(Math.abs(time))}` });
        if (this.kind === "media" || this.kind === "auto" && !this.#isUTC) return t("{time} on the video's time line", { time: timeWords(time) });
        const words = `${new Date(time).toISOString().slice(11, 19)} UTC`;
        if (!Number.isFinite(uncertainty)) return words;
        return t("{time}, within {milliseconds} ms of the server", { time: words, milliseconds: uncertainty.toFixed(1) });
    }

    get #isUTC() {
        return !(Math.abs(this.time - this.#serverClock.time) >= sameTimeLine);
    }

    #key(name) {
        return serverKey(`time-${name}`, this.#room);
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
        say(button, !isBegun ? t("Start") : isAsked() ? t("Click again to start at 0") : t("Start anew"));
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

/** Milliseconds of seconds in an address or from the browser's memory, 0 … 600 s; null for none. */
function latencyOf(text) {
    const seconds = text === null || text === "" ? NaN : Number(text);
    return seconds >= 0 && seconds <= 600 ? seconds * 1000 : null;
}

/** A moment in milliseconds of UTC: a date with a zone, or that number; NaN for anything else. */
function momentOf(text) {
    if (!text) return NaN;
    return Number.isNaN(Number(text)) ? Date.parse(text) : Number(text);
}

/** A clap that nobody has seen after so many milliseconds is given up. */
const longestClap = 120_000;

/** Binds the field to a time line; shows it while the room needs the answer, or has it. */
export function bindLatency(timeLine, onanswer = () => {}) {
    const [field, clap] = [$("latency-seconds"), $("latency-clap")];
    let clappedAt = null;
    const show = () => {
        const { isAsking } = timeLine.step;
        const { latency } = timeLine.live;
        // Where the video tells it there is nothing to answer.
        $("latency").hidden = !isAsking && (latency === null || timeLine.live.state !== "live");
        if (clappedAt !== null && now() - clappedAt > longestClap) clappedAt = null;
        say(clap, clappedAt === null ? t("Clap, and tap here with it") : t("Tap when students see the clap"));
        clap.classList.toggle("primary", clappedAt !== null);
        if (document.activeElement !== field && clappedAt === null && latency !== null) field.value = String(latency / 1000);
        let words = t("Their video does not tell it. Type it, or measure it with a clap before the camera.");
        if (clappedAt !== null) words = t("Watch the students' video.");
        else if (!isAsking && latency !== null) words = t("Your strokes are stamped for {time}.", { time: spanWords(latency) });
        say($("latency-words"), words);
    };
    const answer = (milliseconds) => {
        field.value = String(Math.round(milliseconds / 100) / 10);
        timeLine.answerLatency(milliseconds);
        show();
        onanswer();
    };
    $("latency-form").addEventListener("submit", (event) => {
        event.preventDefault();
        const seconds = Number(field.value);
        if (field.value !== "" && seconds >= 0 && seconds <= 600) answer(seconds * 1000);
        else field.reportValidity();
    });
    clap.addEventListener("click", () => {
        if (clappedAt === null) clappedAt = now();
        else {
            const latency = now() - clappedAt;
            clappedAt = null;
            answer(latency);
        }
        show();
    });
    show();
    setInterval(show, 500);
}
