/** The student's page with a recorded lesson: a board in step with a recording of the video, or with a player of its own. */

import { Replay } from "../lectern/replay.js";
import { describe } from "../lectern/dom.js";
import { $, connectionWords, element, iconAddress, refusalWords, say, showStatus, t, timeWords } from "./common.js";
import { bindContents, bindMoments, seekOf } from "./moments.js";
import { now } from "../lectern/gateway.js";

/** Milliseconds before the first operation and after the last one. */
const margin = 1000;
/** Milliseconds of a step by an arrow key, and by one with Shift. */
const [step, longStep] = [5000, 30_000];

/** Shows the lesson of a room; of the page, `showBoard` shows the state of a board, `playVideo` opens a video, `refuse` tells what is wrong. */
export function showReplay({ room, cohort, gateway, query }, { showBoard, playVideo, refuse }) {
    document.title = `${t("Replay of {room}", { room })} · Lectern`;
    const source = query.get("video");
    const clock = source ? playVideo(source) : null;
    const player = source ? new VideoPlayer($("video"), Number(query.get("offset")) || 0) : new LessonPlayer();
    const asked = Number(query.get("ep") ?? NaN);
    const replay = new Replay($("board"), {
        room, cohort, gateway, clock: clock ?? (() => player.time),
        epoch: Number.isSafeInteger(asked) && asked >= 0 ? asked : undefined,
    });
    const seek = seekIn(replay, player, source ? seekOf($("video"), () => player.begin) : null);
    bindMoments(replay, showBoard(replay), seek);
    bindContents(replay, seek);
    bindKeys(player, replay);
    if (!source) bindTransport(player, replay);
    showStep(player, replay, Boolean(source));
    if (source) watchSpan(player, replay, refuse);
}

/** A seek, as in moments.js; `wind` winds the video where there is one. */
function seekIn(replay, player, wind) {
    return (time, index) => {
        const epoch = replay.epochs.find(({ first, last }) => first <= index && index <= last)?.ep ?? replay.epoch;
        if (epoch !== replay.epoch) {
            if (wind) return t("This was drawn in another part of the lesson than that of the video.");
            $("session").value = String(epoch);
            $("session").dispatchEvent(new Event("change"));
        }
        const problem = wind?.(time) ?? "";
        if (!wind) player.time = time;
        replay.look();
        return problem;
    };
}

/** Space plays and pauses; arrows, Home and End seek. */
function bindKeys(player, replay) {
    document.addEventListener("keydown", (event) => {
        const { key, target } = event;
        if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || target.closest?.("select, video, dialog")) return;
        const seek = (time) => {
            player.time = Math.min(Math.max(time, player.begin), player.end);
            replay.look();
        };
        const length = event.shiftKey ? longStep : step;
        switch (key) {
            case " ":
                if (target.closest?.("button, a")) return;
                toggle(player, replay);
                break;
            case "ArrowLeft": seek(player.time - length); break;
            case "ArrowRight": seek(player.time + length); break;
            case "Home": seek(player.begin); break;
            case "End": seek(player.end); break;
            default: return;
        }
        event.preventDefault();
    });
}

function toggle(player, replay) {
    if (player.isPlaying) player.pause();
    else player.play();
    replay.look();
}

function bindTransport(player, replay) {
    $("transport").hidden = false;
    const slider = $("seek");
    let sessions = "";
    const showSpan = () => {
        const { from, to } = replay.span;
        if (Number.isNaN(from) || Number.isNaN(to)) return;
        const isNew = Number.isNaN(player.begin);
        player.setSpan(from - margin, to + margin);
        if (isNew) player.play();
        replay.look();
    };
    const show = () => {
        const isKnown = !Number.isNaN(player.begin);
        for (const id of ["play", "back", "forward", "seek", "speed"]) $(id).disabled = !isKnown;
        if (isKnown) {
            if (player.isPlaying && player.isAtEnd) player.pause();
            const [time, length] = [player.time - player.begin, player.end - player.begin];
            slider.max = String(Math.round(length));
            slider.value = String(Math.round(time));
            slider.style.setProperty("--part", String(time / length));
            slider.setAttribute("aria-valuetext", t("{time} of {length}", { time: timeWords(time), length: timeWords(length) }));
            say($("time"), timeWords(time));
            say($("length"), timeWords(length));
        }
        const [icon, word] = player.isPlaying ? ["pause", t("Pause")] : ["play", t("Play")];
        if ($("play").title !== `${word} (Space)`) {
            describe($("play"), word, "Space");
            $("play-icon").setAttribute("href", iconAddress(icon));
        }
        requestAnimationFrame(show);
    };
    slider.addEventListener("input", () => {
        player.time = player.begin + Number(slider.value);
        replay.look();
    });
    $("play").addEventListener("click", () => toggle(player, replay));
    for (const [id, by] of [["back", -10_000], ["forward", 10_000]]) {
        $(id).addEventListener("click", () => {
            player.time += by;
            replay.look();
        });
    }
    $("speed").addEventListener("change", () => (player.rate = Number($("speed").value)));
    replay.addEventListener("lesson", ({ detail }) => {
        const numbers = detail.epochs.map(({ ep }) => ep);
        if (numbers.join() !== sessions) {
            sessions = numbers.join();
            $("session").replaceChildren(...numbers.map((ep, place) =>
                element("option", { value: String(ep), textContent: t("Part {number}", { number: place + 1 }), selected: ep === replay.epoch })));
            $("session").hidden = numbers.length < 2;
        }
        showSpan();
    });
    // Another session of the encoder has a time line of its own.
    $("session").addEventListener("change", () => {
        replay.setEpoch(Number($("session").value));
        showSpan();
        player.time = player.begin;
        replay.look();
    });
    show();
}

/** What is shown of the lesson, and whether there is more. */
function showStep(player, replay, hasVideo) {
    let isRefused = false;
    const show = () => {
        // Its reason stays.
        if (isRefused) return;
        if (replay.last === 0) return showStatus($("step"), "", t("Nothing has been drawn yet"));
        if (Number.isNaN(player.time)) return showStatus($("step"), "wait", hasVideo ? t("Waiting for the video") : t("Fetching the lesson…"));
        if (!replay.isThere) return showStatus($("step"), "wait", t("Fetching this part of the lesson…"));
        if (replay.index === replay.last) {
            return showStatus($("step"), "good", t("The end of what was released; more of it comes by itself"));
        }
        showStatus($("step"), "good", hasVideo ? t("Replay, in step with the video") : t("Replay"));
    };
    for (const type of ["index", "lesson", "progress"]) replay.addEventListener(type, show);
    setInterval(show, 500);
    replay.addEventListener("connection", ({ detail }) => {
        showStatus($("connection"), ...(detail.state === "live" ? ["good", t("Replay")] : connectionWords(detail)));
        if (detail.state === "live" && detail.code) say($("waiting"), t("There is no lesson here yet."));
        isRefused = detail.state === "refused";
        if (!isRefused) return;
        $("waiting").removeAttribute("data-done");
        say($("waiting"), wordsOf(detail));
        showStatus($("step"), "bad", wordsOf(detail));
    });
    replay.addEventListener("painted", () => ($("waiting").dataset.done = ""));
}

function wordsOf(detail) {
    switch (detail.code) {
        case "gone": return t("This lesson is no longer kept, or not from its beginning.");
        case "too-large": return t("This lesson is too large to be replayed.");
        default: return refusalWords(detail);
    }
}

/** Says so where the video and the ink have no time in common. */
function watchSpan(player, replay, refuse) {
    const compare = () => {
        const { from, to } = replay.span;
        if (!Number.isFinite(player.end) || Number.isNaN(from) || (from < player.end && to >= player.begin)) return;
        refuse(t(
            "The ink is from {from} to {to}, and no time of this video is. Say at which time of the lesson it begins, in milliseconds: offset={offset} in the address.",
            { from: timeWords(from), to: timeWords(to), offset: Math.round(from) }));
    };
    replay.addEventListener("lesson", compare);
    $("video").addEventListener("loadedmetadata", compare);
}

/** A player without pictures: its time goes from the beginning of a lesson to its end. */
class LessonPlayer {
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
class VideoPlayer {
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
