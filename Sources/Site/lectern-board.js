/** `<lectern-board room="physics" video="#lesson">` for students' pages: all of `lectern.js` that such a page needs. */

export { LecternBoard } from "./lectern/board-element.js";
