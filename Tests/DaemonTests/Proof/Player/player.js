/**
 * A page as a school would have it, a video beside a board, that notes at each frame of the screen which picture of the video
 * is shown, read from the bar code in it, and what ink is on the canvas.
 */

import { Loader } from "./loader.js";

const query = new URLSearchParams(location.search);
const { Board, PlayerClock } = await import(`${query.get("gateway")}/lectern.js`);

const video = document.getElementById("video");
const canvas = document.getElementById("board");
const loader = new Loader(video, new URL(query.get("playlist"), location).href, query.get("carrier"), Number(query.get("targets")));
const clock = new PlayerClock(video, (seconds) => loader.origin + seconds * 1000);
const board = new Board(canvas, { room: query.get("room"), cohort: query.get("cohort"), url: query.get("gateway"), clock });

board.addEventListener("connection", ({ detail }) => console.info(JSON.stringify(detail)));

/** Columns of the bar code, pixels of each, and the row of the video in which it is read. */
const [columns, columnWidth, row] = [32, 12, 228];
const code = new OffscreenCanvas(columns * columnWidth, 1).getContext("2d", { willReadFrequently: true });

/** What is in the picture that is shown; -1 where it cannot be read. */
function picture() {
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

/** Marks that are not on the canvas yet: `[number, x, y]`, in board units, which are pixels. */
let waiting = [];
/** Pictures: `[milliseconds, picture]` when another one is shown; ink: `[milliseconds, number, picture]`. */
const log = { pictures: [], ink: [], unread: 0 };
let shown = -1;
let frames = 0;

function look(moment) {
    frames++;
    const seen = picture();
    if (seen === -1) log.unread += video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA ? 0 : 1;
    else if (seen !== shown) log.pictures.push([moment, (shown = seen)]);
    // After the animation frames of others: what is on the canvas now is what the screen shows.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
        lookForInk(moment);
        requestAnimationFrame(look);
    };
    port2.postMessage(null);
}

function lookForInk(moment) {
    if (waiting.length === 0 || canvas.width !== board.size.width) return;
    const context = canvas.getContext("2d");
    const rows = new Map();
    waiting = waiting.filter(([number, x, y]) => {
        if (!rows.has(y)) rows.set(y, context.getImageData(0, y, canvas.width, 1).data);
        if (rows.get(y)[4 * x + 3] < 128) return true;
        log.ink.push([moment, number, shown]);
        return false;
    });
}

requestAnimationFrame(look);

Object.assign(window, {
    proof: {
        board, loader, video, log,
        /** Looks for more marks. */
        expect: (marks) => { waiting = waiting.concat(marks); },
        get waiting() { return waiting.length; },
        get shown() { return shown; },
        get frames() { return frames; },
    },
});
