/**
 * The media time of the picture that a video shows.
 *
 * `currentTime` runs ahead of the picture: by what the browser needs to show it, by up to a frame, and after a seek until the
 * new picture is there. Ink that follows it comes before its picture. This clock follows the picture.
 */

/**
 * How far, in seconds, `currentTime` may be ahead of the picture: where pictures are further apart, as in a video of slides,
 * ink does not wait for the next one. Not less, for a busy browser shows its pictures late.
 */
const mostAhead = 1;

/**
 * A clock for the `clock` of a board: it draws what is due in the same moment as the picture is shown.
 *
 * Event: `change`, when another picture is shown. Where the browser does not tell of pictures
 * (`requestVideoFrameCallback`), and while none was shown yet, the time is `currentTime`.
 */
export class PlayerClock extends EventTarget {
    #video;
    #timeLine;
    /** The place in the video of the picture that is shown, in seconds; null while none is known. */
    #shown = null;
    #isSeeking = false;
    #request = null;
    #closing = new AbortController();

    /**
     * @param {HTMLVideoElement} video
     * @param {(seconds: number) => number} [timeLine] the media time in milliseconds, on the time line of the teacher's
     *   `t`, of a place in the video; NaN while it is not known. Unless said, the video begins at 0
     */
    constructor(video, timeLine = (seconds) => seconds * 1000) {
        super();
        [this.#video, this.#timeLine] = [video, timeLine];
        const { signal } = this.#closing;
        video.addEventListener("seeking", () => (this.#isSeeking = true), { signal });
        video.addEventListener("seeked", () => this.dispatchEvent(new Event("change")), { signal });
        this.#listen();
    }

    /** The media time in milliseconds; NaN while nothing is known of the video. */
    get time() {
        const { readyState, currentTime } = this.#video;
        if (readyState === HTMLMediaElement.HAVE_NOTHING) return NaN;
        if (this.#shown === null) return this.#timeLine(currentTime);
        // The picture of another place is still to come.
        const place = this.#isSeeking ? this.#shown : Math.max(this.#shown, currentTime - mostAhead);
        return this.#timeLine(place);
    }

    /** The media time in milliseconds of a place in the video, in seconds; NaN while it is not known. */
    timeOf(seconds) {
        return this.#timeLine(seconds);
    }

    /** Ends it; the time stands still. */
    close() {
        this.#closing.abort();
        if (this.#request !== null) this.#video.cancelVideoFrameCallback(this.#request);
    }

    #listen() {
        this.#request = this.#video.requestVideoFrameCallback?.((_, { mediaTime }) => {
            this.#shown = mediaTime;
            // A picture of the place before may come after the seek.
            const { seeking, currentTime } = this.#video;
            if (!seeking && Math.abs(currentTime - mediaTime) < mostAhead) this.#isSeeking = false;
            this.dispatchEvent(new Event("change"));
            this.#listen();
        }) ?? null;
    }
}
