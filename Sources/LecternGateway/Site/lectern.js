/**
 * Lectern in a browser: the board of a room in step with a video, and the pen of its teacher.
 *
 * ```js
 * import { Board } from "/lectern.js";
 * new Board(document.querySelector("canvas"), { room: "physics", clock: () => video.currentTime * 1000 });
 * ```
 *
 * Plain ES modules, no dependencies.
 *
 * @module
 */

export { Board } from "./lectern/board.js";
export { FrameClock } from "./lectern/frame-clock.js";
export { Gateway, GatewayError } from "./lectern/gateway.js";
export { ImageStore } from "./lectern/images.js";
export { LiveClock } from "./lectern/live-clock.js";
export { Painter } from "./lectern/painter.js";
export { PlayerClock } from "./lectern/player-clock.js";
export { ServerClock } from "./lectern/server-clock.js";
export { Replay } from "./lectern/replay.js";
export { Element, Teacher } from "./lectern/teacher.js";
export { WhepPlayer } from "./lectern/whep.js";
