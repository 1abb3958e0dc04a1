/**
 * The time of day of places in a live HLS video that the browser plays by itself, where it has no `getStartDate`.
 *
 * The browser says which segments it has loaded (Resource Timing), and the playlist says when each begins
 * (EXT-X-PROGRAM-DATE-TIME). A place is known where both agree: a run of segments that is as long as what is buffered.
 */

/** Milliseconds between two looks, before a place is known and afterwards. */
const [interval, slowInterval] = [500, 4000];
/** Looks in a row that have to agree. */
const agreeing = 3;
/** A playing video that could not be placed in so many milliseconds, and three segments, counts as undated. */
const patience = 10_000;
/** By how much of its shortest segment a run may be longer or shorter than what is buffered: some pictures come late. */
const tolerance = 0.4;
/** Milliseconds by which dates and durations in a playlist may disagree. */
const datesTolerance = 250;
/** Segments that are remembered, and the longest playlist that is read, in characters. */
const mostSegments = 500;
const mostText = 4 << 20;

/**
 * The segments of a media playlist, or the addresses of a multivariant playlist's: durations in seconds, dates in milliseconds, NaN where
 * the playlist has none.
 */
export function parsePlaylist(text, base) {
    const [segments, variants] = [[], []];
    let [duration, date, isVariant] = [NaN, NaN, false];
    for (const line of text.split(/\r?\n/)) {
        const value = line.slice(line.indexOf(":") + 1);
        if (line.startsWith("#EXTINF:")) duration = parseFloat(value);
        else if (line.startsWith("#EXT-X-PROGRAM-DATE-TIME:")) date = dateOf(value);
        else if (line.startsWith("#EXT-X-DISCONTINUITY") && !line.includes("SEQUENCE")) date = NaN;
        else if (line.startsWith("#EXT-X-STREAM-INF:")) isVariant = true;
        else if (line !== "" && !line.startsWith("#")) {
            const url = new URL(line, base).href;
            if (isVariant) variants.push(url);
            else segments.push({ url, duration, date });
            // RFC 8216, 4.3.2.6: the date goes on with the segments that follow.
            [date, duration, isVariant] = [date + duration * 1000, NaN, false];
        }
    }
    return { segments, variants };
}

/** ISO 8601, also with a zone without a colon, as FFmpeg writes it. */
function dateOf(text) {
    return Date.parse(text.trim().replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
}

/** Follows a video element; `begin` is what `getStartDate` would say. */
export class PlaylistDates {
    /** The time of day of place 0 in milliseconds; NaN while it is not known. */
    begin = NaN;
    /** Whether it plays a live video whose places have no date that is certain. */
    isUndated = false;
    #video;
    #playlist;
    /** Segments by address, in the order in which playlists listed them, and the addresses that the browser has loaded. */
    #segments = new Map();
    #loaded = new Set();
    #observer;
    #timer = null;
    #closing = new AbortController();
    /** The address of the first segment of the run that was placed. */
    #first = "";
    /** Whether the dates have jumped since the video was loaded. */
    #hasJumped = false;
    #playingSince = null;
    /** Looks that found the same place, and the segments that were last in them. */
    #agreed = { begin: NaN, looks: 0, last: new Set() };

    constructor(video, source) {
        [this.#video, this.#playlist] = [video, new URL(source, location.href).href];
        video.addEventListener("emptied", () => this.#restart(), { signal: this.#closing.signal });
        this.#observer = new PerformanceObserver((list) => this.#note(list.getEntries()));
        this.#observer.observe({ type: "resource", buffered: true });
        this.#look();
    }

    close() {
        this.#observer.disconnect();
        clearTimeout(this.#timer);
        this.#closing.abort();
    }

    /** The video is loaded again, and its places are others. */
    #restart() {
        this.#observer.takeRecords();
        this.#loaded.clear();
        this.#segments.clear();
        [this.begin, this.isUndated, this.#hasJumped, this.#playingSince] = [NaN, false, false, null];
        this.#agreed = { begin: NaN, looks: 0, last: new Set() };
    }

    #note(entries) {
        for (const { initiatorType, name } of entries) {
            if (initiatorType === "video") this.#loaded.add(name);
        }
        if (this.#loaded.size > 2 * mostSegments) this.#loaded = new Set([...this.#loaded].slice(-mostSegments));
    }

    async #look() {
        const { readyState, duration, paused, srcObject } = this.#video;
        if (readyState >= HTMLMediaElement.HAVE_METADATA) {
            // A recording begins at 0, and so does what has no address.
            if (Number.isFinite(duration) || srcObject) {
                this.begin = 0;
                return this.close();
            }
            if (!paused) this.#playingSince ??= performance.now();
            try {
                const listed = await this.#read();
                if (Number.isFinite(this.begin)) this.#check(listed);
                else if (!this.#hasJumped) this.#place();
            } catch {
                // Its server does not let this page read it, or it is no playlist.
            }
            const longest = Math.max(0, ...[...this.#segments.values()].map((segment) => segment.duration));
            const limit = patience + 3000 * longest;
            if (Number.isNaN(this.begin) && this.#playingSince !== null && performance.now() - this.#playingSince > limit) this.isUndated = true;
        }
        if (this.#closing.signal.aborted) return;
        this.#timer = setTimeout(() => this.#look(), Number.isFinite(this.begin) || this.isUndated ? slowInterval : interval);
    }

    /** Reads the playlist, of several variants the one that is played; returns the segments that are listed now. */
    async #read() {
        const reply = await fetch(this.#playlist, { cache: "no-store", signal: AbortSignal.timeout(patience) });
        const text = reply.ok ? await reply.text() : "";
        if (!text.startsWith("#EXTM3U") || text.length > mostText) throw new Error("no playlist");
        const { segments, variants } = parsePlaylist(text, reply.url);
        const played = variants.find((url) => this.#loaded.has(url));
        if (played) this.#playlist = played;
        for (const segment of segments) this.#segments.set(segment.url, segment);
        for (const url of [...this.#segments.keys()].slice(0, -mostSegments)) this.#segments.delete(url);
        return segments;
    }

    /** Looks for the run of segments that is buffered. */
    #place() {
        this.#note(this.#observer.takeRecords());
        const { buffered } = this.#video;
        if (buffered.length !== 1) return;
        const order = [...this.#segments.values()];
        const last = order.findLastIndex(({ url }) => this.#loaded.has(url));
        let first = last;
        while (first > 0 && this.#loaded.has(order[first - 1].url)) first--;
        const run = order.slice(Math.max(first, 0), last + 1);
        let excess = run.reduce((sum, { duration }) => sum + duration, 0) - (buffered.end(0) - buffered.start(0));
        const most = tolerance * Math.min(...run.map(({ duration }) => duration));
        // The first one of a playlist may have been loaded to see what it is, and is not played.
        if (run.length > 1 && excess > most) excess -= run.shift().duration;
        const begin = run.length > 0 && Math.abs(excess) <= most ? run[0].date - buffered.start(0) * 1000 : NaN;
        if (Number.isNaN(begin) || begin !== this.#agreed.begin) this.#agreed = { begin, looks: 0, last: new Set() };
        this.#agreed.looks++;
        this.#agreed.last.add(order[last]?.url);
        // Of a segment that is loaded and not buffered yet the next look shows more.
        if (this.#agreed.looks < agreeing || this.#agreed.last.size < 2) return;
        this.begin = begin;
        this.isUndated = false;
        this.#first = run[0].url;
    }

    /** Looks whether the dates go on with the places: an encoder that begins anew, or a gap, makes them uncertain. */
    #check(listed) {
        // All of them are later once the first one that was played is listed no more.
        const played = listed.slice(Math.max(listed.findIndex(({ url }) => url === this.#first), 0));
        for (const [place, { date }] of played.entries()) {
            const before = played[place - 1];
            if (!before || Math.abs(date - before.date - before.duration * 1000) <= datesTolerance) continue;
            [this.begin, this.isUndated, this.#hasJumped] = [NaN, true, true];
            return;
        }
    }
}
