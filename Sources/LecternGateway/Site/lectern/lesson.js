/**
 * A recorded lesson, as far as a page has fetched it: operations with their times, and boards to go on from.
 *
 * @module
 */

import { Action, BoardModel, Divergence } from "./model.js";

/** Operations between two boards that are kept; more where boards are large. */
const leastSpacing = 256;
/** Strokes on all boards that are kept, about 40 bytes each: a stroke is counted on every board that shows it. */
const mostOnBoards = 500_000;

/**
 * An operation of a lesson, as `BoardModel.apply` takes it.
 *
 * @typedef {object} Entry
 * @property {number} index its place in the room, from 1
 * @property {string} author
 * @property {number} page the one that it is on, or shows
 * @property {object} message
 * @property {number} [ref]
 * @property {string} [digest] of the board after it
 * @property {number} epoch encoder session on whose time line `due` is
 * @property {number} due a player that has passed it shows the operation; the greatest of all up to this one
 * @property {boolean} isGrowing whether it is a stroke whose points have times of their own
 */

/** A kept board, and the operations after it up to the next part's. */
class Part {
    entries = [];
    points = 0;

    /** @param {BoardModel} board never changed */
    constructor(board) {
        this.board = board;
    }

    /** The index of its last operation. */
    get last() {
        return this.board.index + this.entries.length;
    }
}

/** Parts of one lesson. Between them may be gaps; what is far from the player is forgotten when there is too much. */
export class RecordedLesson {
    /** Incarnation of the room; "" before anything was fetched. */
    room = "";
    /** The encoder sessions: `{ep, first, last, from, to}` each, as in the reply. */
    epochs = [];
    /** Points of all strokes that are kept. */
    points = 0;
    #grows;
    #mostPoints;
    /** In the order of their boards. */
    #parts = [];
    #spacing = leastSpacing;

    /**
     * @param {object} options
     * @param {boolean} options.grows whether a stroke is due with its last point, not with its first
     * @param {number} options.mostPoints points that are kept at most, but for what the player is at
     */
    constructor({ grows, mostPoints }) {
        [this.#grows, this.#mostPoints] = [grows, mostPoints];
    }

    /** Whether nothing was fetched yet. */
    get isEmpty() {
        return this.#parts.length === 0;
    }

    /** The last operation that there is, fetched or not. */
    get last() {
        return this.epochs.reduce((most, { last }) => Math.max(most, last), 0);
    }

    /** How many operations are kept. */
    get count() {
        return this.#parts.reduce((sum, { entries }) => sum + entries.length, 0);
    }

    /** How many operations can be kept, and how many more, if all are as long as those that are here. */
    get capacity() {
        return (this.#mostPoints * this.count) / Math.max(this.points, 1);
    }
    get budget() {
        return this.capacity - this.count;
    }

    /**
     * Takes a reply of the server.
     *
     * @param {object} reply its operations follow its board, or an operation that is there
     * @throws {Divergence} it does not lead to the digests that it names, or is of another life of the room
     */
    add(reply) {
        if (this.room !== "" && reply.room !== this.room) throw new Divergence("the room has begun anew");
        this.room = reply.room;
        this.epochs = reply.epochs;
        if (reply.board && !this.#partOf(reply.board.index)) {
            const board = new BoardModel();
            board.join(reply.board);
            this.#insert(new Part(board));
        }
        let model = null;
        for (const raw of reply.ops) {
            const part = this.#partOf(raw.index - 1);
            if (!part) throw new Divergence("an operation is missing");
            if (part.last >= raw.index) continue;
            if (model?.index !== raw.index - 1) model = this.board(raw.index - 1);
            model = this.#append(raw, part, model);
        }
        this.#thinOut();
    }

    /** Puts an operation behind a part, or into a new one. Returns the board after it. */
    #append(raw, part, model) {
        if (part.entries.length >= this.#spacing) this.#insert((part = new Part(model.copy())));
        const { index, author, page, ref, digest, message, ep, e } = raw;
        const before = part.entries.at(-1) ?? this.#entry(index - 1);
        const isDraw = (message.a ?? Action.draw) <= Action.draw;
        const entry = {
            index, author, page, ref, digest, message, epoch: ep, due: (this.#grows ? raw.end : undefined) ?? e ?? -Infinity,
            isGrowing: this.#grows && isDraw && (message.d ?? []).some(({ m }) => m > 0),
        };
        // What straggles from an earlier session is due with what came before it.
        if (before && isPassed(entry, before.epoch, before.due)) [entry.epoch, entry.due] = [before.epoch, before.due];
        model.apply(entry);
        part.entries.push(entry);
        const count = message.d?.length ?? 0;
        part.points += count;
        this.points += count;
        const next = this.#parts[this.#parts.indexOf(part) + 1];
        if (next?.board.index === index && next.board.digest !== model.digest) {
            throw new Divergence(`the board at ${index} is another`);
        }
        return model;
    }

    #insert(part) {
        const place = this.#parts.findIndex(({ board }) => board.index > part.board.index);
        this.#parts.splice(place < 0 ? this.#parts.length : place, 0, part);
    }

    /** Keeps fewer boards where they are large. */
    #thinOut() {
        while (this.#parts.reduce((sum, { board }) => sum + board.count, 0) > mostOnBoards) {
            this.#spacing *= 2;
            const parts = [];
            for (const part of this.#parts) {
                const last = parts.at(-1);
                if (last?.last === part.board.index && last.entries.length + part.entries.length <= this.#spacing) {
                    last.entries.push(...part.entries);
                    last.points += part.points;
                } else parts.push(part);
            }
            if (parts.length === this.#parts.length) return;
            this.#parts = parts;
        }
    }

    /** Forgets parts on the side of an index where more is kept, while there are too many points. */
    prune(index) {
        while (this.points > this.#mostPoints) {
            const isBefore = ({ last }) => last < index;
            const isAfter = ({ board }) => board.index > index;
            const [before, after] = [isBefore, isAfter].map((side) =>
                this.#parts.filter(side).reduce((sum, { points }) => sum + points, 0));
            if (before + after === 0) return;
            this.points -= (before > after ? this.#parts.shift() : this.#parts.pop()).points;
        }
    }

    /**
     * The number of operations that a player has passed.
     *
     * @param {number} time of the player
     * @param {number | undefined} epoch the encoder session that its time line belongs to
     * @returns {number | null} null where that is not known: the operations around are to be fetched
     */
    index(time, epoch) {
        const parts = this.#parts.filter(({ entries }) => entries.length > 0);
        const next = parts.findIndex(({ entries }) => !isPassed(entries[0], epoch, time));
        const part = next < 0 ? parts.at(-1) : parts[next - 1];
        const after = parts[next];
        if (part) {
            const count = passedCount(part.entries, epoch, time);
            const index = part.board.index + count;
            // Behind a part's last operation comes the next part, or the end of the lesson.
            if (count < part.entries.length || after?.board.index === index || index === this.last) return index;
        }
        // No operation of a session comes before its first.
        const begin = this.epochs.find(({ ep }) => ep === epoch)?.first ?? 1;
        const first = part ? after : (after ?? this.#parts[0]);
        if (first && (first.board.index === 0 || first.board.index + 1 === begin)) return first.board.index;
        return null;
    }

    /** The board after so many operations; null where it cannot be had from what is kept. */
    board(index) {
        const part = this.#partOf(index);
        if (!part) return null;
        const board = part.board.copy();
        for (const entry of part.entries.slice(0, index - board.index)) board.apply(entry);
        return board;
    }

    /** Up to so many operations after an index, as far as they are kept without a gap. */
    entries(index, count) {
        const entries = [];
        for (let place = this.#parts.indexOf(this.#partOf(index)); place >= 0 && entries.length < count; place++) {
            const part = this.#parts[place];
            const from = index + entries.length - part?.board.index;
            if (!(from >= 0 && from < part.entries.length)) break;
            entries.push(...part.entries.slice(from, from + count - entries.length));
        }
        return entries;
    }

    /**
     * What is kept around an index without a gap.
     *
     * @returns {{first: number, last: number, ahead: number}} the board that it begins with, the last operation, and
     *   points behind the index
     */
    stretch(index) {
        let place = this.#parts.indexOf(this.#partOf(index));
        if (place < 0) return { first: index, last: index, ahead: 0 };
        let start = place;
        while (start > 0 && this.#parts[start - 1].last === this.#parts[start].board.index) start--;
        let ahead = this.#parts[place].points;
        for (; this.#parts[place + 1]?.board.index === this.#parts[place].last; place++) ahead += this.#parts[place + 1].points;
        return { first: this.#parts[start].board.index, last: this.#parts[place].last, ahead };
    }

    /** The last operation before a time that is kept, or nothing. */
    lastBefore(time, epoch) {
        const part = this.#parts.findLast(({ entries }) => entries.length > 0 && isPassed(entries[0], epoch, time));
        return part?.entries[passedCount(part.entries, epoch, time) - 1];
    }

    /** The board of the next part behind an index. */
    nextBoard(index) {
        return this.#parts.find(({ board }) => board.index > index)?.board.index ?? Infinity;
    }

    #partOf(index) {
        const part = this.#parts.findLast(({ board }) => board.index <= index);
        return part && index <= part.last ? part : undefined;
    }

    #entry(index) {
        const part = this.#parts.findLast(({ board }) => board.index < index);
        return part?.entries[index - part.board.index - 1];
    }

    /** When a player has reached the end of an encoder session, as far as is known. */
    endOf(epoch) {
        const session = this.epochs.find(({ ep }) => ep === epoch);
        const last = session && this.#entry(session.last);
        return Math.max(session?.to ?? -Infinity, last && last.epoch === epoch ? last.due : -Infinity);
    }
}

/** Whether a player at a time of an encoder session has passed an operation. */
function isPassed(entry, epoch, time) {
    if (entry.epoch !== epoch && epoch !== undefined) return entry.epoch < epoch;
    return entry.due < time;
}

/** How many operations of a list, whose times rise, a player has passed. */
function passedCount(entries, epoch, time) {
    let [low, high] = [0, entries.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (isPassed(entries[middle], epoch, time)) low = middle + 1;
        else high = middle;
    }
    return low;
}
