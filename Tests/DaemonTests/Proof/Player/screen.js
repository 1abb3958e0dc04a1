/** Columns of the bar code, pixels of each, and the row of the video in which it is read. */
const [columns, columnWidth, row] = [32, 12, 228];

/** Notes at each frame of the screen which picture of a video is shown, what ink is on a canvas, and which pointers are above it. */
export class ScreenLog {
    /** Pictures: `[milliseconds, picture]` when another one is shown; ink: `[milliseconds, number, picture]`. */
    log = { pictures: [], ink: [], unread: 0 };
    shown = -1;
    frames = 0;
    #video;
    #canvas;
    #width;
    /** Marks that are not on the canvas yet: `[number, x, y, isAbove]`, in board units. */
    #waiting = [];
    #code = new OffscreenCanvas(columns * columnWidth, 1).getContext("2d", { willReadFrequently: true });

    /** `width()`: the board's, in its units; NaN while nothing is to be read. */
    constructor(video, canvas, width) {
        [this.#video, this.#canvas, this.#width] = [video, canvas, width];
        requestAnimationFrame((moment) => this.#look(moment));
    }

    /** Looks for more marks. */
    expect(marks) {
        this.#waiting = this.#waiting.concat(marks);
    }

    get waiting() { return this.#waiting.length; }

    /** What is in the picture that is shown; -1 where it cannot be read. */
    #picture() {
        const [video, code] = [this.#video, this.#code];
        if (video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return -1;
        code.drawImage(video, 0, row, columns * columnWidth, 1, 0, 0, columns * columnWidth, 1);
        const { data } = code.getImageData(0, 0, columns * columnWidth, 1);
        let [value, check] = [0, 0];
        for (let column = 0; column < columns; column++) {
            if (data[4 * (column * columnWidth + columnWidth / 2)] < 128) continue;
            if (column < 24) value += 2 ** column;
            else check += 2 ** (column - 24);
        }
        return value % 251 === check ? value : -1;
    }

    #look(moment) {
        this.frames++;
        const seen = this.#picture();
        if (seen === -1) this.log.unread += this.#video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA ? 0 : 1;
        else if (seen !== this.shown) this.log.pictures.push([moment, (this.shown = seen)]);
        // After the animation frames of others: what is on the canvas now is what the screen shows.
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
            this.#lookForInk(moment);
            requestAnimationFrame((next) => this.#look(next));
        };
        port2.postMessage(null);
    }

    #lookForInk(moment) {
        const scale = this.#canvas.width / this.#width();
        if (this.#waiting.length === 0 || !(scale > 0)) return;
        // A pointer's trail fades from half of its opacity on.
        const [ink, pointers] = [reader(this.#canvas, 128), reader(document.querySelector(".lectern-pointers"), 64)];
        this.#waiting = this.#waiting.filter(([number, x, y, isAbove]) => {
            if (!(isAbove ? pointers : ink)(Math.round(x * scale), Math.round(y * scale))) return true;
            this.log.ink.push([moment, number, this.shown]);
            return false;
        });
    }
}

/** Tells whether a pixel of a canvas has so much opacity; none has where there is no canvas. A row is read once. */
function reader(canvas, opacity) {
    if (!canvas) return () => false;
    const context = canvas.getContext("2d");
    const rows = new Map();
    return (column, line) => {
        if (!rows.has(line)) rows.set(line, context.getImageData(0, line, canvas.width, 1).data);
        return rows.get(line)[4 * column + 3] >= opacity;
    };
}
