/** A page as a school would have it, a video beside a board, that notes what its screen shows. */

import { Loader } from "./loader.js";
import { ScreenLog } from "./screen.js";

const query = new URLSearchParams(location.search);
const { Board, PlayerClock } = await import(`${query.get("gateway")}/lectern.js`);

const video = document.getElementById("video");
const canvas = document.getElementById("board");
const loader = new Loader(video, new URL(query.get("playlist"), location).href, query.get("carrier"), Number(query.get("targets")));
const clock = new PlayerClock(video, (seconds) => loader.origin + seconds * 1000);
const board = new Board(canvas, { room: query.get("room"), cohort: query.get("cohort"), url: query.get("gateway"), clock });

board.addEventListener("connection", ({ detail }) => console.info(JSON.stringify(detail)));

// The proof reads its marks at whole pixels: a board unit is one.
const screen = new ScreenLog(video, canvas, () => (canvas.width === board.size.width ? board.size.width : NaN));

Object.assign(window, { proof: Object.assign(screen, { board, loader, video }) });
