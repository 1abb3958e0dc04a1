/**
 * How late students see the teacher: asked where nothing tells it, with a clap to measure it by.
 *
 * @module
 */

import { t } from "../lectern/language.js";
import { now } from "../lectern/gateway.js";
import { $, say, spanWords } from "./common.js";

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
