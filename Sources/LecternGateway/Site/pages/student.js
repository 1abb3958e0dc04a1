/** The student's page: a board in step with a video. */

import { Board } from "../lectern/board.js";
import { PlayerClock } from "../lectern/player-clock.js";
import { $, badRoomWords, bindCover, bindFullScreen, bindSaving, boardWords, connectionWords, drawingWords, iconAddress, letterKeys, namePattern, openSession, pageWords, roomOfPage, say, showStatus, spanWords, timeWords } from "./common.js";
import { DemoClock } from "./demo-clock.js";
import { PlaylistDates } from "./playlist-dates.js";
import { WatchedClock } from "./video-watch.js";

const query = new URLSearchParams(location.search);
const room = roomOfPage();
/** How long a writer is shown after a stroke. */
const writerTime = 4000;
/** Milliseconds until a video that has failed is loaded again: doubled with each failure, up to the last one. */
const [firstRetry, lastRetry] = [1000, 30_000];
/** A screen reader is told again who draws after so many milliseconds. */
const newsTime = 15_000;

document.title = `${room} · Lectern`;
$("room").textContent = room;
bindFullScreen($("full"), $("stage"));
letterKeys.bind($("keys"));
// Before anything else: nothing moves later.
for (const kind of ["video", "demo"]) {
    if (!query.has(kind)) continue;
    $(kind).hidden = $("video-side").hidden = false;
    $("stage").classList.add("has-video");
    $("video-toggle").hidden = false;
    break;
}
$("video-toggle").addEventListener("click", () => {
    const isHidden = $("stage").classList.toggle("hides-video");
    $("video-toggle").setAttribute("aria-pressed", String(!isHidden));
    $("video-side").inert = isHidden;
});

if (namePattern.test(room)) start();
else {
    refuse(...badRoomWords(room));
    showStatus($("connection"), "", "No such room");
    say($("waiting"), "There is no board here.");
    $("save").hidden = true;
}

async function start() {
    const { gateway, claims, problem } = await openSession(room);
    if (problem) refuse(problem);
    // The server knows the cohort of a token.
    const asked = query.get("cohort");
    const cohort = asked !== null && namePattern.test(asked) ? asked : undefined;
    const shown = cohort ?? claims?.cohort ?? "main";
    bindSaving(room, cohort);
    $("cohort").textContent = shown === "main" ? "" : `Cohort ${shown}`;
    bindReplay(cohort);
    if (query.has("replay")) {
        const { showReplay } = await import("./replay.js");
        return showReplay({ room, cohort, gateway, query }, { showBoard, playVideo, refuse });
    }
    const clock = await videoClock(gateway, cohort);
    const board = new Board($("board"), { room, cohort, gateway, clock });
    if (clock instanceof WatchedClock) watchVideo(clock, board);
    bindCover(board);
    showBoard(board);
    showStep(board, clock);
}

document.addEventListener("keydown", (event) => {
    if (!letterKeys.take(event) || event.target.closest?.("button, video, a") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "f") $("full").click();
    if (event.key === "v") $("video-toggle").click();
});

/** The way from the class to its recording, and back. */
function bindReplay(cohort) {
    const isReplay = query.has("replay");
    const parts = [isReplay ? null : "replay", cohort ? `cohort=${cohort}` : null].filter(Boolean);
    $("other").href = location.pathname + (parts.length > 0 ? `?${parts.join("&")}` : "");
    say($("other"), isReplay ? "Follow live" : "Watch again");
    // The files are of the board as it is now.
    $("save").hidden = isReplay;
}

/** What goes wrong for good stands above the board. */
function refuse(...words) {
    $("notice").replaceChildren(...words);
    $("notice").hidden = false;
}

/** The clock of the page's player: a video by its address, a demo, or none. */
async function videoClock(gateway, cohort) {
    const source = query.get("video");
    if (source) {
        const dates = $("video").getStartDate ? null : new PlaylistDates($("video"), source);
        return new WatchedClock(playVideo(source, dates), $("video"), dates);
    }
    const delay = query.get("demo");
    if (delay !== null) return playDemo(gateway, cohort, Math.min(Math.max(Number(delay) || 0, 0), 20));
    return null;
}

function playVideo(source, dates = null) {
    const video = $("video");
    video.src = source;
    video.addEventListener("error", () => {
        refuse("The video cannot be played: its address is wrong, or this server does not allow its origin.");
    });
    video.addEventListener("playing", () => ($("notice").hidden = true));
    retryAfterErrors(video);
    const offset = Number(query.get("offset")) || 0;
    return new PlayerClock(video, (seconds) => {
        // Where the playlist of a live video tells the time of day, that is its time line.
        const begin = dates ? dates.begin : video.getStartDate?.().getTime();
        return (Number.isFinite(begin) || dates ? begin : 0) + seconds * 1000 + offset;
    });
}

/** Loads a video that has failed again: a live stream fails when its server restarts, and now and then where browsers play HLS. */
function retryAfterErrors(video) {
    let [wait, isWanted] = [firstRetry, false];
    video.addEventListener("play", () => (isWanted = true));
    video.addEventListener("pause", () => (isWanted &&= Boolean(video.error)));
    video.addEventListener("playing", () => (wait = firstRetry));
    video.addEventListener("error", () => {
        setTimeout(() => {
            if (!video.error) return;
            video.load();
            if (isWanted) video.play().catch(() => {});
        }, wait);
        wait = Math.min(2 * wait, lastRetry);
    });
}

async function playDemo(gateway, cohort, delay) {
    const demo = new DemoClock(gateway, room, cohort ?? "main", delay);
    const slider = $("demo-delay");
    slider.value = String(delay);
    const show = () => {
        say($("demo-time"), timeWords(demo.time));
        say($("demo-delay-word"), spanWords(Number(slider.value) * 1000));
        say($("demo-note"), demo.problem ?? (demo.isPaused ? "Paused: new ink waits." : "What the teacher draws appears so much later."));
    };
    slider.addEventListener("input", show);
    slider.addEventListener("change", () => {
        demo.delay = Number(slider.value);
        demo.jump();
        show();
    });
    $("demo-play").addEventListener("click", () => {
        demo.toggle();
        $("demo-play").setAttribute("aria-pressed", String(!demo.isPaused));
        $("demo-icon").setAttribute("href", iconAddress(demo.isPaused ? "play" : "pause"));
        say($("demo-word"), demo.isPaused ? "Play" : "Pause");
        show();
    });
    show();
    setInterval(show, 200);
    try {
        await demo.start();
    } catch (error) {
        demo.problem = error.message;
    }
    return () => demo.time;
}

/** A broken video does not hide the board. */
function watchVideo(clock, board) {
    board.addEventListener("clock", ({ detail }) => clock.noteServer(detail.milliseconds));
    clock.addEventListener("broken", ({ detail }) => {
        if (!detail.isBroken) $("notice").hidden = true;
        else if (!$("video").error) refuse("The video does not play at the moment. The board goes on without it, and back in step when it plays.");
        board.look();
    });
}

/** The connection, the canvas, and who draws. */
function showBoard(board) {
    let connection = { state: "connecting" };
    let timer = null;
    const showConnection = () => showStatus($("connection"), ...connectionWords(connection));
    board.addEventListener("connection", ({ detail }) => {
        // It tries again now and then: that lets nobody in yet.
        if (detail.state === "connecting" && connection.state === "refused") return;
        connection = detail;
        showConnection();
        clearInterval(timer);
        if (detail.state === "waiting") timer = setInterval(showConnection, 1000);
    });
    const showEmpty = () => ($("empty").hidden = board.index > 0 || board.incarnation !== "");
    board.addEventListener("painted", showEmpty);
    board.addEventListener("operation", showEmpty);
    board.addEventListener("wet", () => ($("empty").hidden = true));
    board.addEventListener("size", ({ detail }) => {
        $("stage").style.setProperty("--aspect", String(detail.width / detail.height));
    });
    let hideTimer = null;
    const showWriter = (author) => {
        const name = board.nameOf(author);
        say($("initial"), [...name][0] ?? "");
        say($("writer-name"), name);
        $("writer").hidden = false;
        clearTimeout(hideTimer);
        hideTimer = setTimeout(() => ($("writer").hidden = true), writerTime);
    };
    let told = { words: "", at: -Infinity };
    const tellNews = (author, action = 1) => {
        const words = `${board.nameOf(author)} ${actionWords[action] ?? "is drawing"}`;
        if (action === 5 || action === 6 || words === told.words && performance.now() - told.at < newsTime) return;
        told = { words, at: performance.now() };
        say($("news"), words);
        // The same words again are news again.
        setTimeout(() => told.words === words && say($("news"), ""), newsTime / 2);
    };
    board.addEventListener("operation", ({ detail: { operation } }) => {
        showWriter(operation.author);
        tellNews(operation.author, operation.message.a);
    });
    board.addEventListener("wet", ({ detail }) => {
        showWriter(detail.author);
        tellNews(detail.author);
    });
    board.addEventListener("pages", ({ detail }) => {
        const { shown, order } = detail;
        $("page").hidden = order.length < 2;
        say($("page"), pageWords(shown, order));
        $("page").dataset.short = `${order.indexOf(shown) + 1}/${order.length}`;
        $("board").dataset.page = shown;
    });
    board.addEventListener("index", ({ detail }) => {
        const { shown, order } = board.pages;
        $("board").setAttribute("aria-label", boardWords(room, detail.strokes, shown, order));
        Object.assign($("board").dataset, { index: detail.index, digest: detail.digest });
    });
}

/** What a screen reader is told of operations; of pages it is told where they are shown. */
const actionWords = { 2: "has undone a step", 3: "has redone a step", 4: "has cleared the page" };

/** Whether board and video are in step. */
function showStep(board, clock) {
    let lag = { held: 0, milliseconds: 0 };
    let behind = null;
    let isRefused = false;
    const show = () => {
        if (isRefused) return showInStep("", "Not in step");
        if (clock?.isBroken) return showInStep("wait", "Without the video: ink comes when the class’s video is there");
        if (clock?.isUndated) return showInStep("wait", "Not in step: this video does not tell its time");
        if (clock instanceof WatchedClock && Number.isNaN(clock.time)) {
            return showInStep("wait", $("video").paused ? "Play the video: ink comes with it" : "Reading the time of the video…");
        }
        if (board.index === 0 && lag.held === 0) return showInStep("", "Nothing has been drawn yet");
        if (lag.held > 0) {
            const noun = lag.held === 1 ? "stroke waits" : "strokes wait";
            return showInStep("good", `In step: ${lag.held} ${noun} for the video`, "In step: strokes wait for the video");
        }
        if (!clock && board.gate === "open") return showInStep("", "No video: ink is shown at once");
        // Without a player on this page nothing measures how far ink and picture are apart.
        if (!clock) return showInStep("", board.gate === null ? "" : "Ink comes when the video gets there");
        const words = behind > 1500 ? `In step, ${spanWords(behind)} behind the class` : "In step with the video";
        showInStep("good", words, "In step with the video");
    };
    if (clock instanceof WatchedClock) {
        clock.addEventListener("broken", show);
        setInterval(show, 1000);
    }
    board.addEventListener("lag", ({ detail }) => { lag = detail; show(); });
    board.addEventListener("behind", ({ detail }) => { behind = detail.milliseconds; show(); });
    board.addEventListener("index", show);
    board.addEventListener("gate", show);
    board.addEventListener("progress", ({ detail }) => {
        if (detail.part < 1) showInStep("wait", drawingWords(detail.part), "Drawing the board");
        else show();
    });
    board.addEventListener("connection", ({ detail }) => {
        if (detail.state !== "refused" && detail.state !== "live") return;
        isRefused = detail.state === "refused";
        show();
    });
}

/** What is seen, and what a screen reader says: without numbers that change all the time. */
function showInStep(tone, words, spoken = words) {
    $("step").dataset.tone = tone;
    say($("step-words"), words);
    say($("step-spoken"), spoken);
}
