/**
 * Lectern in a browser: the board of a room in step with a video, and the pen of its teacher.
 *
 * ```js
 * import { Board } from "/lectern.js";
 * new Board(document.querySelector("canvas"), { room: "physics", clock: () => video.currentTime * 1000 });
 * ```
 *
 * Or without a script, where a page loads it: `<lectern-board room="physics" video="#lesson"></lectern-board>` for students, and
 * `<lectern-teacher room="physics" author="anna"></lectern-teacher>`. `lectern-board.js` beside it defines the first alone, and loads
 * nothing of the teacher.
 *
 * Plain ES modules, no dependencies.
 */

export { LecternBoard } from "./lectern/board-element.js";
export { Board } from "./lectern/board.js";
export { FrameClock } from "./lectern/frame-clock.js";
export { Gateway, GatewayError } from "./lectern/gateway.js";
export { ImageStore } from "./lectern/images.js";
export { LiveClock } from "./lectern/live-clock.js";
export { Painter } from "./lectern/painter.js";
export { PlayerClock } from "./lectern/player-clock.js";
export { Element } from "./lectern/records.js";
export { ServerClock } from "./lectern/server-clock.js";
export { Replay } from "./lectern/replay.js";
export { LecternTeacher } from "./lectern/teacher-element.js";
export { Teacher } from "./lectern/teacher.js";
export { BoardView, viewButtons } from "./lectern/view.js";
export { WhepPlayer } from "./lectern/whep.js";
