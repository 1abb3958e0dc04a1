/** What `.ci/browser-bench` measures, in the page. */

import { CoreHost } from "./lectern/core.js";
import { Painter } from "./lectern/painter.js";
import { BoardView } from "./lectern/view.js";

const runs = 5;
const mask = (1n << 64n) - 1n;
const palette = ["#000000", "#d92020", "#1f4fd8", "#1a9850", "#f08c00", "#7b2cbf", "#6b4423", "#7f7f7f"];

/** What a board's digest has of the stroke with an index. */
function digestOf(index) {
    let z = (BigInt(index) + 0x9e3779b97f4a7c15n) & mask;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
}

/** Strokes as of handwriting, 14 points each, on a board of 1024 × 768. */
function strokes(count) {
    let seed = 7;
    const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
    const round = (number) => Math.round(number * 100) / 100;
    return Array.from({ length: count }, (_, place) => {
        const [x, y, turn] = [20 + random() * 980, 20 + random() * 730, random() * 6.28];
        const points = Array.from({ length: 14 }, (_, at) => ({
            x: round(x + at * 1.3 + 6 * Math.sin(turn + at / 2)), y: round(y + 9 * Math.cos(turn + at / 3)), m: at * 8,
        }));
        return { n: place + 1, c: place % 8, l: 3, w: 1024, h: 768, d: points };
    });
}

/** The longest time between two tasks, until it is stopped. */
class TaskWatch {
    longest = 0;
    #last = performance.now();
    #channel = new MessageChannel();
    #isOver = false;

    constructor() {
        this.#channel.port1.onmessage = () => {
            const now = performance.now();
            this.longest = Math.max(this.longest, now - this.#last);
            this.#last = now;
            if (!this.#isOver) this.#channel.port2.postMessage(null);
        };
        this.#channel.port2.postMessage(null);
    }

    async stop() {
        await new Promise((resolve) => setTimeout(resolve));
        this.#isOver = true;
        return this.longest;
    }
}

/** A board on a canvas, as a student's page has it. */
class Board extends EventTarget {
    size = { width: 1024, height: 768 };
    #host;
    #painter;
    #index = 0;
    #digest = 0n;
    #shown = () => {};

    static async make(canvas, pixels) {
        const board = new Board();
        board.#host = new CoreHost();
        board.#painter = new Painter(canvas, null, board.#host);
        await new Promise((resolve) => board.#host.add({ onready: resolve }));
        board.#painter.onprogress = () => board.#look();
        board.#host.call((core) => core.ask("studentBegin", false, false, 30000));
        board.#host.call((core) => core.ask("studentResize", pixels));
        return board;
    }

    get painter() { return this.#painter; }
    showPointers() {}

    get bytes() { return this.#host.core.bytes; }

    #look() {
        if (this.#painter.progress === 1) this.#shown();
    }

    /** Calls the core, paints, and returns the milliseconds until the pixels are on the canvas. */
    async shown(body) {
        const start = performance.now();
        const isOver = new Promise((resolve) => (this.#shown = resolve));
        this.#host.call(body);
        this.#painter.show(true);
        await isOver;
        return performance.now() - start;
    }

    join(list, style) {
        const bytes = this.#reply(list, style);
        return this.shown((core) => core.ask("studentReceive", 0, { bytes }, NaN));
    }

    /** As {@link join}, and paints nothing. */
    receive(list, style) {
        const bytes = this.#reply(list, style);
        this.#host.call((core) => core.ask("studentReceive", 0, { bytes }, NaN));
    }

    #reply(list, style) {
        const visible = list.map((message, place) => ({ index: place + 1, author: "t", message }));
        [this.#index, this.#digest] = [list.length, 0n];
        for (const { index } of visible) this.#digest = (this.#digest + digestOf(index)) & mask;
        const reply = { room: "r", index: this.#index, digest: this.digest, palette, style, board: { w: 1024, h: 768 }, visible, redo: [] };
        return new TextEncoder().encode(JSON.stringify(reply));
    }

    get digest() { return this.#digest.toString(16).padStart(16, "0"); }

    draw(message) {
        this.#digest = (this.#digest + digestOf(this.#index + 1)) & mask;
        return this.#apply({ message });
    }

    undo(ref) {
        this.#digest = (this.#digest - digestOf(ref)) & mask;
        return this.#apply({ ref, message: { n: 1e6 + ref, a: 2 } });
    }

    #apply(operation) {
        const event = { index: ++this.#index, author: "t", digest: this.digest, ...operation };
        const bytes = new TextEncoder().encode(JSON.stringify(event));
        return this.shown((core) => core.ask("studentReceive", 1, { bytes }, NaN));
    }

    /** Draws a stroke that is being drawn above the board. */
    pen(points) {
        const start = performance.now();
        this.#painter.showLive([{ message: { n: 0, c: 1, l: 3, w: 1024, h: 768, d: points } }]);
        return this.shown(() => {}).then(() => performance.now() - start);
    }
}

/** Zooms in and out by small steps, as a pinch does: the times of frames, and then those until the part is sharp. */
async function zoom(board, canvas) {
    const frame = canvas.parentElement;
    const view = new BoardView(board, canvas, frame);
    const [frames, rests] = [[], []];
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const box = frame.getBoundingClientRect();
    const wheel = (deltaY, x, y) => frame.dispatchEvent(new WheelEvent("wheel", {
        deltaY, ctrlKey: true, cancelable: true, bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height,
    }));
    let last = await nextFrame();
    for (const [steps, deltaY, x, y] of [[10, -12, 0.3, 0.4], [10, -12, 0.6, 0.5], [10, -12, 0.5, 0.5], [9, 12, 0.4, 0.6], [9, 12, 0.5, 0.3], [9, -8, 0.2, 0.7]]) {
        const isSharp = new Promise((resolve) => view.addEventListener("rest", ({ detail }) => resolve(detail.milliseconds), { once: true }));
        for (let at = 0; at < steps; at++) {
            wheel(deltaY, x, y);
            const now = await nextFrame();
            if (at > 0) frames.push(now - last);
            last = now;
        }
        rests.push(await isSharp);
        last = await nextFrame();
    }
    view.close();
    return { frames, rests };
}

/** @param {{strokes: number, pixels: number, style: string}} options */
export async function measure({ strokes: count, pixels, style }) {
    const list = strokes(count);
    const [canvas] = document.getElementsByTagName("canvas");
    const [joins, tasks, more, undos] = [[], [], [], []];
    for (let run = 0; run < runs; run++) {
        const board = await Board.make(canvas, pixels);
        const watch = new TaskWatch();
        joins.push(await board.join(list, style));
        tasks.push(await watch.stop());
        for (let place = 0; place < 16; place++) more.push(await board.draw({ ...list[place * 7], n: 1e6 + place }));
        for (const back of [2, 15, 0, 7, 11]) undos.push(await board.undo(count + 16 - back));
    }
    const seen = await Board.make(canvas, pixels);
    await seen.join(list, style);
    const { frames, rests } = await zoom(seen, canvas);
    const large = strokes(10_000);
    // Without a canvas there is no picture.
    const blind = await Board.make(canvas, 0);
    blind.receive(large, style);
    const memory = blind.bytes / 1e6;
    const board = await Board.make(canvas, pixels);
    await board.join(large, style);
    const moves = new Map([100, 1000, 4000].map((length) => [length, []]));
    const points = [];
    for (let at = 0; at < 4000; at++) {
        points.push({ x: 100 + (at * 0.9) % 800, y: 100 + Math.floor((at * 0.9) / 800) * 60 + 15 * Math.sin(at / 7), m: at * 8 });
        const times = moves.get([...moves.keys()].find((length) => at < length));
        if (at % 10 === 0 || [...moves.keys()].some((length) => at < length && at >= length - 30)) times.push(await board.pen(points.slice()));
    }
    return {
        figures: [
            [`${count} strokes shown`, 350, "ms", joins],
            ["the longest task meanwhile", 16, "ms", tasks],
            ["one more stroke", 2, "ms", more],
            ["undo of one of the newest 16", 4, "ms", undos],
            ...[...moves].map(([length, times]) => [`a move of the pen's ${length} points`, 16, "ms", times.slice(-30)]),
            ["a frame while zooming", 17, "ms", frames],
            ["sharp after the hand rests", 100, "ms", rests],
            ["10,000 strokes in the instance", 12, "MB", [memory]],
        ],
    };
}
