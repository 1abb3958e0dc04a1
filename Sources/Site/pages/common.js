/** What the pages share: elements, status, the session of a token, and how times are said. */

import { closeBeside, element, iconButton, letterKeys, remember, remembered, rememberedValue, say } from "../lectern/dom.js";
import { Backoff, Gateway, pause } from "../lectern/gateway.js";
import { changeLanguage, isolated, languageInUse, loading, localeInUse, mark, t, translate } from "../lectern/language.js";
import { bindTexts, boardWords, drawingWords, refusals } from "../lectern/words.js";

if (document.documentElement.dataset.browser === "old") throw new Error("needs.js has said that this browser is too old");

// Modules of pages, which come after this one, say all in the reader's language.
await loading;
translate(document);

export { element, iconAddress, KeyedList, letterKeys, say, whileVisible } from "../lectern/dom.js";
export { isolated, t } from "../lectern/language.js";
export { connectionWords, drawingWords, pageWords, refusals, strokesWords } from "../lectern/words.js";

/** The server that these pages come from; it may lie below a path of its host. */
const gateway = new Gateway();

/** Room, author and cohort names. */
export const namePattern = /^[a-z0-9_-]{1,64}$/;

export function $(id) {
    return document.getElementById(id);
}

/** The address of a page or of a request, such as `rooms/physics`; as {@link Gateway.address}. */
export function address(path, query) {
    return gateway.address(path, query);
}

/** Shows how something stands: `tone` is `good`, `wait`, `bad` or "". */
export function showStatus(target, tone, text) {
    if (target.dataset.tone !== tone) target.dataset.tone = tone;
    say(target, text);
}

/** Whether a link was opened for this page, or it was let in before. */
let hadLink = false;

/** Why a page shows no board, for those who came by a link. */
export function refusalWords({ code, reason }) {
    if (code === "unauthorized" && !hadLink) return t("This board opens with the link that you were given.");
    if (code === "unauthorized" || code === "revoked") {
        return t("Your link no longer counts: it has expired, was revoked, or the key was changed. Open a new link; ask for it where you got this one.");
    }
    if (code === "forbidden") return t("Your link is for something else.");
    return reason;
}

/**
 * The key of what this browser keeps for this server, or for a room of it: several servers may share an origin, each below a path of its
 * own. The choices of a person, such as the language and the pen, have keys of the whole origin.
 */
export function serverKey(name, room = "") {
    return `lectern-${name} ${new URL(gateway.url).pathname.slice(1)}${room}`.trimEnd();
}

/** Rooms that this browser has begun: those that nobody had written to before. */
export const ownRooms = {
    most: 200,
    get all() { return rememberedValue(serverKey("own")) ?? []; },
    has(room) { return this.all.includes(room); },
    add(room) {
        if (!this.has(room)) remember(serverKey("own"), [...this.all, room].slice(-this.most));
    },
};

/** What is wrong with the name of a room in an address, and an address that may be meant. */
export function badRoomWords(room, page = "") {
    const meant = room.trim().toLowerCase().replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
    const words = `${t("There is no such room: a name is 1 to 64 characters of a to z, 0 to 9, _ and -.")} `;
    const path = page === "" ? `rooms/${meant}` : `rooms/${meant}/${page}`;
    return [words, meant ? element("a", { href: address(path), textContent: t("Open {room}", { room: meant }) })
        : element("a", { href: address(""), textContent: t("Start page") })];
}

/** Covers the board until it is there, and while its reader is not let in: in full screen nothing else is seen. */
export function bindCover(board) {
    const cover = $("waiting");
    let isRefused = false;
    const uncover = () => {
        // Without a palette nothing has been joined.
        if (isRefused || board.palette.length === 0) return;
        if (board.painter.progress === 1) cover.dataset.done = "";
        else if (cover.dataset.done === undefined) say(cover, drawingWords(board.painter.progress));
    };
    board.addEventListener("painted", uncover);
    board.addEventListener("progress", uncover);
    board.addEventListener("connection", ({ detail }) => {
        if (detail.state === "live") {
            [hadLink, isRefused] = [true, false];
            // A stream that is resumed paints nothing anew.
            uncover();
        } else if (detail.state === "refused") {
            say(cover, refusalWords(detail));
            if (!refusals.includes(detail.code)) return;
            isRefused = true;
            delete cover.dataset.done;
        }
    });
}

/** Shows the shape of a board, its texts, and where it is; `seen` knows the page that is seen, and the pages. */
export function showOnSheet(board, room, seen = board) {
    bindTexts(board, $("texts"));
    board.addEventListener("size", ({ detail }) => {
        $("stage").style.setProperty("--aspect", String(detail.width / detail.height));
    });
    board.addEventListener("index", ({ detail }) => {
        $("board").setAttribute("aria-label", boardWords(room, detail.strokes, seen.page, seen.pages.order));
        Object.assign($("board").dataset, { index: detail.index, digest: detail.digest, page: board.page });
    });
}

/** A time span: `0.8 s`, `12 s`, `3:05 min`. */
export function spanWords(milliseconds) {
    const exact = Math.abs(milliseconds) / 1000;
    if (exact < 9.95) return isolated(`${exact.toFixed(1)} s`);
    const seconds = Math.round(exact);
    if (seconds < 100) return isolated(`${seconds} s`);
    return isolated(`${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`);
}

/** A media time: the time of day where it is that, else hours, minutes and seconds from its beginning. */
export function timeWords(milliseconds) {
    if (milliseconds > 1e12) return new Date(milliseconds).toLocaleTimeString(localeInUse(), { timeStyle: "medium" });
    const seconds = Math.floor(Math.max(milliseconds, 0) / 1000);
    const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
    const hours = Math.floor(seconds / 3600);
    return (hours > 0 ? [hours, ...parts] : parts).join(":");
}

export function roomOfPage() {
    const [, room] = location.pathname.slice(new URL(gateway.url).pathname.length).split("/");
    try {
        return decodeURIComponent(room ?? "");
    } catch {
        // Not in UTF-8, as old links have it: no room's name.
        return room;
    }
}

/** Gives the gateway a token for a cookie, as soon as it can be reached and takes it. Returns why it was refused, or null. */
async function exchange(token) {
    const place = $("waiting") ?? $("state");
    const words = place.textContent;
    for (const backoff = new Backoff(); ; ) {
        try {
            await gateway.request("api/session", { method: "POST", body: token, headers: { "Content-Type": "text/plain" } });
            say(place, words);
            return null;
        } catch (error) {
            if (!error.isTransient) return refusalWords({ code: error.code, reason: error.message });
            say(place, t("Your link is opened as soon as that is possible. {reason}", { reason: error.message }));
            await pause(backoff.next(error.retryAfter));
        }
    }
}

/**
 * Opens the session of a page: a token in the fragment of its address becomes a cookie, and leaves the address. `claims`: what the token
 * says of its owner, for words on the page alone; `problem`: why the token was refused; null for none.
 */
export async function openSession(room) {
    // A link that is opened where its page is open already changes the fragment alone.
    addEventListener("hashchange", () => {
        if (location.hash.startsWith("#token=")) location.reload();
    });
    const key = serverKey("claims", room);
    const token = new URLSearchParams(location.hash.slice(1)).get("token");
    let [claims, problem] = [rememberedValue(key), null];
    hadLink = token !== null || claims !== null;
    // The session ends with its token.
    if (claims?.exp * 1000 < Date.now()) claims = null;
    if (token) {
        problem = await exchange(token);
        // The server has judged it, whatever the clock of this machine says.
        if (!problem) {
            const link = claimsOf(token);
            // A teacher who opens a link for students stays one.
            if (claims?.role !== "teacher" || link?.role === "teacher") remember(key, link);
            claims = link;
        }
        history.replaceState(null, "", location.pathname + location.search);
    }
    return { gateway, claims, problem };
}

function claimsOf(token) {
    try {
        const text = atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
        const { sub, name, role, room, cohort, exp } = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
        return { sub, name, role, room, cohort, exp };
    } catch {
        return null;
    }
}

/** Milliseconds for which a file is asked for again that is being made, and one that lacks images. */
const [makingTime, lackingTime] = [180_000, 15_000];

/** Fetches a file of a board with all its images: many slides take the server longer than it answers, and it keeps what it has. */
async function completeFile(href) {
    const begin = performance.now();
    for (const backoff = new Backoff(); ; ) {
        let [reply, failure] = [null, null];
        try {
            reply = await gateway.request(href);
            if (!reply.headers.has("Ink-Incomplete")) return reply;
        } catch (error) {
            if (error.status < 500 && error.status !== 429) throw error;
            failure = error;
        }
        const wait = backoff.next(failure?.retryAfter);
        const isBeingMade = [429, 503, 504].includes(failure?.status);
        if (performance.now() + wait > begin + (isBeingMade ? makingTime : lackingTime)) {
            if (failure) throw failure;
            return reply;
        }
        await reply?.body.cancel();
        await pause(wait);
    }
}

function saveBlob(blob, download) {
    const href = URL.createObjectURL(blob);
    element("a", { href, download }).click();
    // Some browsers begin to read it later.
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** Says that a file is being made, which takes a while where it has many slides, and what is wrong with it. */
const fileWords = element("p", { className: "file-words status", role: "status" });
/** Milliseconds for which it says what is wrong. */
const fileWordsTime = 20_000;

/**
 * Saves what a link leads to, when it is complete; one that is being made already is not made again.
 *
 * @param {HTMLAnchorElement} link
 * @param {object} [options]
 * @param {string} [options.href] the file's address, the link's unless said
 * @param {(reply: Response) => Promise<Blob>} [options.make] what is saved of the answer
 * @param {string} [options.failure] says that it could not be made, with `{reason}`
 */
export async function saveLinked(link, { href = link.href, make = (reply) => reply.blob(), failure = mark("The file could not be made: {reason}") } = {}) {
    if (link.hasAttribute("aria-busy")) return;
    const name = link.download;
    link.setAttribute("aria-busy", "true");
    const making = t("Making {name}…", { name });
    showStatus(fileWords, "wait", making);
    let problem = "";
    try {
        const reply = await completeFile(href);
        saveBlob(await make(reply), name);
        if (reply.headers.has("Ink-Incomplete")) problem = t("{name} lacks pictures that the server does not have now.", { name });
    } catch (error) {
        problem = t(failure, { reason: error.message });
    }
    link.removeAttribute("aria-busy");
    // Another file may be told of by now.
    if (problem !== "" || fileWords.textContent === making) showStatus(fileWords, "bad", problem);
    setTimeout(() => fileWords.textContent === problem && say(fileWords, ""), fileWordsTime);
}

/** Makes links save the board of a room as PNG and PDF, as a cohort sees it; one more, by its id, the PDF. */
export function bindSaving(room, cohort, more = null) {
    document.body.append(fileWords);
    const links = [["png", 2048, "save-png"], ["pdf", null, "save-pdf"]];
    if (more) links.push(["pdf", null, more]);
    for (const [format, width, id] of links) {
        const link = $(id);
        link.href = address(`api/rooms/${room}/board.${format}`, { width, cohort });
        link.download = `${room}.${format}`;
    }
    // After the links' own listeners, which may save something else.
    document.addEventListener("click", (event) => {
        const link = event.target.closest?.("a[download]");
        if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        saveLinked(link);
    });
}

export function bindFullScreen(button, target) {
    if (!document.fullscreenEnabled) return void (button.hidden = true);
    button.addEventListener("click", () => {
        if (document.fullscreenElement) document.exitFullscreen();
        else target.requestFullscreen().catch(() => {});
    });
    document.addEventListener("fullscreenchange", () => {
        button.setAttribute("aria-pressed", String(document.fullscreenElement === target));
    });
}

/** A dialog that its button, or a click beside it, ends. */
export function dialogOf(title, ...content) {
    const dialog = element("dialog", { "aria-label": title },
        element("form", { method: "dialog" }, element("h2", { textContent: title }), ...content,
            element("div", { className: "row" }, element("button", { className: "button", textContent: t("Close") }))));
    document.body.append(dialog);
    closeBeside(dialog);
    return dialog;
}

/** Lets the reader choose among the languages that there are, each by its own name. */
function bindLanguage(button) {
    const problem = element("p", { className: "small quiet", role: "alert", hidden: true });
    const list = element("ul", { className: "languages" });
    const dialog = dialogOf(t("Language"), problem, list);
    const show = (languages) => {
        list.replaceChildren(...languages.map((language) => {
            const choice = element("button", { className: "button", type: "button", lang: language, dir: "auto", textContent: ownName(language) });
            if (language === languageInUse().toLowerCase()) choice.setAttribute("aria-current", "true");
            choice.addEventListener("click", () => changeLanguage(language));
            return element("li", {}, choice);
        }));
        (list.querySelector("[aria-current]") ?? list.querySelector("button"))?.focus();
    };
    button.addEventListener("click", async () => {
        if (dialog.open) return;
        dialog.showModal();
        try {
            show((await gateway.json("languages.json")).languages);
            problem.hidden = true;
        } catch (error) {
            problem.hidden = false;
            say(problem, error.message);
        }
    });
}

function ownName(tag) {
    try {
        return new Intl.DisplayNames([tag], { type: "language" }).of(tag);
    } catch {
        // A tag of an operator's own.
        return tag;
    }
}

if ($("language")) bindLanguage($("language"));

const storageKey = "lectern-dark-board";

/** Gives a group the button that switches a board to a dark one, a view of this browser alone, and binds the key B. */
export function bindDarkBoard(board, group) {
    const button = iconButton("dark-board", t("Dark board"), "B");
    group.append(button);
    const set = (isDark) => {
        board.isDark = isDark;
        button.setAttribute("aria-pressed", String(isDark));
    };
    set(remembered(storageKey) === "on");
    const toggle = () => {
        set(!board.isDark);
        remember(storageKey, board.isDark ? "on" : "off");
    };
    button.addEventListener("click", toggle);
    // What is below the ink: with the picture, so that no ink is unseen.
    board.addEventListener("ground", ({ detail }) => $("sheet").toggleAttribute("data-dark", detail.isDark));
    document.addEventListener("keydown", (event) => letterKeys.of(event) === "b" && toggle());
}
