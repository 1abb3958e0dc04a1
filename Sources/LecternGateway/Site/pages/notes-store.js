/**
 * Notes of one's own, by room and page, kept in this browser and nowhere else.
 *
 * @module
 */

/** Characters of all notes that this browser keeps for these pages, keys included. */
const mostCharacters = 2 ** 21;
/** Steps of a page that can be undone. */
const mostSteps = 100;
/** Places and widths are kept in parts of a board unit, each of them less than a pixel where the page is seen 16 times larger. */
const parts = 64;
/** What all keys of notes begin with, those of other rooms too. */
const family = "lectern-notes ";

/**
 * A stroke of a note; it never changes.
 *
 * @typedef {object} Note
 * @property {number} colour its number among the colours of notes
 * @property {number} width in board units
 * @property {number[]} points x and y of each point in board units
 */

/** The notes of a room. Event: `change`, with `{page}`, where another page of this browser has changed them. */
export class NotesStore extends EventTarget {
    #prefix;
    /** Notes of pages, and the notes before each step. */
    #pages = new Map();
    #steps = new Map();
    /** Characters of all notes but those of a key; null until they are counted. */
    #beside = null;

    /** @param {string} path of the gateway: several may share an origin @param {string} room */
    constructor(path, room) {
        super();
        this.#prefix = `${family}${path}${room} `;
        addEventListener("storage", ({ key }) => {
            this.#beside = null;
            if (key !== null && !key.startsWith(this.#prefix)) return;
            const pages = key === null ? [...this.#pages.keys()] : [Number(key.slice(this.#prefix.length))];
            for (const page of pages) {
                this.#pages.delete(page);
                this.#steps.delete(page);
                this.dispatchEvent(new CustomEvent("change", { detail: { page } }));
            }
        });
    }

    /** The notes of a page, from the bottom to the top. @returns {readonly Note[]} */
    on(page) {
        if (!this.#pages.has(page)) this.#pages.set(page, this.#read(page));
        return this.#pages.get(page);
    }

    /** Whether there is a step of a page to be undone. */
    canUndo(page) {
        return (this.#steps.get(page)?.length ?? 0) > 0;
    }

    /**
     * Changes the notes of a page, as one step.
     *
     * @returns {"" | "full" | "unkept"} `full`: nothing has changed, for no more is kept; `unkept`: the browser keeps nothing
     */
    change(page, notes) {
        const before = this.on(page);
        const outcome = this.#write(page, notes);
        if (outcome === "full") return outcome;
        this.#steps.set(page, [...(this.#steps.get(page) ?? []), before].slice(-mostSteps));
        return outcome;
    }

    /** Takes the last step of a page back. @returns as {@link change} */
    undo(page) {
        const steps = this.#steps.get(page) ?? [];
        if (steps.length === 0) return "";
        const outcome = this.#write(page, steps.at(-1));
        if (outcome !== "full") steps.pop();
        return outcome;
    }

    #read(page) {
        try {
            const [stored, ...notes] = JSON.parse(localStorage.getItem(this.#prefix + page) ?? "[]");
            return notes.map((note) => noteOf(note, stored));
        } catch {
            return [];
        }
    }

    #write(page, notes) {
        const key = this.#prefix + page;
        const text = `[${[parts, ...notes.map(textOf)]}]`;
        try {
            if (notes.length === 0) localStorage.removeItem(key);
            else {
                const isMore = text.length > (localStorage.getItem(key)?.length ?? 0);
                if (isMore && this.#charactersBeside(key) + key.length + text.length > mostCharacters) return "full";
                localStorage.setItem(key, text);
            }
        } catch (error) {
            if (error.name === "QuotaExceededError" || text.length > mostCharacters) return "full";
            this.#pages.set(page, notes);
            return "unkept";
        }
        this.#pages.set(page, notes);
        return "";
    }

    #charactersBeside(key) {
        if (this.#beside?.key !== key) {
            const others = Object.keys(localStorage).filter((other) => other.startsWith(family) && other !== key);
            this.#beside = { key, count: others.reduce((sum, other) => sum + other.length + localStorage.getItem(other).length, 0) };
        }
        return this.#beside.count;
    }
}

/** Notes never change. */
const texts = new WeakMap();

/** A note as whole numbers: colour, width, the first place, and how far each further one is from the one before. */
function textOf(note) {
    if (!texts.has(note)) {
        const { colour, width, points } = note;
        const places = points.map((number) => Math.round(number * parts));
        const steps = places.map((place, at) => (at < 2 ? place : place - places[at - 2]));
        texts.set(note, JSON.stringify([colour, Math.max(Math.round(width * parts), 1), ...steps]));
    }
    return texts.get(note);
}

function noteOf([colour, width, ...steps], unit) {
    if (![unit, colour, width, ...steps].every(Number.isFinite) || steps.length < 2) throw new Error("no note");
    const places = [];
    for (const step of steps) places.push(places.length < 2 ? step : places.at(-2) + step);
    return { colour, width: width / unit, points: places.map((place) => place / unit) };
}
