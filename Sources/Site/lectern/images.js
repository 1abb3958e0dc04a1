/** Pictures of the assets and texts that a board shows, as large as they are seen. */

import { Backoff, now } from "./gateway.js";

/** Decoded pictures in bytes, of one and of all. */
const mostBytes = 64 << 20;
const mostBytesOfOne = 16 << 20;
/** The least width in pixels that is asked for. */
const leastWidth = 64;
/** Requests at a time, and tries until an image that is not drawn again is left alone: some minutes. */
const mostRequests = 4;
const mostTries = 12;

/** A page of an asset. */
class AssetPicture {
    bitmap = null;
    /** The width that it is drawn with, and the one that was asked for. */
    wanted = 0;
    width = 0;
    /** Its height by its width, 0 while that is not known, and the width at which it has all of its pixels. */
    shape = 0;
    most = Infinity;
    /** When it was drawn last, and in which pass. */
    drawnAt = 0;
    pass = 0;
    isLoading = false;
    retryAt = 0;
    tries = 0;
    backoff = new Backoff({ first: 2000, most: 60_000 });

    constructor(asset, page) {
        [this.asset, this.page] = [asset, page];
    }

    get bytes() {
        return this.bitmap ? this.bitmap.width * this.bitmap.height * 4 : 0;
    }

    /** Bytes of a picture of it that is asked for with a width. */
    bytesAt(width) {
        return Math.min(4 * Math.min(width, this.most) ** 2 * this.shape, mostBytesOfOne);
    }
}

/** Fetches pictures of assets, and keeps those that were drawn last within 64 MiB. */
export class ImageStore {
    /** Called with an asset and its page when there is another picture of it. */
    onpicture = () => {};
    #gateway;
    #room;
    #cohort;
    #pictures = new Map();
    #queue = [];
    #requests = 0;
    /** Widths are divided by it, where more is seen at a time than may be kept. */
    #divisor = 1;
    #pass = 0;
    #timer = null;
    #isClosed = false;

    /**
     * @param {import("./gateway.js").Gateway} gateway
     * @param {string} room
     * @param {() => string | undefined} cohort whose view of the room it is
     */
    constructor(gateway, room, cohort) {
        [this.#gateway, this.#room, this.#cohort] = [gateway, room, cohort];
    }

    /** All of a page is drawn anew: what is asked for until the next call is seen together. */
    startPass() {
        const seen = [...this.#pictures.values()].filter(({ pass }) => pass === this.#pass);
        const isTooMuch = () => seen.reduce((sum, entry) => sum + entry.bytesAt(entry.wanted / this.#divisor), 0) > mostBytes;
        for (this.#divisor = 1; isTooMuch(); ) this.#divisor *= 2;
        this.#pass++;
    }

    /**
     * A picture of a page of an asset, to be drawn now; null while there is none. What is missing or too small is fetched.
     *
     * @param {string} asset its id
     * @param {number} page from 0
     * @param {number} width the width in pixels that it is to be fetched with
     * @returns {ImageBitmap | null}
     */
    picture(asset, page, width) {
        const key = `${asset} ${page}`;
        let entry = this.#pictures.get(key);
        if (!entry) this.#pictures.set(key, (entry = new AssetPicture(asset, page)));
        [entry.drawnAt, entry.pass, entry.wanted] = [now(), this.#pass, width];
        width = Math.max(Math.floor(width / this.#divisor), leastWidth);
        if (width !== entry.width) {
            entry.width = width;
            this.#want(entry);
        } else if (!entry.bitmap) this.#want(entry);
        return entry.bitmap;
    }

    /** An operation shows an asset: what could not be had before is asked for again. */
    retry(asset) {
        for (const entry of this.#pictures.values()) {
            if (entry.asset !== asset || entry.bitmap) continue;
            [entry.retryAt, entry.tries] = [0, 0];
            entry.backoff.reset();
            // One that waits for its turn waits no longer.
            if (entry.isLoading) this.#pump();
            else this.#want(entry);
        }
    }

    /** Ends all requests that wait. */
    close() {
        this.#isClosed = true;
        clearTimeout(this.#timer);
        for (const { bitmap } of this.#pictures.values()) bitmap?.close();
        this.#pictures.clear();
    }

    #want(entry) {
        if (entry.isLoading) return;
        entry.isLoading = true;
        this.#queue.push(entry);
        this.#pump();
    }

    #pump() {
        clearTimeout(this.#timer);
        if (this.#isClosed || this.#requests >= mostRequests) return;
        const time = now();
        const ready = this.#queue.findIndex(({ retryAt }) => retryAt <= time);
        if (ready < 0) {
            const next = Math.min(...this.#queue.map(({ retryAt }) => retryAt));
            if (Number.isFinite(next)) this.#timer = setTimeout(() => this.#pump(), next - time);
            return;
        }
        const [entry] = this.#queue.splice(ready, 1);
        this.#requests++;
        this.#load(entry).finally(() => {
            this.#requests--;
            this.#pump();
        });
        this.#pump();
    }

    async #load(entry) {
        const { asset, page, width } = entry;
        try {
            const reply = await this.#gateway.request(`api/rooms/${encodeURIComponent(this.#room)}/assets/${asset}`, {
                query: { cohort: this.#cohort(), page, width }, cache: "default",
            });
            const bitmap = await bounded(await createImageBitmap(await reply.blob(), { colorSpaceConversion: "none", premultiplyAlpha: "none" }));
            entry.isLoading = false;
            if (this.#isClosed) return bitmap.close();
            entry.bitmap?.close();
            [entry.bitmap, entry.shape, entry.tries] = [bitmap, bitmap.height / bitmap.width, 0];
            entry.most = bitmap.width < width ? bitmap.width : Infinity;
            entry.backoff.reset();
            this.#evict();
            this.onpicture(asset, page);
            if (entry.width !== width) this.#want(entry);
        } catch (error) {
            entry.isLoading = false;
            // Not there yet, or the server is busy: asked for again, ever more seldom.
            entry.retryAt = now() + entry.backoff.next(error.retryAfter ?? 0);
            const isWanted = !this.#isClosed && this.#pictures.get(`${asset} ${page}`) === entry;
            if (isWanted && ++entry.tries < mostTries) this.#want(entry);
        }
    }

    /** Closes the pictures that were drawn longest ago. Of those that are seen now the shape stays known: the next ones are smaller. */
    #evict() {
        const entries = [...this.#pictures.values()].sort((one, other) => one.drawnAt - other.drawnAt);
        let bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
        for (const entry of entries) {
            if (bytes <= mostBytes) return;
            bytes -= entry.bytes;
            entry.bitmap?.close();
            entry.bitmap = null;
            if (entry.pass !== this.#pass) this.#pictures.delete(`${entry.asset} ${entry.page}`);
        }
    }
}

/** The picture, made smaller where it has more bytes than one may have. */
async function bounded(bitmap) {
    const bytes = bitmap.width * bitmap.height * 4;
    if (bytes <= mostBytesOfOne) return bitmap;
    const part = Math.sqrt(mostBytesOfOne / bytes);
    const smaller = await createImageBitmap(bitmap, {
        resizeWidth: Math.max(Math.floor(bitmap.width * part), 1), resizeHeight: Math.max(Math.floor(bitmap.height * part), 1),
        resizeQuality: "high",
    });
    bitmap.close();
    return smaller;
}

/** The rules of `BoardText` in Sources/StrokeWire: the size of the font and the place of its base line, in heights of a line. */
export const [fontSize, baseline] = [0.8, 0.78];
export const fontFamily = "sans-serif";
/** All is laid out in this size, in pixels for the height of a line. */
const unit = 100;

/** The lines of a text, with a space for what would end a line elsewhere. */
export function linesOf(text) {
    return text.split("\n").map((line) => line.replace(/[\u2028\u2029\ufffe\uffff]/g, " "));
}

let measuring = null;

/** The width of the widest line of a text, in heights of a line. */
export function widthOf(text) {
    measuring ??= prepared(new OffscreenCanvas(1, 1).getContext("2d"));
    return Math.max(...linesOf(text).map((line) => measuring.measureText(line).width)) / unit;
}

/**
 * Draws a text, for the core to draw from, as fonts are the browser's: in its box, at the upper left corner or at the right one.
 *
 * @param {{text: string, colour: string, isRightToLeft: boolean, boxWidth: number, boxHeight: number}} text the box in board units
 * @param {number} width of the picture in pixels
 * @param {number} height
 * @returns {ImageData}
 */
export function textPicture({ text, colour, isRightToLeft, boxWidth, boxHeight }, width, height) {
    const context = prepared(new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true }));
    const lines = linesOf(text);
    const widest = widthOf(text);
    const lineHeight = Math.min(boxHeight / lines.length, widest > 0 ? boxWidth / widest : Infinity);
    context.scale((width / boxWidth) * (lineHeight / unit), (height / boxHeight) * (lineHeight / unit));
    context.fillStyle = colour;
    context.direction = isRightToLeft ? "rtl" : "ltr";
    context.textAlign = isRightToLeft ? "right" : "left";
    const x = isRightToLeft ? (boxWidth / lineHeight) * unit : 0;
    lines.forEach((line, number) => context.fillText(line, x, (number + baseline) * unit));
    return context.getImageData(0, 0, width, height);
}

function prepared(context) {
    context.font = `${unit * fontSize}px ${fontFamily}`;
    context.textBaseline = "alphabetic";
    return context;
}
