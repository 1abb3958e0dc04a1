/**
 * What the core tells of a board: records of words, see Sources/WebCore/Records.swift.
 *
 * @module
 */

const reader = new TextDecoder();

/** The kinds of the core's records; see `Records.swift`. */
export const Kind = Object.freeze({
    joined: 1, incarnation: 2, operation: 3, index: 4, pages: 5, wet: 6, named: 7, skew: 8, gate: 9, clock: 10, covered: 11,
    restart: 12, painted: 13, image: 14, lesson: 15, request: 16, pointers: 17, visits: 18,
});

/** What a record says, read in order. */
export class RecordReader {
    #view;
    #at;

    constructor(view, kind, at) {
        [this.#view, this.kind, this.#at] = [view, kind, at];
    }

    word() {
        return this.#view.getUint32((this.#at += 4) - 4, true);
    }

    words() {
        return Array.from({ length: this.word() }, () => this.word());
    }

    float() {
        return this.#view.getFloat64((this.#at += 8) - 8, true);
    }

    digest() {
        const [low, high] = [this.word(), this.word()];
        return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
    }

    text() {
        const size = this.word();
        const text = reader.decode(new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#at, size));
        this.#at += (size + 3) & ~3;
        return text;
    }
}

/** The papers of pages by their numbers: that of a ruling is its `p` in messages. */
export const papers = ["blank", "lines", "squares", "dots", "staves", "slide"];

/** `{shown, order, hidden, papers}` of a record of pages; `papers` has the kind of each page that has one. */
export function pagesOf(record) {
    const pages = { shown: record.word(), order: record.words(), hidden: record.words(), papers: {} };
    const laid = record.words();
    for (let place = 0; place + 1 < laid.length; place += 2) pages.papers[laid[place]] = papers[laid[place + 1]];
    return pages;
}

/** The pointers of a record: colour, line width, and places `[x, y, opacity]` in board units; a tip of opacity 0 is not seen. */
export function pointersOf(record) {
    return Array.from({ length: record.word() }, () => {
        const [colour, width] = [`#${record.word().toString(16).padStart(6, "0")}`, record.float()];
        const trail = Array.from({ length: record.word() + 1 }, () => [record.float(), record.float(), record.float()]);
        return { colour, width, tip: trail.pop(), trail };
    });
}

/** When pages came to be shown: `{index, time, page}` of each, times in milliseconds, NaN where they are not known. */
export function visitsOf(record) {
    return Array.from({ length: record.word() }, () => ({ index: record.float(), time: record.float(), page: record.word() }));
}

/** The operation of a record. */
export function operationOf(record) {
    const [index, page, ref, late] = [record.float(), record.word(), record.float(), record.word()];
    const [digest, author, text] = [record.digest(), record.text(), record.text()];
    let message;
    return {
        index, author, page, ref: Number.isNaN(ref) ? undefined : ref, late: late === 1 ? true : undefined, digest,
        // Few look at it.
        get message() { return (message ??= JSON.parse(text)); },
    };
}
