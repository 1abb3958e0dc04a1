/** The hands that zoom and move what is seen of a board: fingers, a mouse, a wheel, and Space. */

import { capture } from "./dom.js";

/** CSS pixels that fingers that tap do not move. */
const slop = 8;
/** What one turn of a wheel scales by at most, as a power of e, and of a unit of its movement. */
const [mostWheel, wheelUnit] = [0.25, 0.01];

/** What takes pointers and keys for itself. */
export const controls = "button, a, input, select, textarea, summary, video, dialog, [contenteditable]";

/**
 * Listens to the hands on the frame of a view. `options` are those of the view, as they are at each moment. `zoomAt(zoom, clientX, clientY,
 * x, y)` zooms so that what is at a place of the window stays there; `settle()`: the hands rest.
 */
export function bindHands(view, frame, options, zoomAt, settle, signal) {
    /** Fingers on the frame, in their order, with their first and last events. */
    const fingers = new Map();
    /** How fingers hold the page: the centre between them, and their distance; null while they do not. */
    let hold = null;
    let mouse = null;
    let isSpaceDown = false;
    const isForControl = (event) => Boolean(event.composedPath()[0].closest?.(controls));

    const touch = (event) => {
        const { type, pointerId, timeStamp } = event;
        if (type === "pointerdown") {
            if (isForControl(event) || options.pen?.isBusy(timeStamp)) return;
            // The only one, whatever was missed of others.
            if (event.isPrimary) release();
            fingers.set(pointerId, { first: event, last: event });
            // Those that were there hold it from where they are now.
            for (const finger of fingers.values()) finger.first = finger.last;
            if (hold) hold = between("last");
        } else if (!fingers.has(pointerId)) return;
        else if (type === "pointermove") {
            fingers.get(pointerId).last = event;
            if (hold) pull();
            // A hand that lay there before its pen.
            else if (options.pen?.isBusy(timeStamp)) fingers.clear();
            else if (hasMoved()) {
                // Fingers hold the page from now on: nothing is drawn or tapped by them.
                options.pen?.giveUp([...fingers.values()].map(({ last }) => last));
                hold = between("first");
                pull();
            }
        } else {
            fingers.delete(pointerId);
            if (hold && fingers.size > 0) hold = between("last");
        }
        if (!hold) return;
        event.stopPropagation();
        if (fingers.size === 0) release();
    };
    /** Whether fingers do more than tap or draw. */
    const hasMoved = () => {
        if (fingers.size < 2 && !(options.isPulled && view.isZoomed)) return false;
        return [...fingers.values()].some(({ first, last }) => Math.hypot(last.clientX - first.clientX, last.clientY - first.clientY) > slop);
    };
    /** The centre between the fingers, and their distance, at their first or last places. */
    const between = (name) => {
        const events = [...fingers.values()].slice(0, 2).map((finger) => finger[name]);
        const [x, y] = ["clientX", "clientY"].map((way) => events.reduce((sum, event) => sum + event[way], 0) / events.length);
        const distance = events.length > 1 ? Math.hypot(events[0].clientX - events[1].clientX, events[0].clientY - events[1].clientY) : 0;
        return { x, y, distance };
    };
    const pull = () => {
        const before = hold;
        hold = between("last");
        const { x, y, distance } = hold;
        const factor = before.distance > 0 && distance > 0 ? distance / before.distance : 1;
        zoomAt(view.zoom * factor, x, y, view.x + x - before.x, view.y + y - before.y);
    };
    const release = () => {
        fingers.clear();
        if (!hold) return;
        hold = null;
        settle();
    };
    /** A mouse or a pen moves the page where it does not draw. */
    const drag = (event) => {
        const { type, pointerId, clientX, clientY } = event;
        if (type === "pointerdown") {
            const isMouse = event.pointerType === "mouse";
            const pulls = (event.button === 0 && (isSpaceDown || (isMouse && options.isPulled === true))) || (isMouse && event.button === 1);
            if (!view.isZoomed || !pulls || isForControl(event)) return;
            mouse = { pointerId, clientX, clientY };
            capture(frame, pointerId);
            event.preventDefault();
        } else if (mouse?.pointerId !== pointerId) return;
        // The mouse may have been lifted where the page is not told.
        else if (type === "pointermove" && event.buttons !== 0) {
            view.moveBy(clientX - mouse.clientX, clientY - mouse.clientY);
            mouse = { pointerId, clientX, clientY };
        } else {
            mouse = null;
            settle();
        }
        frame.toggleAttribute("data-pulled", mouse !== null);
        event.stopPropagation();
    };
    const roll = (event) => {
        const unit = [1, 16, 400][event.deltaMode] ?? 1;
        const [x, y] = [event.deltaX * unit, event.deltaY * unit];
        if (event.ctrlKey) {
            event.preventDefault();
            const power = Math.min(Math.max(-y * wheelUnit, -mostWheel), mostWheel);
            zoomAt(view.zoom * Math.exp(power), event.clientX, event.clientY);
        } else if (view.isZoomed && view.moveBy(-x, -y)) event.preventDefault();
    };
    const setSpace = (isDown) => {
        isSpaceDown = isDown;
        frame.toggleAttribute("data-space", isDown);
    };

    const first = { signal, capture: true, passive: false };
    for (const type of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
        frame.addEventListener(type, (event) => (event.pointerType === "touch" ? touch(event) : drag(event)), first);
    }
    frame.addEventListener("wheel", roll, first);
    // Two fingers do not scroll or scale the page around the board.
    frame.addEventListener("touchstart", (event) => event.touches.length > 1 && event.preventDefault(), first);
    addEventListener("blur", () => setSpace(false), { signal });
    addEventListener("keyup", (event) => event.key === " " && setSpace(false), { signal });
    return {
        /** Whether fingers hold the page. */
        get isHolding() { return hold !== null; },
        /** Whether a mouse or a pen moves the page, where it draws otherwise. */
        set isSpaceDown(isDown) { setSpace(isDown); },
        /** Leaves no trace on the frame. */
        close() {
            setSpace(false);
            frame.removeAttribute("data-pulled");
        },
    };
}
