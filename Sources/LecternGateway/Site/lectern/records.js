/**
 * What the core tells of a board: records of words, see Sources/WebCore/Records.swift.
 *
 * @module
 */

const reader = new TextDecoder();

/** The kinds of the core's records; see `Records.swift`. */
export const Kind = Object.freeze({
    joined: 1, incarnation: 2, operation: 3, index: 4, pages: 5, wet: 6, named: 7, skew: 8, gate: 9, clock: 10, covered: 11,
    restart: 12, painted: 13, image: 14, lesson: 15, request: 16,
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
        const text = reader.decode(new Uint8Array(this.#view.buffer, this.#at, size));
        this.#at += (size + 3) & ~3;
        return text;
    }
}

/** `{shown, order, hidden}` of a record of pages. */
export function pagesOf(record) {
    return { shown: record.word(), order: record.words(), hidden: record.words() };
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
