/** Moves items of a list by dragging them. */

import { capture } from "./dom.js";

/** Pixels that a mouse moves before it drags, and milliseconds that a finger holds an item. */
const dragDistance = 6;
const holdTime = 350;
/** Pixels from an end of the list in which it scrolls, and pixels a frame. */
const edge = 40;
const scrollStep = 8;

/** Drags items of a list that lies across or stands upright; a finger or a pen holds one first, for otherwise they scroll. */
export class PageDrag {
    /** Whether an item was moved just now: the click that follows means nothing. */
    hasMoved = false;
    #list;
    #isAllowed;
    #ondrop;
    #state = null;

    /** `isAllowed` is asked when a pointer goes down; `ondrop` is told the places from 0, `to` among the other items; null: given up. */
    constructor(list, isAllowed, ondrop) {
        [this.#list, this.#isAllowed, this.#ondrop] = [list, isAllowed, ondrop];
        list.addEventListener("pointerdown", (event) => this.#down(event));
        list.addEventListener("pointermove", (event) => this.#move(event));
        list.addEventListener("pointerup", (event) => this.#end(event, true));
        list.addEventListener("pointercancel", (event) => this.#end(event, false));
        list.addEventListener("contextmenu", (event) => event.preventDefault());
        // A list that has been held does not scroll.
        list.addEventListener("touchmove", (event) => {
            if (this.isUnderWay && event.cancelable) event.preventDefault();
        }, { passive: false });
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && this.isUnderWay) this.#end({ pointerId: this.#state.pointer }, false);
        });
    }

    /** Whether an item is being moved. */
    get isUnderWay() {
        return this.#state?.isLifted === true;
    }

    get #isUpright() {
        return getComputedStyle(this.#list).flexDirection === "column";
    }

    #down(event) {
        this.hasMoved = false;
        const item = event.target.closest("[role=option]");
        if (!item || event.button !== 0 || this.#state || !this.#isAllowed()) return;
        this.#state = {
            item, pointer: event.pointerId, isLifted: false, isMouse: event.pointerType === "mouse", timer: null, frame: null,
            from: [...this.#list.children].indexOf(item), to: null,
            start: { x: event.clientX, y: event.clientY }, at: { x: event.clientX, y: event.clientY },
            scroll: { x: this.#list.scrollLeft, y: this.#list.scrollTop },
        };
        if (!this.#state.isMouse) this.#state.timer = setTimeout(() => this.#lift(), holdTime);
    }

    #move(event) {
        const state = this.#state;
        if (state?.pointer !== event.pointerId) return;
        // A mouse that was lifted beside the list, which is not told.
        if (event.buttons === 0) return this.#end(event, false);
        state.at = { x: event.clientX, y: event.clientY };
        if (state.isLifted) return;
        const distance = Math.hypot(state.at.x - state.start.x, state.at.y - state.start.y);
        if (distance < dragDistance) return;
        if (state.isMouse) this.#lift();
        else this.#end(event, false);
    }

    #lift() {
        const state = this.#state;
        if (!state || !state.item.isConnected) return void (this.#state = null);
        state.isLifted = true;
        this.hasMoved = true;
        state.item.dataset.lifted = "";
        capture(this.#list, state.pointer);
        const follow = () => {
            this.#follow();
            state.frame = requestAnimationFrame(follow);
        };
        follow();
    }

    /** Puts the item under the pointer, marks where it would go, and scrolls at the ends. */
    #follow() {
        const { item, start, at, scroll } = this.#state;
        const list = this.#list;
        const isUpright = this.#isUpright;
        const bounds = list.getBoundingClientRect();
        const [position, low, high] = isUpright ? [at.y, bounds.top, bounds.bottom] : [at.x, bounds.left, bounds.right];
        const step = position < low + edge ? -scrollStep : position > high - edge ? scrollStep : 0;
        list.scrollBy(isUpright ? 0 : step, isUpright ? step : 0);
        const [x, y] = [at.x - start.x + list.scrollLeft - scroll.x, at.y - start.y + list.scrollTop - scroll.y];
        item.style.transform = isUpright ? `translateY(${y}px)` : `translateX(${x}px)`;
        const others = [...list.children].filter((other) => other !== item);
        const isLeftward = !isUpright && getComputedStyle(list).direction === "rtl";
        const to = others.filter((other) => {
            const box = other.getBoundingClientRect();
            const middle = isUpright ? box.top + box.height / 2 : box.left + box.width / 2;
            return isLeftward ? middle > position : middle < position;
        }).length;
        this.#state.to = to;
        others.forEach((other, place) => {
            const mark = place === to ? "before" : place === to - 1 && to === others.length ? "after" : null;
            if (mark) other.dataset.drop = mark;
            else delete other.dataset.drop;
        });
    }

    #end(event, isDropped) {
        const state = this.#state;
        if (state?.pointer !== event.pointerId) return;
        clearTimeout(state.timer);
        if (state.isLifted) {
            if (isDropped) this.#follow();
            cancelAnimationFrame(state.frame);
            delete state.item.dataset.lifted;
            state.item.style.transform = "";
            for (const item of this.#list.children) delete item.dataset.drop;
        }
        this.#state = null;
        if (!state.isLifted) return;
        setTimeout(() => (this.hasMoved = false), 0);
        this.#ondrop(isDropped && state.to !== state.from ? state.from : null, state.to);
    }
}
