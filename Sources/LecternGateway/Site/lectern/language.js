/**
 * The texts of pages and elements in the reader's language.
 *
 * English stands where it is shown, and is the key of its translations. `languages/zh.json` has the Chinese ones; who runs a
 * server adds others with the setting `http.languages`. The server chooses by what the browser asks for; `?language=zh` in the
 * address of a page asks for another.
 *
 * @module
 */

/** The gateway that this file came from, where it is `lectern/language.js`, also in the folder of a release. */
export const home = new URL("../", import.meta.url).href.replace(/\/assets\/[^/]+\/$/, "/");

/** The attributes that are read. */
const attributes = ["aria-label", "alt", "placeholder", "title"];
const english = { language: "en", texts: Object.create(null) };

let known = english;

/** Settles when the language is known; null where it is English, which needs nothing. */
export const loading = load();

function load() {
    const wanted = new URLSearchParams(globalThis.location?.search).get("language");
    if (/^en\b/i.test(wanted ?? globalThis.navigator?.languages?.[0] ?? "en")) return null;
    const address = new URL("language.json", home);
    if (wanted) address.searchParams.set("language", wanted);
    // Better English than nothing.
    return fetch(address).then(async (reply) => {
        const found = reply.ok ? await reply.json() : english;
        // What every object has is no text.
        known = { ...found, texts: Object.assign(Object.create(null), found.texts) };
    }).catch(() => {});
}

/**
 * A text in the reader's language.
 *
 * @param {string} text in English, with names in braces for what is put in: `"{count} strokes"`
 * @param {Record<string, string | number>} [values] what is put in; `count` chooses the form of a plural
 */
export function t(text, values = {}) {
    let found = known.texts[text] ?? text;
    if (typeof found === "object") found = found[new Intl.PluralRules(known.language).select(values.count)] ?? found.other;
    return found.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** Marks a text that is translated where it is shown. */
export function mark(text) {
    return text;
}

/**
 * Has markup in the reader's language: its texts, each as a whole. A document gets the language and its direction, too.
 *
 * @param {Document | ShadowRoot} root
 */
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
