/**
 * The board of a room as a fold of its operations: what is visible, what was undone, and the digest that proves it.
 *
 * @module
 */

import { BoardPages } from "./board-pages.js";
import { AuthorNames } from "./names.js";

/** Undone strokes and clears that are kept for a redo or an undo, beyond what a service keeps by default. */
const mostUndone = 1024;
const mostClears = 16;

const mask = 0xffff_ffff_ffff_ffffn;

/** What a visible stroke adds to the digest of a board: SplitMix64 of its index. */
export function mix(index) {
    let z = (BigInt(index) + 0x9e37_79b9_7f4a_7c15n) & mask;
    z = ((z ^ (z >> 30n)) * 0xbf58_476d_1ce4_e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d0_49bb_1331_11ebn) & mask;
    return z ^ (z >> 31n);
}

/** The client's board is not the room's: it has to join again. */
export class Divergence extends Error {
    name = "Divergence";
}

/** The action of a message: its `a`. */
export const Action = Object.freeze({ draw: 1, undo: 2, redo: 3, clear: 4, turn: 5, arrange: 6 });

/** What is drawn: the values of a message's `e`. */
export const Element = Object.freeze({ freehand: 0, line: 1, ellipse: 2, rectangle: 3, eraser: 4, image: 5, lasso: 6, highlighter: 9, arrow: 10 });

/**
 * A stroke, an image or a lasso: an entry of a page.
 *
 * @typedef {object} Stroke
 * @property {number} index its operation's place in the room, from 1; 0 while it is not known
 * @property {number} page the page that it is on
 * @property {string} author who drew it
 * @property {number | undefined} time media time in milliseconds
 * @property {object} message the compact message, which the painter takes
 */

/** The entry of a message. */
export function strokeOf(message, { index = 0, author = "", page = 0 } = {}) {
    return { index, page, author, message, time: message.t === undefined ? undefined : Math.trunc(message.t) };
}

/** The visible strokes of one page, by their indices. */
class PageStrokes {
    #strokes = new Map();
    /** Whether indices were put in out of order since the strokes were last listed. */
    #isSorted = true;
    /** The greatest index that was put in. */
    #last = 0;

    get count() {
        return this.#strokes.size;
    }

    /** From the bottom to the top, which is the order of their indices. */
    get list() {
        if (!this.#isSorted) {
            this.#strokes = new Map([...this.#strokes].sort(([a], [b]) => a - b));
            this.#isSorted = true;
        }
        return [...this.#strokes.values()];
    }

    get(index) {
        return this.#strokes.get(index);
    }

    /** Returns false where it is there already. */
    add(stroke) {
        if (this.#strokes.has(stroke.index)) return false;
        this.#strokes.set(stroke.index, stroke);
        if (stroke.index < this.#last) this.#isSorted = false;
        this.#last = Math.max(this.#last, stroke.index);
        return true;
    }

    /** Returns false where it is not there. */
    remove(stroke) {
        return this.#strokes.delete(stroke.index);
    }

    /** The same strokes, to be changed on their own. */
    copy() {
        const other = new PageStrokes();
        other.#strokes = new Map(this.#strokes);
        [other.#isSorted, other.#last] = [this.#isSorted, this.#last];
        return other;
    }
}

/** The board of one room at one index. */
export class BoardModel {
    /** The room's incarnation; "" while nobody has written to it. */
    room = "";
    /** The index of the last operation applied. */
    index = 0;
    width = 1024;
    height = 768;
    palette = [];
    style = "smooth";
    /** What the service offers beyond strokes on one page. */
    features = [];
    /** Who drew the last operation. */
    author = null;
    /** Which pages there are, and which one is shown. */
    pages = new BoardPages();
    /** What authors are called. */
    names = new AuthorNames();

    /** Strokes by their pages. */
    #visible = new Map();
    #undone = new Map();
    /** Strokes by the index of the clear that took them away. */
    #cleared = new Map();
    /** Clears that were undone, with their pages. */
    #undoneClears = new Map();
    #digest = 0n;
    #isProvisional = true;

    /** The digest of the visible strokes of all pages, 16 hexadecimal digits. */
    get digest() {
        return this.#digest.toString(16).padStart(16, "0");
    }

    /** How many strokes are visible on all pages. */
    get count() {
        let count = 0;
        for (const page of this.#visible.values()) count += page.count;
        return count;
    }

    /** The visible strokes of the shown page, as {@link strokesOn}. */
    get strokes() {
        return this.strokesOn(this.pages.shown);
    }

    /** The visible strokes of a page from the bottom to the top, which is the order of their indices. */
    strokesOn(page) {
        return this.#visible.get(page)?.list ?? [];
    }

    /** How many strokes are visible on a page. */
    countOn(page) {
        return this.#visible.get(page)?.count ?? 0;
    }

    /** How many strokes and clears of a page can be brought back, as far as this client knows. */
    undoneOn(page) {
        let count = 0;
        for (const stroke of this.#undone.values()) if (stroke.page === page) count++;
        for (const other of this.#undoneClears.values()) if (other === page) count++;
        return count;
    }

    /** Whether a page was cleared, and an undo may take that back, as far as this client knows. */
    isClearedOn(page) {
        for (const strokes of this.#cleared.values()) if (strokes[0]?.page === page) return true;
        return false;
    }

    /** The same board, to be taken further on its own. Strokes are shared. */
    copy() {
        const other = new BoardModel();
        const { room, index, width, height, palette, style, features, author, names } = this;
        Object.assign(other, { room, index, width, height, palette, style, features, author, names, pages: new BoardPages(this.pages) });
        other.#visible = new Map([...this.#visible].map(([page, strokes]) => [page, strokes.copy()]));
        other.#undone = new Map(this.#undone);
        other.#cleared = new Map(this.#cleared);
        other.#undoneClears = new Map(this.#undoneClears);
        other.#digest = this.#digest;
        other.#isProvisional = this.#isProvisional;
        return other;
    }

    /**
     * Takes the reply to a join: a whole board, which replaces all, or a tail.
     *
     * @returns {boolean} whether the board was replaced; for a tail its operations are to be applied
     */
    join(reply) {
        this.palette = reply.palette ?? this.palette;
        this.style = reply.style ?? this.style;
        this.features = reply.features ?? this.features;
        if (!reply.board) return false;
        this.room = reply.room;
        this.index = reply.index;
        this.width = reply.board.w;
        this.height = reply.board.h;
        this.pages = new BoardPages(reply.pages);
        this.#isProvisional = reply.provisional === true;
        this.#visible.clear();
        this.#undone.clear();
        this.#cleared.clear();
        this.#undoneClears.clear();
        this.#digest = 0n;
        for (const entry of reply.visible) this.#show(this.#strokeOf(entry));
        for (const entry of reply.redo ?? []) {
            if (entry.message.a === Action.clear) this.#undoneClears.set(entry.index, entry.page ?? 0);
            else this.#undone.set(entry.index, this.#strokeOf(entry));
        }
        for (const { index, visible } of reply.cleared ?? []) {
            this.#cleared.set(index, visible.map((entry) => this.#strokeOf(entry)));
        }
        const last = reply.visible[reply.visible.length - 1];
        this.author = last?.author ?? null;
        this.#check(reply.digest);
        return true;
    }

    /**
     * Applies the next operation.
     *
     * @param {{index: number, author: string, page?: number, ref?: number, digest?: string, message: object}} operation `page`:
     *   the one that it is on; of a turn and an arrange the one that is shown after it
     * @returns {{page: number, shown: Stroke[], hidden: Stroke[], isResized: boolean}} what came and went, all of it on `page`;
     *   `isResized`: the first stroke has decided the size of the board
     * @throws {Divergence} the operation is not the next one, names what is not there, or leads to another digest
     */
    apply(operation) {
        const { index, author, page = 0, ref, message } = operation;
        if (index !== this.index + 1) throw new Divergence(`operation ${index} does not follow ${this.index}`);
        const change = { page, shown: [], hidden: [], isResized: false };
        this.names.note(author, message);
        switch (message.a ?? Action.draw) {
            case Action.undo: this.#undo(ref, change); break;
            case Action.redo: this.#redo(ref, change); break;
            case Action.clear:
                this.#forgetUndone(page);
                this.#clear(index, change);
                break;
            case Action.turn: this.pages.turn(page); break;
            case Action.arrange: this.#arrange(message.v); break;
            default:
                change.isResized = this.#settleSize(message);
                this.pages.add(page);
                change.shown.push(this.#strokeOf({ index, author, page, message }));
        }
        for (const stroke of change.hidden) this.#hide(stroke);
        for (const stroke of change.shown) this.#show(stroke);
        this.index = index;
        this.author = author;
        this.#check(operation.digest);
        return change;
    }

    #undo(ref, change) {
        const stroke = this.#visible.get(change.page)?.get(ref);
        if (stroke) {
            this.#keep(this.#undone, ref, stroke, mostUndone);
            change.hidden.push(stroke);
        } else if (this.#cleared.has(ref)) {
            change.shown.push(...this.#cleared.get(ref));
            this.#cleared.delete(ref);
            this.#undoneClears.set(ref, change.page);
        } else throw new Divergence(`an undo names ${ref}, which is not there`);
    }

    #redo(ref, change) {
        const stroke = this.#undone.get(ref);
        if (stroke) {
            this.#undone.delete(ref);
            change.shown.push(stroke);
        } else if (this.#undoneClears.delete(ref)) this.#clear(ref, change);
        else throw new Divergence(`a redo names ${ref}, which is not there`);
    }

    #clear(index, change) {
        const strokes = this.strokesOn(change.page);
        // A service that keeps undoable clears may name this one later.
        this.#keep(this.#cleared, index, strokes, mostClears);
        change.hidden.push(...strokes);
    }

    /** Nothing of a page that was cleared can be done again. */
    #forgetUndone(page) {
        for (const [ref, stroke] of this.#undone) if (stroke.page === page) this.#undone.delete(ref);
        for (const [ref, other] of this.#undoneClears) if (other === page) this.#undoneClears.delete(ref);
    }

    #arrange(order) {
        if (!Array.isArray(order) || order.length === 0) throw new Divergence("an arrange has no order");
        this.pages.arrange(order);
    }

    #keep(map, key, value, most) {
        map.set(key, value);
        if (map.size > most) map.delete(map.keys().next().value);
    }

    #settleSize(message) {
        if (!this.#isProvisional) return false;
        this.#isProvisional = false;
        const [width, height] = [message.w ?? 1024, message.h ?? 768];
        const isResized = width !== this.width || height !== this.height;
        [this.width, this.height] = [width, height];
        return isResized;
    }

    #strokeOf(entry) {
        this.names.note(entry.author, entry.message);
        return strokeOf(entry.message, entry);
    }

    #show(stroke) {
        let strokes = this.#visible.get(stroke.page);
        if (!strokes) this.#visible.set(stroke.page, (strokes = new PageStrokes()));
        if (strokes.add(stroke)) this.#digest = (this.#digest + mix(stroke.index)) & mask;
    }

    #hide(stroke) {
        if (this.#visible.get(stroke.page)?.remove(stroke)) this.#digest = (this.#digest - mix(stroke.index)) & mask;
    }

    #check(digest) {
        if (digest !== undefined && digest !== this.digest) {
            throw new Divergence(`the digest at ${this.index} is ${this.digest}, not ${digest}`);
        }
    }
}
