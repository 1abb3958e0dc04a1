/** The teacher's page: draws in a room, and shows what has arrived where. */

import { reasonOf } from "../lectern/language.js";
import { remember, remembered } from "../lectern/dom.js";
import { now } from "../lectern/gateway.js";
import { authorOf, followConnection, foreignWords, isName } from "../lectern/words.js";
import { Teacher } from "../lectern/teacher.js";
import { Toolbar } from "../lectern/toolbar.js";
import { BoardView, viewButtons } from "../lectern/view.js";
import { $, address, badRoomWords, bindCover, bindDarkBoard, bindFullScreen, bindSaving, connectionWords, drawingWords, element, KeyedList, namePattern, openSession, ownRooms, refusals, roomOfPage, say, serverKey, showOnSheet, showStatus, spanWords, strokesWords, t, whileVisible } from "./common.js";
import { bindKeys, teacherControls } from "./keys.js";
import { aheadLine, authorList } from "./ahead.js";
import { bindImport } from "./import-tool.js";
import { LassoTool } from "../lectern/lasso-tool.js";
import { bindLatency, showTimeLine, TimeLine } from "./time-line.js";
import { PageStrip } from "../lectern/page-strip.js";
import { PaperMenu } from "../lectern/paper-menu.js";
import { bindShare } from "./share.js";

const query = new URLSearchParams(location.search);
const room = roomOfPage();
/** Milliseconds between two looks at the cohorts. */
const audienceInterval = 1000;
/** Milliseconds for which the page waits to hear whether its reader may teach. */
const accessTime = 3000;
/** Milliseconds for which a stroke is offered that the system has taken back. */
const offerTime = 5000;

document.title = `${t("Teach {room}", { room })} · Lectern`;
$("room").textContent = room;
bindFullScreen($("full"), document.documentElement);
bindKeys(teacherControls());

if (namePattern.test(room)) start();
else {
    notify("");
    $("notice-text").replaceChildren(...badRoomWords(room, "teach"));
    showStatus($("saved"), "", t("No such room"));
    say($("waiting"), t("There is no board here."));
}

async function start() {
    const { gateway, claims, problem } = await openSession(room);
    if (problem) notify(problem);
    if (problem ? !claims : !(await mayTeach(gateway, claims))) {
        // Without a link that counts nobody teaches, whatever the name.
        if (claims?.role === "student") notify(t("Your link is for watching."), t("Open the board"), () => (location.href = address(`rooms/${room}`)));
        else if (!problem) notify(claims ? t("Your link is for something else.") : t("This page opens with a teacher's link."));
        showStatus($("saved"), "bad", t("Not allowed in"));
        return say($("waiting"), t("There is no board here."));
    }
    const { author, name } = await whoTeaches(claims);
    $("author").textContent = name;
    const timeLine = new TimeLine(gateway, room, query);
    const teacher = new Teacher($("board"), { room, author, name, gateway, clock: () => timeLine.time });
    const view = new BoardView(teacher.board, $("board"), $("stage"));
    $("view").append(...viewButtons(view));
    bindDarkBoard(teacher.board, $("view"));
    const lasso = new LassoTool(teacher, view);
    view.pen = {
        isBusy: (time) => teacher.pen.isBusy(time),
        giveUp: (events) => {
            teacher.pen.giveUp(events);
            lasso.giveUp(events);
        },
    };
    new Toolbar(teacher, lasso);
    document.addEventListener("keydown", (event) => view.key(event));
    bindCover(teacher.board);
    showOnSheet(teacher.board, room, teacher);
    new PageStrip(teacher, gateway).addEventListener("problem", ({ detail }) => notify(detail.message, t("Close"), closeNotice));
    bindImport(teacher, gateway);
    new PaperMenu(teacher);
    showSaving(teacher);
    showWriter(teacher, name, !claims?.sub && !query.has("author"));
    bindFingers(teacher);
    offerLost(teacher);
    teacher.addEventListener("applied", ({ detail }) => detail.index === 1 && ownRooms.add(room));
    const share = bindShare(gateway, room, query);
    if (query.has("share")) {
        // Once: not when the page is loaded again.
        query.delete("share");
        history.replaceState(null, "", location.pathname + (query.size > 0 ? `?${query}` : ""));
        share();
    }
    // With tokens the gateway knows who may mute; without, the teacher who began the room.
    showAudience(teacher, gateway, timeLine, () => claims !== null || ownRooms.has(room));
    showTimeLine(timeLine, query);
    showStep(timeLine, teacher);
    timeLine.start();
}

/** Whether the gateway lets somebody teach here. Where it does not answer soon, the board says later. */
async function mayTeach(gateway, claims) {
    if (["teacher", "operator"].includes(claims?.role)) return true;
    // A page that keeps nothing may still have a teacher's cookie.
    return gateway.request(`api/rooms/${room}/readers`, { limit: accessTime }).then(() => true, ({ code }) => !refusals.includes(code));
}

/** The author: the token's subject, or asked for once a browser. */
async function whoTeaches(claims) {
    if (claims?.sub) return { author: claims.sub, name: claims.name ?? claims.sub };
    const asked = query.get("author");
    if (asked && namePattern.test(asked)) return { author: asked, name: asked };
    const known = remembered(serverKey("name"));
    if (known && isName(known)) return { author: authorOf(known), name: known };
    const dialog = $("name-dialog");
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.showModal();
    await new Promise((resolve) => {
        $("name-form").addEventListener("submit", (event) => {
            if (isName($("name").value)) return resolve();
            event.preventDefault();
            $("name").setCustomValidity(t("A name is 1 to 64 characters, and no control characters."));
            $("name").reportValidity();
        });
        $("name").addEventListener("input", () => $("name").setCustomValidity(""));
    });
    const name = $("name").value.trim();
    remember(serverKey("name"), name);
    return { author: authorOf(name), name };
}

function notify(text, button = null, action = null) {
    say($("notice-text"), text);
    $("notice-button").hidden = !button;
    $("notice-other").hidden = true;
    if (button) {
        say($("notice-button"), button);
        $("notice-button").onclick = action;
    }
    $("notice").hidden = false;
}

/** Ends a notice; what holds as long as a state is said again: see `showWriter`. */
let closeNotice = () => ($("notice").hidden = true);

function showSaving(teacher) {
    let outbox = { waiting: 0, isKept: true, isFull: false };
    let sending = { state: "live" };
    let reading = { state: "connecting" };
    let waitsSince = null;
    const show = () => {
        const { waiting, isKept, isFull } = outbox;
        if (waiting === 0) waitsSince = null;
        else waitsSince ??= now();
        const strokes = strokesWords(waiting);
        if (teacher.isMuted) return showStatus($("saved"), "bad", t("Muted"));
        if (isFull) return showStatus($("saved"), "bad", t("Full: nothing more is taken until the network is back"));
        if (sending.state !== "live" && waiting > 0) {
            const state = refusals.includes(sending.code) ? t("Not allowed in") : t("Offline");
            return showStatus($("saved"), "bad", isKept
                ? t("{state}, {strokes} kept here", { state, strokes }) : t("{state}, {strokes} wait: keep this page open", { state, strokes }));
        }
        if (reading.state !== "live") return showStatus($("saved"), ...connectionWords(reading));
        if (teacher.board.palette.length === 0) return showStatus($("saved"), "wait", t("Fetching the board…"));
        const { progress } = teacher.board.painter;
        if (progress < 1) return showStatus($("saved"), "wait", drawingWords(progress));
        // A stroke under way for a moment is nothing to tell.
        if (waiting > 0 && now() - waitsSince > 600) return showStatus($("saved"), "wait", t("Sending {strokes}…", { strokes }));
        showStatus($("saved"), "good", t("All saved"));
    };
    teacher.addEventListener("outbox", ({ detail }) => { outbox = detail; show(); });
    teacher.addEventListener("sending", ({ detail }) => { sending = detail; show(); });
    followConnection(teacher.board, (connection) => { reading = connection; show(); });
    teacher.addEventListener("muted", show);
    teacher.board.addEventListener("progress", show);
    setInterval(show, 500);
    teacher.addEventListener("rejected", ({ detail }) => {
        const { code } = detail.error;
        // Where all undo the same steps, another was faster.
        if (code.startsWith("nothing-to-") && (code === "nothing-to-remove" || !teacher.board.features.includes("author-scope"))) return;
        // The notice says so as long as it is so.
        if (detail.error.code === "muted") return;
        notify(t("Not taken: {reason}", { reason: reasonOf(detail.error.code, detail.error.message) }), t("Close"), closeNotice);
    });
    teacher.addEventListener("foreign", () => notify(foreignWords(), t("Close"), closeNotice));
    addEventListener("beforeunload", (event) => {
        if (outbox.waiting > 0 && !outbox.isKept) event.preventDefault();
    });
}

/** One page writes; another is told, and may take over. A muted author is told so. */
function showWriter(teacher, name, canRename) {
    $("notice-other").addEventListener("click", () => {
        remember(serverKey("name"), "");
        location.reload();
    });
    const show = () => {
        const { state, isMuted, isWriting } = teacher;
        $("board").dataset.pen = isWriting ? "on" : "off";
        if (isMuted) notify(t("You are muted in this room: nothing that you draw is taken. A teacher of the room can change that."));
        else if (state === "elsewhere") notify(t("You are writing in another tab."), t("Write here"), () => teacher.takeOver());
        else if (state === "superseded") {
            notify(t("{name} is writing on another device, or was within the last minutes. Is that you?", { name }), t("Write here"), () => teacher.takeOver());
            // A name that was typed can be another one.
            if (canRename) $("notice-other").hidden = false;
        } else $("notice").hidden = true;
    };
    for (const type of ["writer", "muted"]) teacher.addEventListener(type, show);
    closeNotice = show;
}

/** Where a pen is used, fingers do not draw, unless asked to; that can be chosen before. */
function bindFingers(teacher) {
    const button = $("fingers");
    const key = "lectern-fingers";
    let isChosen = remembered(key) !== null;
    const set = (isOn) => {
        teacher.pen.drawsWithFingers = isOn;
        button.setAttribute("aria-pressed", String(isOn));
    };
    if (remembered(key) === "off") set(false);
    button.hidden = navigator.maxTouchPoints === 0 && !isChosen;
    button.addEventListener("click", () => {
        isChosen = true;
        set(!teacher.pen.drawsWithFingers);
        remember(key, teacher.pen.drawsWithFingers ? "on" : "off");
    });
    $("board").addEventListener("pointerdown", (event) => {
        if (event.pointerType !== "pen") return;
        button.hidden = false;
        if (!isChosen) set(false);
        isChosen = true;
    });
}

/** A stroke that the system has taken back is offered for some seconds. */
function offerLost(teacher) {
    const words = t("The system took back what you were drawing.");
    let [timer, page] = [null, null];
    const close = () => {
        clearTimeout(timer);
        timer = null;
        // Not what else was said meanwhile.
        if ($("notice-text").textContent === words) closeNotice();
    };
    teacher.addEventListener("lost", ({ detail }) => {
        notify(words, t("Draw it"), () => {
            close();
            detail.draw();
        });
        clearTimeout(timer);
        [timer, page] = [setTimeout(close, offerTime), teacher.page];
    });
    // It goes with the next stroke, and with its page.
    teacher.addEventListener("drawing", ({ detail }) => detail.isDrawing && timer !== null && close());
    teacher.addEventListener("pages", () => timer !== null && teacher.page !== page && close());
}

/** Whether students see ink and voice together, and what is to be done where they do not. */
function showStep(timeLine, teacher) {
    let isAsked = false;
    bindLatency(timeLine, closeNotice);
    setInterval(() => {
        const { tone, words, isAsking } = timeLine.step;
        showStatus($("step"), tone, words);
        $("step").hidden = words === "";
        $("nobody").textContent = timeLine.live.state === "open"
            ? t("Students have no video: they see what you draw at once.")
            : t("No video has told its time yet. What you draw is kept for it, 30 seconds at most.");
        if (isAsking && !isAsked && teacher.state === "writer") {
            isAsked = true;
            notify(t("The delay of your students is unknown, so your ink runs ahead of your voice."), t("Answer"), () => {
                closeNotice();
                $("audience").dataset.open = "true";
                $("audience-button").setAttribute("aria-pressed", "true");
                $("latency-seconds").focus();
            });
        }
    }, 500);
}

/** How far each cohort is behind, and what it has. */
function showAudience(teacher, gateway, timeLine, canMute) {
    const panel = $("audience");
    const button = $("audience-button");
    // The style sheet opens it on wide windows, so that nothing moves when this script is there.
    const isOpen = () => getComputedStyle(panel).display !== "none";
    button.setAttribute("aria-pressed", String(isOpen()));
    button.addEventListener("click", () => {
        panel.dataset.open = String(!isOpen());
        button.setAttribute("aria-pressed", String(isOpen()));
    });
    const link = $("student-link");
    const demo = query.get("demo");
    bindSaving(room, "head", "page-export");
    link.href = address(`rooms/${room}`, { demo });
    link.textContent = demo === null ? t("Open the student's board") : t("Open it {seconds} s behind", { seconds: demo });
    const rows = new KeyedList($("cohorts"), cohortRow);
    const showAhead = aheadLine(gateway, room);
    const showAuthors = authorList(gateway, room, teacher, canMute, (error) => notify(t("Not changed: {reason}", { reason: error.message }), t("Close"), closeNotice));
    whileVisible(audienceInterval, async () => {
        let state;
        const askedAt = now();
        try {
            state = await gateway.json(`api/rooms/${room}`);
        } catch {
            // Nobody has written to it, and nothing tells its video's time.
            return;
        }
        timeLine.live.follow(state, (askedAt + now()) / 2);
        teacher.noteMuted((state.muted ?? []).includes(teacher.author));
        const cohorts = (state.cohorts ?? []).filter(({ cohort, index, v }) => cohort !== "main" || index > 0 || typeof v === "number");
        await showAhead(cohorts, timeLine.live);
        if (!isOpen()) return;
        showAuthors(state);
        $("nobody").hidden = cohorts.length > 0;
        rows.show(cohorts.map(({ cohort }) => cohort)).forEach((row, place) => showCohort(row, cohorts[place], state.index ?? 0, timeLine.time));
    });
}

function cohortRow(name) {
    const behind = element("span", { className: "behind small number quiet" });
    const progress = element("progress", { max: 1, value: 0, "aria-label": t("What cohort {name} has", { name }) });
    const has = element("span", { className: "has small number quiet" });
    const node = element("li", { className: "cohort" },
        element("div", { className: "cohort-head" }, element("span", { className: "cohort-name", textContent: name }), behind), progress, has);
    return { node, behind, progress, has };
}

function showCohort(row, { index, held, v, age, gate }, last, time) {
    const head = Math.max(last, index);
    const behind = typeof age === "number" ? age : typeof v === "number" ? time - v : NaN;
    say(row.behind, Number.isFinite(behind) ? t("{time} behind", { time: spanWords(behind) }) : gate === "open" ? t("no video") : t("no clock"));
    row.progress.value = head > 0 ? index / head : 1;
    say(row.has, held > 0 ? t("has {index} of {head}, {held} to come", { index, head, held }) : t("has all {head}", { head }));
}
