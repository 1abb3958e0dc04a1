/**
 * What people are called: a name as it was typed, and the author that it stands for.
 *
 * A room knows authors, which are tokens of subjects: a to z, 0 to 9, _ and -. The name that is shown comes with what its author
 * draws, under the key `by` of the message: so it is in the room's log, and with that in joins and replays.
 *
 * @module
 */

/** Characters of a name. */
const most = 64;
/** Control characters, line ends, halves of characters, and what turns the direction of the text around it. */
const unusable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;
/** Something of a name is seen. */
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** Authors whose names are remembered. */
const mostKnown = 1000;

/** Whether a text is a name: 1 to 64 characters, none of them a control character or an override of directions. */
export function isName(text) {
    const name = cleanName(text);
    return name !== "" && name === text.trim();
}

/** What of a value can be shown as a name; "" where it is none. */
export function cleanName(value) {
    if (typeof value !== "string" || !visible.test(value)) return "";
    return [...value.replace(unusable, "").trim()].slice(0, most).join("").trim();
}

/**
 * The author that a name stands for: its letters and digits without accents, in lower case. Where letters of other scripts are left
 * out, a hash of the name is added, so that two names are two authors.
 */
export function authorOf(name) {
    const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
    const letters = plain.replace(/[^a-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "");
    if (letters !== "" && /^[\x20-\x7e]*$/.test(plain)) return letters.slice(0, most);
    return `${letters.slice(0, most - 8) || "n"}-${hash(name.normalize("NFC").toLowerCase().trim())}`;
}

/** FNV-1a of 32 bits, in base 36. */
function hash(text) {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
    return value.toString(36);
}

/** The names of a room's authors, as their operations tell them. */
export class AuthorNames {
    #names = new Map();

    /** Notes the name in a message of an author; the last one counts. */
    note(author, { by }) {
        const name = by === undefined ? "" : cleanName(by);
        if (name === "" || this.#names.get(author) === name) return;
        this.#names.set(author, name);
        if (this.#names.size > mostKnown) this.#names.delete(this.#names.keys().next().value);
    }

    /** The name of an author; where none is known, the author. */
    of(author) {
        return this.#names.get(author) ?? author;
    }
}
