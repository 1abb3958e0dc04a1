/** The pages of a board as a strip of small pictures: to turn, add, move and take out pages. */

import { bindPageKeys, element, KeyedList, rightStep, say } from "./dom.js";
import { mark, t } from "./language.js";
import { bindDrag } from "./page-drag.js";
import { pageWords } from "./words.js";

/** Pixels of a small picture, and milliseconds between two of one page, and until the next try after a failure. */
const pictureWidth = 192;
const pictureInterval = 1500;
const retryInterval = 4000;

/** Shows the pages of a teacher's room, and changes them by pointer and by keys. Tells a `problem` with its `message`. */
export class PageStrip extends EventTarget {
    #teacher;
    #gateway;
    #root;
    #list;
    /** The items of the list by their pages, and in their order. */
    #items;
    #shown = [];
    #inView;
    #drag;
    /** Pages that were taken out here, the last one last, with their places. */
    #removed = [];
    #isFetching = false;
    #isWaiting = false;
    #timer = null;
    #index = 0;

    /** `root` has the elements of the strip, by their ids. */
    constructor(teacher, gateway = teacher.board.gateway, root = document) {
        super();
        [this.#teacher, this.#gateway, this.#root, this.#list] = [teacher, gateway, root, root.getElementById("page-list")];
        this.#items = new KeyedList(this.#list, (page) => this.#itemOf(page));
        this.#inView = new IntersectionObserver((entries) => this.#seen(entries), { root: this.#list, rootMargin: "64px" });
        this.#drag = bindDrag(this.#list, () => this.#teacher.isWriting, (from, to) => {
            if (from === null) return this.#show();
            this.#move(this.#teacher.pages.order[from], to);
        });
        this.#list.addEventListener("click", (event) => {
            const item = event.target.closest("[role=option]");
            if (item && !this.#drag.hasMoved) this.#teacher.turn(Number(item.dataset.page));
        });
        this.#list.addEventListener("keydown", (event) => this.#listKey(event));
        bindPageKeys(root.host ?? root, (step) => {
            const { order, shown } = this.#teacher.pages;
            const page = order[order.indexOf(shown) + step];
            if (page !== undefined) this.#teacher.turn(page);
            return order.length > 1;
        });
        this.#part("page-add").addEventListener("click", () => this.#add());
        this.#part("page-remove").addEventListener("click", () => this.#remove(this.#teacher.page));
        this.#part("page-restore").addEventListener("click", () => this.#restore());
        this.#part("page-copy").addEventListener("click", () => {
            this.#ask(t("Copying the page"), mark("The page was not copied: {reason}"), async (...request) => {
                this.#teacher.turn((await this.#gateway.copyPage(...request)).page);
                this.#tell(t("This page is the copy"));
            });
        });
        this.#part("page-rotate").addEventListener("click", () => {
            this.#ask(t("Rotating the page"), mark("The page was not rotated: {reason}"), async (...request) => {
                await this.#gateway.rotatePage(...request);
                this.#tell(t("Rotated"));
            });
        });
        teacher.addEventListener("pages", () => this.#show());
        for (const type of ["writer", "muted"]) teacher.addEventListener(type, () => this.#show());
        teacher.addEventListener("rejected", ({ detail }) => {
            // This service has no pages.
            if (detail.error.code === "unknown-action") this.#part("page-add").hidden = true;
        });
        const { board } = teacher;
        board.addEventListener("operation", ({ detail }) => {
            this.#index = detail.operation.index;
            this.#stale([detail.operation.page ?? 0]);
        });
        board.addEventListener("index", ({ detail }) => {
            // The board was fetched, not led here by its operations.
            if (detail.index !== this.#index) this.#stale();
            this.#index = detail.index;
        });
        // The server has it by now, too.
        board.addEventListener("image", () => this.#stale([board.page]));
        board.addEventListener("size", ({ detail }) => {
            this.#list.style.setProperty("--aspect", String(detail.width / detail.height));
            this.#stale();
        });
        this.#show();
    }

    #part(id) { return this.#root.getElementById(id); }

    // What is done.

    #add() {
        const page = this.#teacher.pages.unused;
        if (page === undefined) return;
        this.#teacher.turn(page);
        this.#tell(t("Added"));
    }

    /** Moves a page to a place among the others, from 0. */
    #move(page, place) {
        const order = this.#teacher.pages.order.filter((other) => other !== page);
        order.splice(place, 0, page);
        this.#teacher.arrange(order);
        this.#show();
        say(this.#part("page-news"), `${t("Moved")}: ${pageWords(page, this.#teacher.pages.order)}`);
    }

    /** Takes a page out of sight; its ink stays. */
    #remove(page) {
        const { order, shown } = this.#teacher.pages;
        if (!this.#teacher.isWriting || order.length < 2) return;
        const place = order.indexOf(page);
        const rest = order.filter((other) => other !== page);
        // Its neighbour is shown, not the first page of all.
        if (page === shown) this.#teacher.turn(order[place + 1] ?? order[place - 1]);
        const hadFocus = this.#list.contains(this.#root.activeElement);
        this.#teacher.arrange(rest);
        this.#removed.push({ page, place });
        if (hadFocus) this.#items.get(rest[Math.min(place, rest.length - 1)])?.node.focus();
        say(this.#part("page-news"), t("Taken out. It can be brought back."));
    }

    /** Has the server change the page that is seen; `failed` says that it has not. */
    async #ask(doing, failed, change) {
        const { time, author, name, page, board } = this.#teacher;
        this.#isWaiting = true;
        this.#show();
        say(this.#part("page-news"), doing);
        try {
            await change(board.room, page, { time, author, name });
        } catch (error) {
            const message = t(failed, { reason: error.message });
            say(this.#part("page-news"), message);
            this.dispatchEvent(new CustomEvent("problem", { detail: { message } }));
        }
        this.#isWaiting = false;
        this.#show();
    }

    #restore() {
        const { order, hidden } = this.#teacher.pages;
        this.#removed = this.#removed.filter(({ page }) => hidden.includes(page));
        const { page, place } = this.#removed.pop() ?? { page: hidden.at(-1), place: order.length };
        if (page === undefined) return;
        this.#teacher.arrange([...order.slice(0, place), page, ...order.slice(place)]);
        this.#teacher.turn(page);
        this.#tell(t("Brought back"));
    }

    #tell(what) {
        const { shown, order } = this.#teacher.pages;
        say(this.#part("page-news"), `${what}: ${pageWords(shown, order)}`);
    }

    // Keys.

    #listKey(event) {
        const item = event.target.closest("[role=option]");
        if (!item || event.ctrlKey || event.metaKey) return;
        const { order } = this.#teacher.pages;
        const page = Number(item.dataset.page);
        const place = order.indexOf(page);
        const right = rightStep(this.#list);
        const target = {
            ArrowRight: place + right, ArrowDown: place + 1, ArrowLeft: place - right, ArrowUp: place - 1, Home: 0, End: order.length - 1,
        }[event.key];
        if (target !== undefined) {
            const to = Math.min(Math.max(target, 0), order.length - 1);
            if (event.altKey) {
                if (to !== place && this.#teacher.isWriting) this.#move(page, to);
            } else this.#focus(order[to]);
        } else if (event.key === "Enter" || event.key === " ") this.#teacher.turn(page);
        else if (event.key === "Delete" || event.key === "Backspace") this.#remove(page);
        else return;
        event.preventDefault();
    }

    #focus(page) {
        for (const item of this.#shown) item.node.tabIndex = item.page === page ? 0 : -1;
        this.#items.get(page)?.node.focus();
    }

    // What is shown.

    #show() {
        if (this.#drag.isUnderWay) return;
        const { shown, order, hidden, unused } = this.#teacher.pages;
        this.#part("pages").hidden = order.length < 2 && hidden.length === 0;
        this.#part("page-add").disabled = !this.#teacher.isWriting || unused === undefined;
        this.#part("page-remove").disabled = !this.#teacher.isWriting || order.length < 2;
        this.#part("page-copy").disabled = !this.#teacher.isWriting || this.#isWaiting || unused === undefined;
        this.#part("page-rotate").disabled = !this.#teacher.isWriting || this.#isWaiting;
        this.#part("page-restore").disabled = !this.#teacher.isWriting;
        this.#part("page-restore").hidden = hidden.length === 0;
        const focused = this.#shown.find(({ node, page }) => node === this.#root.activeElement && order.includes(page));
        this.#shown = this.#items.show(order);
        this.#shown.forEach(({ page, node, number }, place) => {
            say(number, String(place + 1));
            node.setAttribute("aria-label", pageWords(page, order));
            node.setAttribute("aria-selected", String(page === shown));
            node.tabIndex = page === (focused?.page ?? shown) ? 0 : -1;
        });
        // One that was moved has lost it.
        focused?.node.focus();
        const current = this.#items.get(shown);
        if (current && this.#list.dataset.shown !== String(shown)) {
            this.#list.dataset.shown = String(shown);
            current.node.scrollIntoView({ block: "nearest", inline: "nearest" });
        }
        this.#pump();
    }

    #itemOf(page) {
        const canvas = element("canvas", { width: 0, height: 0 });
        const number = element("span", { className: "number small" });
        const node = element("li", { className: "page-item", role: "option", "data-page": page }, canvas, number);
        this.#inView.observe(node);
        return { page, node, canvas, number, isStale: true, isInView: false, nextAt: 0 };
    }

    // Small pictures, of pages in view.

    #seen(entries) {
        for (const { target, isIntersecting } of entries) {
            const item = this.#shown.find(({ node }) => node === target);
            // One that was taken off is told of, too.
            if (!item) continue;
            item.isInView = isIntersecting;
            if (isIntersecting) continue;
            // A list of a thousand pages does not keep a thousand pictures.
            item.canvas.width = item.canvas.height = 0;
            item.isStale = true;
        }
        this.#pump();
    }

    /** The pictures of some pages, or of all, show what was. */
    #stale(pages = this.#shown.map(({ page }) => page)) {
        for (const item of this.#shown) item.isStale ||= pages.includes(item.page);
        this.#pump();
    }

    /** Fetches one picture at a time, none of a page too often. */
    #pump() {
        clearTimeout(this.#timer);
        if (this.#isFetching || this.#part("pages").hidden) return;
        const waiting = this.#shown.filter(({ isStale, isInView }) => isStale && isInView);
        if (waiting.length === 0) return;
        const item = waiting.reduce((first, other) => (other.nextAt < first.nextAt ? other : first));
        const wait = item.nextAt - performance.now();
        if (wait > 0) this.#timer = setTimeout(() => this.#pump(), wait);
        else this.#fetch(item);
    }

    async #fetch(item) {
        [this.#isFetching, item.isStale] = [true, false];
        let interval = pictureInterval;
        try {
            const reply = await this.#gateway.request(`api/rooms/${encodeURIComponent(this.#teacher.board.room)}/board.png`, {
                query: { cohort: "head", page: item.page, width: pictureWidth, background: "transparent" },
            });
            const picture = await createImageBitmap(await reply.blob());
            const { canvas } = item;
            [canvas.width, canvas.height] = [picture.width, picture.height];
            canvas.getContext("2d").drawImage(picture, 0, 0);
            picture.close();
        } catch {
            // The server is busy or away. The number stands for the picture.
            item.isStale = true;
            interval = retryInterval;
        }
        item.nextAt = performance.now() + interval;
        this.#isFetching = false;
        this.#pump();
    }
}
