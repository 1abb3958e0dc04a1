/**
 * The texts of pages and elements in the reader's language.
 *
 * English stands where it is shown, and is the key of its translations. `languages/zh.json` has the Chinese ones; who runs a
 * server adds others with the setting `http.languages`. The server chooses by what the browser asks for; `?language=zh` in the
 * address of a page asks for another, and so does the reader, who is remembered.
 */

import { remember, remembered } from "./dom.js";

/** The gateway that this file came from, where it is `lectern/language.js`, also in the folder of a release. */
export const home = new URL("../", import.meta.url).href.replace(/\/assets\/[^/]+\/$/, "/");

/** The attributes that are read. */
const attributes = ["aria-label", "alt", "placeholder", "title"];
const english = { language: "en", texts: Object.create(null) };
const storageKey = "lectern-language";
/** Milliseconds that a page waits for its texts. */
const loadTime = 5000;

let known = english;

/** Settles when the language is known; null where it is English, which needs nothing. */
export const loading = load();

function load() {
    const wanted = new URLSearchParams(globalThis.location?.search).get("language") || remembered(storageKey);
    if (/^en\b/i.test(wanted ?? globalThis.navigator?.languages?.[0] ?? "en")) return null;
    const address = new URL("language.json", home);
    if (wanted) address.searchParams.set("language", wanted);
    // Better English than nothing.
    return fetch(address, { signal: AbortSignal.timeout(loadTime) }).then(async (reply) => {
        const found = reply.ok ? await reply.json() : english;
        // What every object has is no text.
        known = { ...found, texts: Object.assign(Object.create(null), found.texts) };
    }).catch(() => {});
}

/** The tag of the language that is shown. */
export function languageInUse() {
    return known.language;
}

/** The locale of times and dates: where the page is in English, the browser's own. */
export function localeInUse() {
    const { language } = known;
    if (language === "en") return undefined;
    try {
        return navigator.languages.find((tag) => `${tag}-`.startsWith(`${language}-`)) ?? Intl.getCanonicalLocales(language)[0];
    } catch {
        // A tag of an operator's own.
        return undefined;
    }
}

/** Loads the page in another language, by its tag, which pages of this browser have from now on. */
export function changeLanguage(language) {
    remember(storageKey, language);
    const address = new URL(location.href);
    // What the address asks for comes first.
    if (remembered(storageKey) !== language) address.searchParams.set("language", language);
    else if (address.searchParams.has("language")) address.searchParams.delete("language");
    else return location.reload();
    location.replace(address);
}

/** A text in the reader's language, by the English one, with values for names in braces: `"{count} strokes"`. `count` chooses a plural. */
export function t(text, values = {}) {
    let found = known.texts[text] ?? text;
    if (typeof found === "object") found = found[new Intl.PluralRules(known.language).select(values.count)] ?? found.other;
    return found.replace(/\{(\w+)\}/g, (whole, name) => isolated(values[name] ?? whole));
}

/**
 * A value as a text with a direction of its own, such as `< 13 ms`: in a page from right to left its signs would change sides
 * (UAX 9, FSI).
 *
 * @param {string | number} value
 */
export function isolated(value) {
    return known.direction === "rtl" ? `\u2068${value}\u2069` : String(value);
}

/** Marks a text that is translated where it is shown. */
export function mark(text) {
    return text;
}

/** Has markup in the reader's language: its texts, each as a whole. A document gets the language and its direction, too. */
export function translate(root) {
    if (known.language === "en") return;
    if (root.documentElement) {
        [root.documentElement.lang, root.documentElement.dir] = [known.language, known.direction ?? "ltr"];
    }
    const walker = (root.ownerDocument ?? root).createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode()); ) {
        const text = node.data.trim();
        if (text in known.texts) node.data = node.data.replace(text, () => t(text));
    }
    for (const name of attributes) {
        for (const element of root.querySelectorAll(`[${name}]`)) {
            // Some end with their keys: `Undo (Ctrl Z)`.
            const [, text, keys] = /^(.*?)( \([^()]*\))?$/s.exec(element.getAttribute(name));
            const whole = `${text}${keys ?? ""}`;
            element.setAttribute(name, whole in known.texts ? t(whole) : `${t(text)}${keys ?? ""}`);
        }
    }
}

/** What the codes of errors mean, where the server's own sentence has no translation. */
const meanings = {
    "bad-request": mark("The server does not take this request."),
    unauthorized: mark("This needs a link that counts."),
    forbidden: mark("Your link does not allow this."),
    "not-found": mark("The server does not know this."),
    "unknown-room": mark("There is no such room."),
    "unknown-cohort": mark("There is no such cohort."),
    "unknown-index": mark("The board of that moment is no longer there."),
    "unknown-asset": mark("There is no such file."),
    "unknown-page": mark("There is no such page."),
    "last-page": mark("The only page of a board stays."),
    gone: mark("The log no longer holds the beginning of the lesson."),
    "too-large": mark("It is too large."),
    "too-many-points": mark("It has too many points."),
    "too-many-shards": mark("It has too many parts."),
    "too-many-pages": mark("It has too many pages."),
    "too-many-muted": mark("Too many authors are muted."),
    "too-many-readers": mark("The server has all the readers that it can serve."),
    unreadable: mark("The file cannot be read."),
    "needs-password": mark("The file needs a password."),
    "assets-full": mark("There is no more place for files."),
    "list-full": mark("The list is full."),
    "no-sandbox": mark("This server takes no files."),
    "no-journal": mark("This server keeps no log."),
    "no-signing-key": mark("This server makes no links."),
    "not-ready": mark("The server is busy, or starts; try again in a moment."),
    timeout: mark("The service did not answer in time; try again in a moment."),
    incomplete: mark("Not all of it was made."),
    unsupported: mark("This server does not offer that."),
    internal: mark("The server has failed."),
    "bad-gateway": mark("The answer of the service cannot be read."),
    unavailable: mark("The server cannot be reached."),
    "rate-limited": mark("Too much at a time; try again in a moment."),
    "too-late": mark("The page was cleared before it came."),
    "room-full": mark("The board is full."),
    muted: mark("You are muted."),
    "session-over": mark("You write from another device."),
    "nothing-to-undo": mark("There is nothing to undo."),
    "nothing-to-redo": mark("There is nothing to redo."),
    "nothing-to-remove": mark("It is no longer there."),
    "out-of-range": mark("A value is not allowed."),
};

/** The sentence of an error of the server, whose message is in English. */
export function reasonOf(code, message) {
    const found = t(message);
    return known.language === "en" || found !== message || !Object.hasOwn(meanings, code) ? found : t(meanings[code]);
}
