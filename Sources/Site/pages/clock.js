/** The clock page: plays the students' video and tells the room the time of its pictures. */

import { remember, remembered } from "../lectern/dom.js";
import { ClockSender } from "../lectern/clock-sender.js";
import { FrameClock } from "../lectern/frame-clock.js";
import { ServerClock } from "../lectern/server-clock.js";
import { WhepPlayer } from "../lectern/whep.js";
import { now } from "../lectern/gateway.js";
import { $, connectionWords, namePattern, openSession, roomOfPage, say, showStatus, spanWords, t } from "./common.js";

const query = new URLSearchParams(location.search);
const room = roomOfPage();
const carriers = ["auto", "capture", "utc-delay", "media"];
const carrierWords = {
    capture: t("capture time, from the stream"),
    "utc-delay": t("time of arrival, less the way"),
    media: t("time of the player"),
};
/** Media times above it are times of day, in milliseconds. */
const firstDate = 1e12;
/** The distance of the time of day to the first picture's time; a player that falls back farther has jumped. */
let base = NaN;
const mostStall = 60_000;

document.title = `${t("Clock of {room}", { room })} · Lectern`;
$("room").textContent = room;

if (!namePattern.test(room)) refuse(t("The name of a room is 1 to 64 characters of a to z, 0 to 9, _ and -."), t("No such room"));
else if (!query.has("whep") && !query.has("video")) {
    $("choose").hidden = false;
    $("cohort-name").value = query.get("cohort") ?? "";
    showStatus($("state"), "", t("No video"));
    // Nothing to be had from an empty field.
    $("choose").addEventListener("submit", () => ($("cohort-name").disabled = $("cohort-name").value === ""));
} else start();

async function start() {
    const mediaToken = takeMediaToken();
    const { gateway, claims, problem } = await openSession(room);
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    if (problem) refuse(problem);
    const asked = query.get("cohort");
    const cohort = asked !== null && namePattern.test(asked) ? asked : undefined;
    $("cohort").textContent = t("Cohort {cohort}", { cohort: cohort ?? claims?.cohort ?? "main" });
    const serverClock = new ServerClock(gateway);
    serverClock.start();
    const time = query.get("time") ?? "auto";
    if (!carriers.includes(time)) return refuse(t("time= is one of {names}.", { names: carriers.join(", ") }), t("No clock"));
    const video = $("video");
    video.hidden = $("figures").hidden = false;
    video.muted = true;
    const player = playVideo(video, mediaToken);
    const clock = new FrameClock(video, {
        time, serverClock, peer: () => player?.peer ?? null,
        offset: Number(query.get("offset")) || 0, delay: Number(query.get("delay")) || 0,
    });
    const sender = new ClockSender(gateway, room, cohort, clock, (time) => ageOf(time, clock, serverClock));
    show({ clock, sender, serverClock, player });
}

/**
 * How late a picture is seen, in milliseconds. A time of day tells it; of a time from the beginning `latency=` does, in seconds,
 * for the moment in which the page begins: a player that falls back is later by as much.
 */
function ageOf(time, clock, serverClock) {
    if (clock.carrier !== "media" || time > firstDate) return serverClock.time - time;
    const latency = query.has("latency") ? Number(query.get("latency")) * 1000 : NaN;
    const distance = now() - time;
    const age = latency + distance - base;
    // The first picture, or the player has jumped.
    if (!(age >= 0 && age <= latency + mostStall)) base = distance;
    return latency + distance - base;
}

/** The media server's token stands in the fragment, which no server sees; a reload finds it in this tab. */
function takeMediaToken() {
    const key = `lectern-media-token ${query.get("whep")}`;
    const token = new URLSearchParams(location.hash.slice(1)).get("media-token");
    if (token) remember(key, token, "sessionStorage");
    return token ?? remembered(key, "sessionStorage");
}

/** Plays over WebRTC, or what the browser plays by itself; returns the player of the former. */
function playVideo(video, token) {
    const url = query.get("whep");
    if (url) return new WhepPlayer(video, { url, token });
    video.controls = true;
    video.src = query.get("video");
    video.addEventListener("error", () => {
        refuse(t("The video cannot be played: its address is wrong, or this server does not allow its origin."), t("No video"));
    });
    return null;
}

function refuse(message, state = null) {
    $("notice").textContent = message;
    $("notice").hidden = false;
    if (state) showStatus($("state"), "bad", state);
}

function show({ clock, sender, serverClock, player }) {
    let connection = { state: player ? "connecting" : "live" };
    player?.addEventListener("connection", ({ detail }) => {
        connection = detail;
        if (detail.state === "refused") refuse(detail.reason);
        else if (!sender.isRefused) $("notice").hidden = true;
    });
    let wasRefused = false;
    setInterval(() => {
        showStatus($("state"), ...stateWords(connection, clock, sender));
        const { time } = clock;
        const isKnown = Number.isFinite(time);
        say($("time"), isKnown ? clockWords(time) : "–");
        say($("carrier"), isKnown ? carrierWords[clock.carrier] : t("no picture with a time yet"));
        const isDate = isKnown && time > firstDate && Number.isFinite(serverClock.offset);
        say($("behind"), isDate ? delayWords(serverClock.time - time) : "–");
        const isMeasured = Number.isFinite(serverClock.uncertainty);
        say($("server"), isMeasured ? t("server's clock within {milliseconds} ms", { milliseconds: serverClock.uncertainty.toFixed(1) }) : t("asking for the server's time…"));
        say($("frames"), clock.framesPerSecond.toFixed(0));
        say($("stream"), connection.reason ?? (connection.state === "live" && player ? t("over WebRTC") : "\u00a0"));
        say($("samples"), String(sender.sent));
        say($("problem"), sender.problem ?? t("none refused"));
        $("problem").dataset.tone = sender.problem ? "bad" : "";
        if (wasRefused && !sender.isRefused) $("notice").hidden = true;
        wasRefused = sender.isRefused;
        if (wasRefused) refuse(t("This page needs a token for the room's clock. Ask your administrator for the link."));
        Object.assign($("video").dataset, { state: clock.state, carrier: clock.carrier ?? "", time: String(time) });
    }, 100);
}

function stateWords(connection, clock, sender) {
    if (sender.isRefused) return ["bad", t("Not allowed to set this clock")];
    if (connection.state !== "live") return connectionWords(connection);
    switch (clock.state) {
        case "play": return sender.problem ? ["bad", t("The room does not hear this clock")] : ["good", t("The room hears this clock")];
        case "pause": return ["wait", t("Paused")];
        case "stall": return ["bad", sender.isSilent ? t("No picture: the clock is given up") : t("No picture comes")];
        case "end": return ["", t("The video has ended")];
        default: return ["wait", t("Waiting for a picture…")];
    }
}

/** A time of day in UTC, or a time from the beginning, with tenths. */
function clockWords(milliseconds) {
    if (milliseconds > firstDate) return `${new Date(milliseconds).toISOString().slice(11, 21)} UTC`;
    const minutes = Math.floor(milliseconds / 60_000);
    return `${minutes}:${((milliseconds - minutes * 60_000) / 1000).toFixed(1).padStart(4, "0")}`;
}

function delayWords(milliseconds) {
    return Math.abs(milliseconds) < 1000 ? `${Math.round(milliseconds)} ms` : spanWords(milliseconds);
}
