/** The student's page: a board in step with a video. */

import { bindPageKeys } from "../lectern/dom.js";
import { mark } from "../lectern/language.js";
import { Board } from "../lectern/board.js";
import { PlayerClock } from "../lectern/player-clock.js";
import { Element } from "../lectern/records.js";
import { followConnection } from "../lectern/words.js";
import { BoardView, viewButtons } from "../lectern/view.js";
import { $, badRoomWords, bindCover, bindDarkBoard, bindFullScreen, bindSaving, connectionWords, drawingWords, iconAddress, namePattern, openSession, pageWords, roomOfPage, say, showOnSheet, showStatus, spanWords, t, timeWords } from "./common.js";
import { bindKeys, studentControls } from "./keys.js";
import { DemoClock, WatchedClock } from "./video-watch.js";
import { bindFloatingVideo } from "./floating-video.js";
import { bindContents, bindMoments, seekOf } from "./moments.js";
import { bindNotes } from "./notes.js";
import { PlaylistDates } from "./playlist-dates.js";

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
bindKeys(studentControls());
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

bindFloatingVideo();

if (namePattern.test(room)) start();
else {
    refuse(...badRoomWords(room));
    showStatus($("connection"), "", t("No such room"));
    say($("waiting"), t("There is no board here."));
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
    $("cohort").textContent = shown === "main" ? "" : t("Cohort {cohort}", { cohort: shown });
    bindReplay(cohort);
    if (query.has("replay")) {
        const { showReplay } = await import("./replay.js");
        return showReplay({ room, cohort, gateway, query }, { showBoard, playVideo, refuse });
    }
    const clock = await videoClock(gateway, cohort);
    const board = new Board($("board"), { room, cohort, gateway, clock });
    if (clock instanceof WatchedClock) watchVideo(clock, board);
    bindCover(board);
    const view = showBoard(board);
    const show = bindPages(board);
    if (clock instanceof WatchedClock) {
        const seek = seekOf($("video"), () => clock.begin);
        bindMoments(board, view, seek);
        bindContents(board, seek, (page) => {
            board.view(page);
            show();
        });
    }
    showStep(board, clock);
}

/** The way from the class to its recording, and back. */
function bindReplay(cohort) {
    const isReplay = query.has("replay");
    const parts = [isReplay ? null : "replay", cohort ? `cohort=${cohort}` : null].filter(Boolean);
    $("other").href = location.pathname + (parts.length > 0 ? `?${parts.join("&")}` : "");
    say($("other"), isReplay ? t("Follow live") : t("Watch again"));
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
        refuse(t("The video cannot be played: its address is wrong, or this server does not allow its origin."));
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
        if (!Number.isNaN(demo.time)) say($("demo-time"), timeWords(demo.time));
        say($("demo-delay-word"), spanWords(Number(slider.value) * 1000));
        say($("demo-note"), demo.problem ?? (demo.isPaused ? t("Paused: new ink waits.") : t("What the teacher draws appears so much later.")));
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
        say($("demo-word"), demo.isPaused ? t("Play") : t("Pause"));
        show();
    });
    show();
    setInterval(show, 200);
    // Without its time ink would not wait for it.
    await demo.start();
    return () => demo.time;
}

/** A broken video does not hide the board. */
function watchVideo(clock, board) {
    board.addEventListener("clock", ({ detail }) => clock.noteServer(detail.milliseconds));
    clock.addEventListener("broken", ({ detail }) => {
        if (!detail.isBroken) $("notice").hidden = true;
        else if (!$("video").error) refuse(t("The video does not play at the moment. The board goes on without it, and back in step when it plays."));
        board.look();
    });
}

/** Turns to other pages while the class goes on, and back to it. */
function bindPages(board) {
    const show = () => {
        const { shown, order } = board.pages;
        // Taken out of sight, or the class has come to it.
        if (board.page === shown || !order.includes(board.page)) board.view(null);
        const place = order.indexOf(board.page);
        $("turn").hidden = order.length < 2;
        [$("page-back").disabled, $("page-next").disabled] = [place <= 0, place >= order.length - 1];
        $("live").hidden = board.page === shown;
        showPage(board);
    };
    const turn = (step) => {
        const { order } = board.pages;
        const page = order[order.indexOf(board.page) + step];
        if (page === undefined) return;
        board.view(page);
        show();
    };
    $("page-back").addEventListener("click", () => turn(-1));
    $("page-next").addEventListener("click", () => turn(1));
    $("live").addEventListener("click", () => {
        board.view(null);
        show();
        $(($("page-back").disabled ? "page-next" : "page-back")).focus({ preventScroll: true });
    });
    board.addEventListener("pages", show);
    bindPageKeys(document, (step) => {
        turn(step);
        return true;
    });
    return show;
}

function showPage(board) {
    const { order } = board.pages;
    $("page").hidden = order.length < 2;
    say($("page"), pageWords(board.page, order));
    say($("place"), `${order.indexOf(board.page) + 1}/${order.length}`);
    $("board").dataset.page = board.page;
}

function bindView(board) {
    const view = new BoardView(board, $("board"), $("stage"), { isPulled: true, beside: $("video-side") });
    const [zoomOut, zoomIn] = viewButtons(view);
    $("view").append(zoomOut, zoomIn);
    $("whole").addEventListener("click", () => {
        view.showWhole();
        // It goes, and takes no focus with it; where the stage fills the window the buttons below are out of reach.
        ($("full-end").hidden ? zoomIn : $("full-end")).focus({ preventScroll: true });
    });
    view.addEventListener("change", () => ($("whole").hidden = !view.isZoomed));
    document.addEventListener("keydown", (event) => view.key(event));
    // A telephone that is held upright begins with a board that is read without zooming.
    const isUpright = matchMedia("(max-width: 34rem) and (orientation: portrait)");
    board.addEventListener("size", () => requestAnimationFrame(() => isUpright.matches && view.fitWidth()));
    return view;
}

/** The connection, the canvas, and who draws. */
function showBoard(board) {
    const view = bindView(board);
    bindNotes(board, view, room);
    bindDarkBoard(board, $("ground"));
    showOnSheet(board, room);
    followConnection(board, (connection) => showStatus($("connection"), ...connectionWords(connection)));
    const showEmpty = () => ($("empty").hidden = board.index > 0 || board.incarnation !== "");
    board.addEventListener("painted", showEmpty);
    board.addEventListener("operation", showEmpty);
    board.addEventListener("wet", () => ($("empty").hidden = true));
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
    const tellNews = (author, action = 1, isPointer = false) => {
        const words = t(actionWords[action] ?? (isPointer ? mark("{name} is pointing") : mark("{name} is drawing")), { name: board.nameOf(author) });
        if (action === 5 || action === 6 || words === told.words && performance.now() - told.at < newsTime) return;
        told = { words, at: performance.now() };
        say($("news"), words);
        // The same words again are news again.
        setTimeout(() => told.words === words && say($("news"), ""), newsTime / 2);
    };
    board.addEventListener("operation", ({ detail: { operation } }) => {
        showWriter(operation.author);
        tellNews(operation.author, operation.message.a, operation.message.e === Element.pointer);
    });
    board.addEventListener("wet", ({ detail }) => {
        showWriter(detail.author);
        tellNews(detail.author);
    });
    board.addEventListener("pages", () => showPage(board));
    return view;
}

/** What a screen reader is told of operations; of pages it is told where they are shown. */
const actionWords = { 2: mark("{name} has undone a step"), 3: mark("{name} has redone a step"), 4: mark("{name} has cleared the page"), 7: mark("{name} has changed the paper"), 8: mark("{name} has removed something") };

function showStep(board, clock) {
    let lag = { held: 0, milliseconds: 0 };
    let behind = null;
    let isRefused = false;
    const show = () => {
        if (isRefused) return showInStep("", t("Not in step"));
        if (clock?.isBroken) return showInStep("wait", t("Without the video: ink comes when the class’s video is there"));
        if (clock?.isUndated) return showInStep("wait", t("Not in step: the time of this video is unknown"));
        if (clock instanceof WatchedClock && Number.isNaN(clock.time)) {
            return showInStep("wait", $("video").paused ? t("Play the video: ink comes with it") : t("Reading the time of the video…"));
        }
        if (board.index === 0 && lag.held === 0) return showInStep("", t("Nothing has been drawn yet"));
        if (lag.held > 0) {
            const count = lag.held;
            const words = count === 1 ? t("In step: 1 stroke waits for the video") : t("In step: {count} strokes wait for the video", { count });
            return showInStep("good", words, t("In step: strokes wait for the video"));
        }
        if (!clock && board.gate === "open") return showInStep("", t("No video: ink is shown at once"));
        // Without a player on this page nothing measures how far ink and picture are apart.
        if (!clock) return showInStep("", board.gate === null ? "" : t("Ink comes when the video gets there"));
        const words = behind > 1500 ? t("In step, {time} behind the class", { time: spanWords(behind) }) : t("In step with the video");
        showInStep("good", words, t("In step with the video"));
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
        if (detail.part < 1) showInStep("wait", drawingWords(detail.part), t("Drawing the board"));
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
