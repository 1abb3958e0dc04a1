/** Moves items of a list by dragging them. */

import { capture } from "./dom.js";

/** Pixels that a mouse moves before it drags, and milliseconds that a finger holds an item. */
const dragDistance = 6;
const holdTime = 350;
/** Pixels from an end of the list in which it scrolls, and pixels a frame. */
const edge = 40;
const scrollStep = 8;

/**
 * Drags items of a list that lies across or stands upright; a finger or a pen holds one first, for otherwise they scroll. `isAllowed` is
 * asked when a pointer goes down; `ondrop` is told the places from 0, `to` among the other items; null: given up. Returns `isUnderWay`,
 * whether an item is being moved, and `hasMoved`, whether one was moved just now: the click that follows means nothing.
 */
export function bindDrag(list, isAllowed, ondrop) {
    let state = null;
    let hasMoved = false;

    const down = (event) => {
        hasMoved = false;
        const item = event.target.closest("[role=option]");
        if (!item || event.button !== 0 || state || !isAllowed()) return;
        state = {
            item, pointer: event.pointerId, isLifted: false, isMouse: event.pointerType === "mouse", timer: null, frame: null,
            from: [...list.children].indexOf(item), to: null,
            start: { x: event.clientX, y: event.clientY }, at: { x: event.clientX, y: event.clientY },
            scroll: { x: list.scrollLeft, y: list.scrollTop },
        };
        if (!state.isMouse) state.timer = setTimeout(lift, holdTime);
    };
    const move = (event) => {
        if (state?.pointer !== event.pointerId) return;
        // A mouse that was lifted beside the list, which is not told.
        if (event.buttons === 0) return end(event, false);
        state.at = { x: event.clientX, y: event.clientY };
        if (state.isLifted) return;
        const distance = Math.hypot(state.at.x - state.start.x, state.at.y - state.start.y);
        if (distance < dragDistance) return;
        if (state.isMouse) lift();
        else end(event, false);
    };
    const lift = () => {
        if (!state?.item.isConnected) return void (state = null);
        state.isLifted = true;
        hasMoved = true;
        state.item.dataset.lifted = "";
        capture(list, state.pointer);
        const step = () => {
            follow();
            state.frame = requestAnimationFrame(step);
        };
        step();
    };
    /** Puts the item under the pointer, marks where it would go, and scrolls at the ends. */
    const follow = () => {
        const { item, start, at, scroll } = state;
        const { flexDirection, direction } = getComputedStyle(list);
        const isUpright = flexDirection === "column";
        const bounds = list.getBoundingClientRect();
        const [position, low, high] = isUpright ? [at.y, bounds.top, bounds.bottom] : [at.x, bounds.left, bounds.right];
        const step = position < low + edge ? -scrollStep : position > high - edge ? scrollStep : 0;
        list.scrollBy(isUpright ? 0 : step, isUpright ? step : 0);
        const [x, y] = [at.x - start.x + list.scrollLeft - scroll.x, at.y - start.y + list.scrollTop - scroll.y];
        item.style.transform = isUpright ? `translateY(${y}px)` : `translateX(${x}px)`;
        const others = [...list.children].filter((other) => other !== item);
        const isLeftward = !isUpright && direction === "rtl";
        const to = others.filter((other) => {
            const box = other.getBoundingClientRect();
            const middle = isUpright ? box.top + box.height / 2 : box.left + box.width / 2;
            return isLeftward ? middle > position : middle < position;
        }).length;
        state.to = to;
        others.forEach((other, place) => {
            const mark = place === to ? "before" : place === to - 1 && to === others.length ? "after" : null;
            if (mark) other.dataset.drop = mark;
            else delete other.dataset.drop;
        });
    };
    const end = (event, isDropped) => {
        if (state?.pointer !== event.pointerId) return;
        clearTimeout(state.timer);
        if (state.isLifted) {
            if (isDropped) follow();
            cancelAnimationFrame(state.frame);
            delete state.item.dataset.lifted;
            state.item.style.transform = "";
            for (const item of list.children) delete item.dataset.drop;
        }
        const { isLifted, from, to } = state;
        state = null;
        if (!isLifted) return;
        setTimeout(() => (hasMoved = false), 0);
        ondrop(isDropped && to !== from ? from : null, to);
    };

    list.addEventListener("pointerdown", down);
    list.addEventListener("pointermove", move);
    list.addEventListener("pointerup", (event) => end(event, true));
    list.addEventListener("pointercancel", (event) => end(event, false));
    list.addEventListener("contextmenu", (event) => event.preventDefault());
    // A list that has been held does not scroll.
    list.addEventListener("touchmove", (event) => {
        if (state?.isLifted && event.cancelable) event.preventDefault();
    }, { passive: false });
    document.addEventListener("keydown", (event) => {
        if (event.key === "Escape" && state?.isLifted) end({ pointerId: state.pointer }, false);
    });
    return { get isUnderWay() { return state?.isLifted === true; }, get hasMoved() { return hasMoved; } };
}
