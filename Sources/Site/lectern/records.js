/** What the core tells of a board: records of words, see Sources/WebCore/Records.swift. */

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

/** The kinds of the core's records; see `Records.swift`. */
export const Kind = Object.freeze({
    joined: 1, incarnation: 2, operation: 3, index: 4, pages: 5, wet: 6, named: 7, skew: 8, gate: 9, clock: 10, covered: 11,
    restart: 12, painted: 13, image: 14, lesson: 15, request: 16, pointers: 17, visits: 18,
});

/** What a call of the core is told, in the order of its description: bytes as the core has them, the least first. */
export class Input {
    #bytes = new Uint8Array(256);
    #view = new DataView(this.#bytes.buffer);
    #size = 0;

    get bytes() {
        return this.#bytes.subarray(0, this.#size);
    }

    byte(value) {
        // Reserving may put another view in the place of this one.
        const place = this.#reserve(1);
        this.#view.setUint8(place, value);
        return this;
    }

    word(value) {
        const place = this.#reserve(4);
        this.#view.setUint32(place, Number(value), true);
        return this;
    }

    words(values) {
        for (const value of values) this.word(value);
        return this;
    }

    /** NaN where it is undefined. */
    number(value) {
        const place = this.#reserve(8);
        this.#view.setFloat64(place, value ?? NaN, true);
        return this;
    }

    numbers(values) {
        for (const value of values) this.number(value);
        return this;
    }

    /** Text or bytes without their number. */
    raw(value) {
        const at = typeof value === "string" ? null : this.#reserve(value.length);
        if (at === null) this.#write(value);
        else this.#bytes.set(value, at);
        return this;
    }

    /** Text or bytes behind their number. */
    data(value = "") {
        if (typeof value !== "string") return this.word(value.length).raw(value);
        const at = this.#reserve(4);
        const written = this.#write(value);
        this.#view.setUint32(at, written, true);
        return this;
    }

    list(values) {
        return this.word(values.length).words(values);
    }

    corners(points) {
        return this.word(points.length).places(points);
    }

    places(points) {
        for (const { x, y } of points) this.number(x).number(y);
        return this;
    }

    /** An entry of a page; without a message one that the core has. */
    entry(id, message) {
        return this.number(id).data(message ? JSON.stringify(message) : "");
    }

    #write(text) {
        // No character takes more.
        const at = this.#reserve(3 * text.length);
        const { written } = encoder.encodeInto(text, this.#bytes.subarray(at));
        this.#size = at + written;
        return written;
    }

    /** Room for so many bytes; returns where it begins. */
    #reserve(count) {
        const at = this.#size;
        this.#size += count;
        if (this.#size > this.#bytes.length) {
            const bytes = new Uint8Array(Math.max(this.#size, 2 * this.#bytes.length));
            bytes.set(this.#bytes);
            [this.#bytes, this.#view] = [bytes, new DataView(bytes.buffer)];
        }
        return at;
    }
}

/** An answer of the core, or a record of one, read in its order. */
export class RecordReader {
    #view;
    #at;

    constructor(view, kind = 0, at = 0) {
        [this.#view, this.kind, this.#at] = [view, kind, at];
    }

    word() {
        return this.#view.getUint32((this.#at += 4) - 4, true);
    }

    number() {
        return this.#view.getFloat64((this.#at += 8) - 8, true);
    }

    /** `#rrggbb`. */
    colour() {
        return `#${this.word().toString(16).padStart(6, "0")}`;
    }

    digest() {
        const [low, high] = [this.word(), this.word()];
        return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
    }

    bytes() {
        const size = this.word();
        const bytes = new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#at, size);
        this.#at += (size + 3) & ~3;
        return bytes;
    }

    text() {
        return decoder.decode(this.bytes());
    }

    /** So many of what `read` reads. */
    times(count, read) {
        return Array.from({ length: count }, read);
    }

    /** Behind its number. */
    list(read) {
        return this.times(this.word(), read);
    }

    words() {
        return this.list(() => this.word());
    }
}

/** What is drawn: the values of a message's `e`. */
export const Element = Object.freeze({
    freehand: 0, line: 1, ellipse: 2, rectangle: 3, eraser: 4, image: 5, lasso: 6, pointer: 7, text: 8, highlighter: 9, arrow: 10,
});

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
    return record.list(() => {
        const [colour, width] = [record.colour(), record.number()];
        const trail = record.times(record.word() + 1, () => [record.number(), record.number(), record.number()]);
        return { colour, width, tip: trail.pop(), trail };
    });
}

/** When pages came to be shown: `{index, time, page}` of each, times in milliseconds, NaN where they are not known. */
export function visitsOf(record) {
    return record.list(() => ({ index: record.number(), time: record.number(), page: record.word() }));
}

/** The operation of a record. */
export function operationOf(record) {
    const [index, page, ref, late] = [record.number(), record.word(), record.number(), record.word()];
    const [digest, author, text] = [record.digest(), record.text(), record.text()];
    let message;
    return {
        index, author, page, ref: Number.isNaN(ref) ? undefined : ref, late: late === 1 ? true : undefined, digest,
        // Few look at it.
        get message() { return (message ??= JSON.parse(text)); },
    };
}
