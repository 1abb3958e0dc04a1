/**
 * The lasso of a teacher: a loop around ink and images selects them, and what is selected is moved, turned, scaled, copied or
 * deleted. One operation says all of it, when the selection is dropped.
 */

import { keyOf, placeOn, say } from "./dom.js";
import { t } from "./language.js";
import { boundsOf, Selection, SelectionFrame, simplified } from "./selection.js";
import { answered, removals } from "./erasers.js";
import { firstLiveID } from "./painter.js";
import { bindBackground } from "./paper-menu.js";
import { Element } from "./records.js";
import { highlighterFactor } from "./toolbar.js";

/** Corners of the path of a lasso. */
const mostLassoPoints = 1024;
/** CSS pixels within which a loop is a tap. */
const tapSize = 8;
/** Board units by which a copy lies beside its original, and by which an arrow key moves. */
const copyShift = 24;
const nudge = { near: 1, far: 10 };
/** How far an arrow key turns and scales where the focus is on a handle. */
const turnStep = Math.PI / 36;
const scaleStep = 1.05;
/** Milliseconds of rest after which a picture is made anew, as sharp as it will be. */
const restTime = 180;
const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Selects by loops, taps and keys while it is chosen. */
export class LassoTool {
    #teacher;
    #view;
    #root;
    #selection = null;
    /** Makes pictures of what is selected; the last one, and where a map had put it. */
    #picture = null;
    #lifted = null;
    #frame;
    #drag = null;
    #timer = null;
    #isChosen = false;
    #restyle;
    /** Tells the button that makes backgrounds where an image is selected. */
    #selectImage;
    /** Ends the wait for ink that is to have another colour, where there is one. */
    #restyling = null;

    /** `root` has the elements of a selection, by their ids. */
    constructor(teacher, view, root = document) {
        [this.#teacher, this.#view, this.#root, this.#frame] = [teacher, view, root, new SelectionFrame(view, root)];
        [this.#restyle, this.#selectImage] = [restyler(teacher), bindBackground(teacher, () => this.drop(), root)];
        (root.host ?? root).addEventListener("keydown", (event) => this.#key(event), { capture: true });
        for (const target of [this.#part("selection-path"), this.#part("selection-turn"), ...this.#frame.corners]) {
            target.addEventListener("pointerdown", (event) => this.#grab(event));
            target.addEventListener("pointermove", (event) => this.#pull(event));
            for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
                target.addEventListener(type, (event) => this.#release(event));
            }
        }
        this.#part("selection-copy").addEventListener("click", () => this.copy());
        this.#part("selection-delete").addEventListener("click", () => this.delete());
        this.#part("selection-done").addEventListener("click", () => this.drop());
        teacher.addEventListener("pages", () => {
            if (this.#selection && this.#selection.page !== teacher.page) this.drop();
        });
        for (const type of ["writer", "muted"]) teacher.addEventListener(type, () => teacher.isWriting || this.#end(""));
        new ResizeObserver(() => this.#show()).observe(this.#part("board"));
        view.addEventListener("change", () => (this.#selection || this.#frame.hasLoop) && this.#show());
        view.addEventListener("rest", () => {
            // As sharp as the board.
            if (!this.#lifted) return;
            this.#lift();
            this.#show();
        });
    }

    #part(id) { return this.#root.getElementById(id); }

    set isChosen(isChosen) {
        if (isChosen === this.#isChosen) return;
        if (!isChosen) this.drop();
        this.#isChosen = isChosen;
        this.#part("board").dataset.tool = isChosen ? "lasso" : "";
        this.#teacher.gesture = isChosen ? {
            began: (stroke) => this.#began(stroke),
            moved: (stroke) => this.#frame.showLoop(stroke.points),
            ended: (stroke) => this.#ended(stroke),
            cancelled: () => this.#frame.showLoop(null),
        } : null;
        if (!isChosen) this.#frame.showLoop(null);
    }

    /** Gives what is selected another colour or width, where it was moved to. Returns whether there is a selection that takes it. */
    restyle(style) {
        const selection = this.#selection;
        if (!this.#isChosen || !selection || !this.#teacher.board.features.includes("remove")) return false;
        const path = selection.movedPath;
        const hadFocus = this.#part("selection").contains(this.#root.activeElement);
        this.drop();
        const { signal } = (this.#restyling = new AbortController());
        this.#restyle(path, style, signal).then((news) => {
            // What is selected now has its own news.
            if (signal.aborted && this.#selection) return;
            if (!signal.aborted && this.#isChosen) this.select(path, { takesFocus: hadFocus });
            say(this.#part("selection-news"), news);
        });
        return true;
    }

    /** Selects what is inside of a path, in board units. */
    select(path, { image = null, takesFocus = true } = {}) {
        this.drop();
        const teacher = this.#teacher;
        const points = simplified(path, mostLassoPoints);
        const picture = teacher.isWriting ? teacher.board.painter.select(points) : null;
        if (!picture) return say(this.#part("selection-news"), t("Nothing selected"));
        this.#selectImage(image);
        this.#begin(new Selection(points, teacher.page, teacher.board.size), picture, takesFocus);
        say(this.#part("selection-news"), t("Selected. Arrow keys move it, Escape drops it; a colour or a width of the tools changes its strokes."));
    }

    /** Publishes what has become of the selection, if anything, and ends it. */
    drop() {
        const selection = this.#selection;
        if (!selection) return;
        const { path, page, map, isCopy, isMoved } = selection;
        if (!isMoved) return this.#end(t("Selection ended"));
        const isTaken = this.#teacher.lasso(path, { map, keepsOriginal: isCopy, page });
        this.#end(isTaken ? t("Dropped") : t("Not taken"));
    }

    /** Goes on with a copy, which lies a little beside. */
    copy(isBeside = true) {
        const selection = this.#selection;
        if (!selection) return;
        const path = selection.movedPath;
        this.drop();
        const { board, page } = this.#teacher;
        const picture = board.painter.select(path);
        if (!picture) return;
        const copy = new Selection(path, page, board.size, true);
        if (isBeside) {
            // Where there is room.
            const isOver = (at, length) => at + copyShift > length;
            copy.shift(isOver(copy.at.x, board.size.width) ? -copyShift : copyShift,
                isOver(copy.at.y, board.size.height) ? -copyShift : copyShift);
        }
        this.#selectImage(null);
        this.#begin(copy, picture);
        say(this.#part("selection-news"), t("Copied"));
    }

    /** Cuts away what is selected; of a copy that is not dropped yet nothing is left. */
    delete() {
        const selection = this.#selection;
        if (!selection) return;
        const { path, page, isCopy } = selection;
        if (!isCopy) this.#teacher.lasso(path, { page });
        this.#end(t("Deleted"));
    }

    #begin(selection, picture, takesFocus = true) {
        this.#restyling?.abort();
        [this.#selection, this.#picture, this.#lifted] = [selection, picture, null];
        this.#show();
        if (takesFocus) this.#part("selection").focus({ preventScroll: true });
    }

    #end(news) {
        clearTimeout(this.#timer);
        const hadFocus = this.#part("selection").contains(this.#root.activeElement);
        [this.#selection, this.#picture, this.#lifted, this.#drag] = [null, null, null, null];
        this.#teacher.previewCut(null);
        this.#show();
        if (hadFocus) this.#part("board").focus({ preventScroll: true });
        say(this.#part("selection-news"), news);
    }

    // The loop.

    #began(stroke) {
        this.#restyling?.abort();
        this.drop();
        this.#frame.showLoop(stroke.points);
    }

    #ended({ points }) {
        this.#frame.showLoop(null);
        const perPixel = 1 / this.#view.perUnit;
        const { left, right, top, bottom } = boundsOf(points);
        const size = Math.max(right - left, bottom - top);
        if (points.length > 2 && size > tapSize * perPixel) return this.select(points.map(({ x, y }) => ({ x, y })));
        const image = this.#teacher.board.painter.pictureAt(points[0].x, points[0].y);
        if (image) this.select(image.corners, { image: points[0] });
    }

    // What is selected.

    #show() {
        const selection = this.#selection;
        this.#part("board").dataset.selection = selection ? "on" : "";
        if (selection) this.#showLift();
        else this.#part("lift").replaceChildren();
        this.#frame.show(selection);
    }

    /** Shows what is selected where it was moved to, above a board from which it is cut. */
    #showLift() {
        const [selection, view] = [this.#selection, this.#view];
        if (!selection.isMoved && !this.#lifted) return;
        if (!this.#lifted) this.#lift();
        this.#teacher.previewCut(selection.isMoved && !selection.isCopy ? selection.path : null);
        this.#part("lift").hidden = !selection.isMoved;
        const { canvas, box, matrix, scale } = this.#lifted;
        if (!canvas) return;
        const since = selection.matrix.multiply(matrix.inverse());
        // From pixels of the picture to board units, and from those to CSS pixels.
        canvas.style.transform = new DOMMatrix().translate(view.x, view.y).scale(view.perUnit).multiply(since)
            .scale(1 / scale).translate(box.left, box.top);
        clearTimeout(this.#timer);
        if ([since.a - 1, since.b, since.c, since.d - 1].some((part) => Math.abs(part) > 1e-9)) {
            this.#timer = setTimeout(() => {
                this.#lift();
                this.#show();
            }, restTime);
        }
    }

    #lift() {
        const { map, matrix } = this.#selection;
        const picture = this.#picture(map);
        this.#lifted = { canvas: null, box: null, matrix, scale: this.#teacher.board.painter.scale };
        this.#part("lift").replaceChildren();
        if (!picture) return;
        Object.assign(this.#lifted, picture);
        this.#part("lift").append(picture.canvas);
    }

    // Dragging.

    #pointOf(event) {
        return placeOn(this.#part("board"), this.#teacher.board.size, event);
    }

    #grab(event) {
        if (!this.#selection || this.#drag || event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        if (event.altKey && event.currentTarget === this.#part("selection-path")) this.copy(false);
        const at = this.#pointOf(event);
        const { dataset } = event.currentTarget;
        const corner = dataset.across ? { across: Number(dataset.across), down: Number(dataset.down) } : null;
        // The handle stays under the pointer where it was taken.
        const from = corner ? this.#selection.point(corner.across, corner.down) : this.#selection.at;
        const { at: centre, turn, scale } = this.#selection;
        this.#drag = {
            pointer: event.pointerId, before: { at: centre, turn, scale }, corner, isTurn: event.currentTarget === this.#part("selection-turn"),
            off: { x: from.x - at.x, y: from.y - at.y }, turn: turn - this.#angleAt(at),
        };
        this.#part("selection").focus({ preventScroll: true });
    }

    #angleAt({ x, y }) {
        return Math.atan2(y - this.#selection.at.y, x - this.#selection.at.x);
    }

    #pull(event) {
        const drag = this.#drag;
        if (drag?.pointer !== event.pointerId) return;
        const at = this.#pointOf(event);
        const selection = this.#selection;
        if (drag.corner) selection.scaleTo(drag.corner, { x: at.x + drag.off.x, y: at.y + drag.off.y }, event.shiftKey);
        else if (drag.isTurn) selection.turnTo(drag.turn + this.#angleAt(at), event.shiftKey);
        else selection.shift(at.x + drag.off.x - selection.at.x, at.y + drag.off.y - selection.at.y);
        this.#show();
    }

    #release(event) {
        if (this.#drag?.pointer !== event.pointerId) return;
        this.#drag = null;
    }

    /** Gives up what pointers drag, one event of each: they do something else. */
    giveUp(events) {
        if (!events.some(({ pointerId }) => pointerId === this.#drag?.pointer)) return;
        Object.assign(this.#selection, this.#drag.before);
        this.#drag = null;
        this.#show();
    }

    // Keys.

    #key(event) {
        if (event.defaultPrevented || event.target.closest?.("input, select, textarea, dialog, #page-list")) return;
        const key = keyOf(event);
        const hasCommand = event.ctrlKey || event.metaKey;
        if (this.#isChosen && hasCommand && key === "a") {
            event.preventDefault();
            const { width, height } = this.#teacher.board.size;
            return this.select([{ x: 0, y: 0 }, { x: width, y: 0 }, { x: width, y: height }, { x: 0, y: height }]);
        }
        const selection = this.#selection;
        if (!selection) return;
        if (hasCommand && (key === "c" || key === "d")) this.copy();
        else if (hasCommand && key === "z" && !event.shiftKey && selection.isMoved) this.#end(t("Left where it was"));
        // Keys in the tool bar are its own.
        else if (hasCommand || event.altKey || event.target.closest?.("#tools")) return;
        else if (key === "escape" || (key === "enter" && event.target.tagName !== "BUTTON")) this.drop();
        else if (key === "delete" || key === "backspace") this.delete();
        else if (arrows[event.key]) this.#arrow(event, arrows[event.key]);
        else return;
        event.preventDefault();
    }

    /** Arrow keys move; on a handle they turn or scale. */
    #arrow(event, [x, y]) {
        const step = event.shiftKey ? nudge.far : nudge.near;
        const selection = this.#selection;
        if (event.target === this.#part("selection-turn")) selection.turnTo(selection.turn + (x + y) * turnStep);
        else if (this.#frame.corners.includes(event.target)) selection.scaleBy(x - y > 0 ? scaleStep : 1 / scaleStep);
        else selection.shift(x * step, y * step);
        this.#show();
    }
}

/** Strokes that are changed at once: with their removal as many operations as a room remembers unless configured otherwise. */
const mostIndices = 99;

/**
 * What changes strokes and texts of the page that is seen, inside of a path, to a colour as messages have it or the width of a pen, and
 * resolves with what has become of it, in words; `signal` ends the wait for the room: something else is to be selected. Images, what an
 * eraser has cut, and parts of strokes stay as they are.
 */
export function restyler(teacher) {
    const remove = removals(teacher);
    return async (path, style, signal) => {
        const { page, board: { painter } } = teacher;
        const look = () => (painter.select(path) ? painter.selectedInk() : { entries: [], left: 0 });
        const { entries, left } = await answered(look, ({ entries }) => entries.some(({ id }) => id >= firstLiveID), signal);
        if (signal.aborted || teacher.page !== page) return t("Nothing changed");
        const known = entries.filter(({ id }) => id < firstLiveID);
        const own = new Set(teacher.removable(known.map(({ id }) => id)));
        const changed = known.filter(({ id, message }) => own.has(id) && change(message, style));
        if (changed.length > mostIndices) return t("Too many: {count} strokes can be changed at once", { count: mostIndices });
        const rest = left === 0 ? "" : `; ${left === 1 ? t("one that was cut stays as it is") : t("{count} that were cut stay as they are", { count: left })}`;
        if (own.size < known.length) teacher.passOver();
        if (changed.length === 0) return `${t("Nothing changed")}${rest}`;
        const indices = changed.map(({ id }) => id);
        if (!teacher.redraw(indices, changed.map(({ message }) => message))) return t("Not taken");
        remove(indices);
        return `${changed.length === 1 ? t("One stroke changed") : t("{count} strokes changed", { count: changed.length })}${rest}`;
    };
}

/** Changes a message; returns whether it is another one then. */
function change(message, { colour, width }) {
    const before = [message.c ?? 0, message.l];
    if (colour !== undefined) message.c = colour;
    // The size of a text is its box.
    if (width !== undefined && message.e !== Element.text) {
        message.l = message.e === Element.highlighter ? width * highlighterFactor : width;
    }
    return message.c !== before[0] || message.l !== before[1];
}
