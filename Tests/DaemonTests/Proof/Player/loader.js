/**
 * Plays a live HLS stream of fragmented MP4 by Media Source, so that the page knows the time of each picture: by the program
 * date times of the playlist, or by the times in the pictures' SEI messages. Each segment is put to the place of its time:
 * seconds since the first one.
 *
 * Small, for one stream of one variant with one track; a page of a school has hls.js.
 */

const identifier = Uint8Array.from("2d5c8a1e7b344f0d9c62e1a80b97f456".match(/../g), (digits) => parseInt(digits, 16));

export class Loader {
    /** The media time of place 0, in milliseconds; NaN while unknown. */
    origin = NaN;
    /** Whether it has begun to play. */
    isPlaying = false;
    #video;
    #address;
    #carrier;
    #targets;
    #source = new MediaSource();
    #buffer;
    #timescale = 1;
    #next = null;
    #initialized = null;

    /**
     * @param {HTMLVideoElement} video
     * @param {string} address of the playlist
     * @param {"pdt" | "sei"} carrier where the times stand
     * @param {number} targets target durations that it begins before the end
     */
    constructor(video, address, carrier, targets) {
        [this.#video, this.#address, this.#carrier, this.#targets] = [video, address, carrier, targets];
        video.src = URL.createObjectURL(this.#source);
        this.#source.addEventListener("sourceopen", () => this.#run(), { once: true });
    }

    async #run() {
        this.#buffer = this.#source.addSourceBuffer('video/mp4; codecs="avc1.42c01e"');
        for (;;) {
            try {
                await this.#load();
            } catch (error) {
                console.info(`loader: ${error}`);
            }
            this.#keepPlaying();
            await new Promise((resolve) => setTimeout(resolve, 200));
        }
    }

    async #load() {
        const { segments, target } = parse(await text(this.#address));
        if (segments.length === 0) return;
        if (this.#next === null) {
            const length = segments.reduce((sum, { duration }) => sum + duration, 0);
            if (length < this.#targets * target) return;
            // The segment in which the place lies where it begins.
            let rest = this.#targets * target;
            let first = segments.length;
            while (rest > 0) rest -= segments[--first].duration;
            this.#next = segments[first].number;
        }
        for (const segment of segments) {
            if (segment.number < this.#next) continue;
            await this.#append(segment);
            this.#next = segment.number + 1;
        }
        if (this.isPlaying) return;
        this.isPlaying = true;
        const { buffered } = this.#video;
        this.#video.currentTime = Math.max(buffered.end(buffered.length - 1) - this.#targets * target, buffered.start(0));
        await this.#video.play();
    }

    async #append(segment) {
        if (segment.map !== this.#initialized || segment.isDiscontinuity) {
            const map = await bytes(new URL(segment.map, this.#address));
            const header = find(map, "mdhd");
            this.#timescale = number(map, header + (map[header] === 1 ? 20 : 12), 4);
            await this.#put(map);
            this.#initialized = segment.map;
        }
        const media = await bytes(new URL(segment.file, this.#address));
        const time = this.#carrier === "sei" ? stampIn(media) : segment.date;
        if (!Number.isFinite(time)) throw new Error(`no time in ${segment.file}`);
        if (Number.isNaN(this.origin)) this.origin = time;
        const decoding = find(media, "tfdt");
        const begin = number(media, decoding + 4, media[decoding] === 1 ? 8 : 4) / this.#timescale;
        this.#buffer.timestampOffset = (time - this.origin) / 1000 - begin;
        await this.#put(media);
    }

    async #put(media) {
        await new Promise((resolve, reject) => {
            this.#buffer.addEventListener("updateend", resolve, { once: true });
            this.#buffer.addEventListener("error", () => reject(new Error("the browser does not take it")), { once: true });
            this.#buffer.appendBuffer(media);
        });
    }

    /** Jumps over a gap, as between two sessions of an encoder, once what is before it is played. */
    #keepPlaying() {
        const { buffered, currentTime, readyState } = this.#video;
        if (!this.isPlaying || readyState > HTMLMediaElement.HAVE_CURRENT_DATA || this.#video.seeking) return;
        for (let range = 0; range < buffered.length; range++) {
            if (buffered.start(range) <= currentTime + 0.001) continue;
            this.#video.currentTime = buffered.start(range) + 0.001;
            return;
        }
    }
}

function parse(playlist) {
    let [number, duration, date, map, isDiscontinuity, target] = [0, 0, NaN, null, false, 0];
    const segments = [];
    for (const line of playlist.split("\n")) {
        const value = line.slice(line.indexOf(":") + 1);
        if (line.startsWith("#EXT-X-MEDIA-SEQUENCE")) number = Number(value);
        else if (line.startsWith("#EXT-X-TARGETDURATION")) target = Number(value);
        else if (line.startsWith("#EXTINF")) duration = parseFloat(value);
        else if (line.startsWith("#EXT-X-PROGRAM-DATE-TIME")) date = Date.parse(value.replace("+0000", "Z"));
        else if (line.startsWith("#EXT-X-MAP")) map = /URI="([^"]*)"/.exec(value)[1];
        else if (line.startsWith("#EXT-X-DISCONTINUITY")) isDiscontinuity = true;
        else if (line !== "" && !line.startsWith("#")) {
            segments.push({ number: number++, duration, date, map, isDiscontinuity, file: line });
            [date, isDiscontinuity] = [NaN, false];
        }
    }
    return { segments, target };
}

/** The time in the first picture that has one, in milliseconds. */
function stampIn(media) {
    for (let place = 0; place + 40 < media.length; place++) {
        if (!identifier.every((byte, offset) => media[place + offset] === byte)) continue;
        // Without the bytes that keep start codes out.
        const payload = [];
        let zeros = 0;
        for (let at = place + 16; payload.length < 8; at++) {
            if (zeros >= 2 && media[at] === 3) {
                zeros = 0;
                continue;
            }
            zeros = media[at] === 0 ? zeros + 1 : 0;
            payload.push(media[at]);
        }
        return number(payload, 0, 8);
    }
    return NaN;
}

/** Where the content of the first box of a type begins. */
function find(media, type) {
    const codes = [...type].map((letter) => letter.charCodeAt(0));
    for (let place = 4; place + 8 < media.length; place++) {
        if (codes.every((code, offset) => media[place + offset] === code)) return place + 4;
    }
    throw new Error(`no ${type}`);
}

function number(media, place, count) {
    let value = 0;
    for (let offset = 0; offset < count; offset++) value = value * 256 + media[place + offset];
    return value;
}

async function bytes(address) {
    return new Uint8Array(await (await reply(address)).arrayBuffer());
}

async function text(address) {
    return (await reply(address)).text();
}

async function reply(address) {
    const answer = await fetch(address, { cache: "no-store" });
    if (!answer.ok) throw new Error(`${answer.status} for ${address}`);
    return answer;
}
