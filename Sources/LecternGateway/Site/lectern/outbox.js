/**
 * What a teacher has drawn and the room has not answered for yet, or no checkpoint of the room holds, kept by the browser: nothing
 * drawn is lost by a crash, a reload, a lost network, or a power cut where the room's log is.
 *
 * @module
 */

/** Bytes of messages that wait at most; beyond, nothing new is taken. */
const mostBytes = 64 << 20;
const mostOperations = 16_384;

/** What was applied and no checkpoint holds is kept up to so much; beyond, the oldest is forgotten. */
const mostUncovered = { operations: 10_000, bytes: 32 << 20 };

/**
 * An operation that waits, or was applied.
 *
 * @typedef {object} OutboxEntry
 * @property {string} session the author's session in which its number counts
 * @property {number} n
 * @property {string[]} messages one, or the shards of a stroke
 * @property {object} operation the message with all points, as it is drawn
 * @property {string | null} [room] of one that was applied: the room's incarnation then; null while that is not known
 */

/**
 * The outbox of one author in one room.
 *
 * Each page numbers in a session of its own: what an earlier page has given numbers to, this one cannot know for certain. What
 * that page has left goes out first, under the numbers that it has, so that the room knows it again.
 */
export class Outbox {
    /** The session in which this page numbers. */
    session = "";
    /** The number of the next operation. */
    next = 1;
    /** Whether the browser keeps all that waits; false where it has no storage, as in some private windows. */
    isKept = false;
    #name;
    #database = null;
    /** What waits. */
    #entries = new Map();
    #bytes = 0;
    /** What the room has applied and no checkpoint is known to hold, the oldest first. */
    #uncovered = new Map();
    #uncoveredBytes = 0;
    /** Entries that the browser does not have yet, as they are. */
    #unkept = new Set();
    /** The room's incarnation; null while it is not known. */
    #room = null;

    /** @param {string} name of this outbox: gateway, room and author */
    constructor(name) {
        this.#name = name;
    }

    /** What waits, in the order in which it is sent: one session after the other. */
    get entries() {
        return [...this.#entries.values()];
    }

    get length() {
        return this.#entries.size;
    }

    /** Whether it keeps what the room has applied. */
    get hasUncovered() {
        return this.#uncovered.size > 0;
    }

    /** Whether it takes no more. */
    get isFull() {
        return this.#bytes > mostBytes || this.#entries.size >= mostOperations;
    }

    /** Whether an entry waits still, under its number. */
    has(entry) {
        return this.#entries.get(keyOf(entry)) === entry;
    }

    /** Reads what earlier pages have left, and begins a session. */
    async open() {
        const known = new Map([...this.#uncovered, ...this.#entries]);
        const found = new Map();
        try {
            this.#database ??= await openDatabase();
            const kept = await result(this.#database.transaction("waiting").objectStore("waiting").getAll(this.#range));
            for (const entry of kept) found.set(keyOf(entry), Object.assign(known.get(keyOf(entry)) ?? entry, { room: entry.room }));
            // What the browser had of this page, and has no more, another page has sent.
            for (const entry of this.#unkept) found.set(keyOf(entry), entry);
            this.isKept = this.#unkept.size === 0;
        } catch {
            for (const [key, entry] of known) found.set(key, entry);
            this.isKept = false;
        }
        this.#take(found.values());
        this.#beginSession();
        if (this.#unkept.size > 0) this.#write();
    }

    /** Begins a new session; what waits is numbered anew, in its order, with more fields in its messages where some are given. */
    async begin(more = {}) {
        const old = this.entries;
        this.#beginSession();
        for (const entry of old) this.#unkept.delete(entry);
        const waiting = old.map((entry) => renumbered(entry, this.session, this.next++, more));
        this.#take([...this.#uncovered.values(), ...waiting]);
        for (const entry of this.#entries.values()) this.#unkept.add(entry);
        await this.#write(old);
    }

    /**
     * Adds an operation under the next number.
     *
     * @param {(n: number) => {messages: string[], operation: object}} make makes it of its number
     * @returns {{entry: OutboxEntry, kept: Promise<void>}} `kept`: when the browser has it, or cannot keep it; never rejected
     */
    add(make) {
        const n = this.next++;
        return this.#add({ ...make(n), n, session: this.session });
    }

    /** Puts an operation behind all others, under a new number: the room has settled its old one. */
    renumber(entry) {
        this.remove([entry]);
        return this.#add(renumbered(entry, this.session, this.next++));
    }

    /** Forgets operations that the room has answered for. */
    remove(entries) {
        const known = entries.filter((entry) => this.has(entry));
        for (const entry of known) {
            this.#bytes -= sizeOf(entry);
            this.#entries.delete(keyOf(entry));
            this.#unkept.delete(entry);
        }
        if (known.length > 0) this.#write(known);
    }

    /** Takes operations as applied: they do not wait, but are kept for a log that loses its end. */
    applied(entries) {
        for (const entry of entries.filter((entry) => this.has(entry))) {
            this.#bytes -= sizeOf(entry);
            this.#entries.delete(keyOf(entry));
            entry.room = this.#room;
            this.#uncovered.set(keyOf(entry), entry);
            this.#uncoveredBytes += sizeOf(entry);
            this.#unkept.add(entry);
        }
        const gone = [];
        let [operations, bytes] = [this.#uncovered.size, this.#uncoveredBytes];
        for (const entry of this.#uncovered.values()) {
            if (operations <= mostUncovered.operations && bytes <= mostUncovered.bytes) break;
            gone.push(entry);
            operations -= 1;
            bytes -= sizeOf(entry);
        }
        this.#forget(gone);
        if (entries.length > 0) this.#write(gone);
    }

    /**
     * Takes the room's word on what checkpoints hold.
     *
     * @param {{session: string, covered: number}} mark of the author, at the head. What an earlier page of this browser has sent
     *   is covered, too, by a later session's
     */
    cover({ session, covered }) {
        const kept = [...this.#uncovered.values()];
        if (session !== this.session && !kept.some((entry) => entry.session === session)) return;
        const held = kept.filter((entry) => inOrder(entry, { session, n: covered }) <= 0);
        this.#forget(held);
        if (held.length > 0) this.#write(held);
    }

    /**
     * Takes the room's incarnation. In one that the room was restored to after its log had lost its end, what was applied before
     * waits again, under the same numbers: what the room has, it answers again. In any other it is forgotten: the room was closed.
     *
     * @param {string} incarnation "" while nobody has written to the room
     * @returns {boolean} whether something waits again
     */
    follow(incarnation) {
        this.#room = incarnation || null;
        const [again, gone] = [[], []];
        let isChanged = false;
        for (const entry of this.#uncovered.values()) {
            if (entry.room === this.#room) continue;
            isChanged = true;
            if (isRestored(incarnation, entry.room)) again.push(entry);
            else if (entry.room !== null) gone.push(entry);
            else {
                entry.room = this.#room;
                this.#unkept.add(entry);
            }
        }
        if (!isChanged) return false;
        this.#forget([...again, ...gone]);
        for (const entry of again) {
            delete entry.room;
            // The board shows it when the room has it.
            entry.isSeen = true;
            this.#unkept.add(entry);
        }
        this.#take([...this.#uncovered.values(), ...again, ...this.#entries.values()]);
        this.#write(gone);
        return again.length > 0;
    }

    /** Keeps no more of what was applied. */
    #forget(entries) {
        for (const entry of entries) {
            this.#uncovered.delete(keyOf(entry));
            this.#uncoveredBytes -= sizeOf(entry);
            this.#unkept.delete(entry);
        }
    }

    #beginSession() {
        [this.session, this.next] = [newSession(), 1];
    }

    #add(entry) {
        this.#entries.set(keyOf(entry), entry);
        this.#bytes += sizeOf(entry);
        this.#unkept.add(entry);
        return { entry, kept: this.#write() };
    }

    /** Holds these entries, in their order, and no others. */
    #take(entries) {
        [this.#entries, this.#bytes] = [new Map(), 0];
        [this.#uncovered, this.#uncoveredBytes] = [new Map(), 0];
        for (const entry of [...entries].sort(inOrder)) {
            if (entry.room === undefined) {
                this.#entries.set(keyOf(entry), entry);
                this.#bytes += sizeOf(entry);
            } else {
                this.#uncovered.set(keyOf(entry), entry);
                this.#uncoveredBytes += sizeOf(entry);
            }
        }
    }

    get #range() {
        return IDBKeyRange.bound([this.#name], [this.#name, []]);
    }

    #key({ session, n }) {
        return [this.#name, session, n];
    }

    /** Has the browser keep what it does not have yet, and forget others. */
    async #write(gone = []) {
        if (!this.#database) return;
        const unkept = [...this.#unkept];
        try {
            const transaction = this.#database.transaction("waiting", "readwrite");
            const waiting = transaction.objectStore("waiting");
            for (const entry of gone) waiting.delete(this.#key(entry));
            for (const entry of unkept) waiting.put(stored(entry), this.#key(entry));
            await new Promise((resolve, reject) => {
                transaction.oncomplete = resolve;
                transaction.onabort = transaction.onerror = () => reject(transaction.error);
            });
            for (const entry of unkept) this.#unkept.delete(entry);
            this.isKept = true;
        } catch {
            // The disk is full, or the user has cleared it: what is new is in memory only. The next write tries again.
            this.isKept = false;
        }
    }
}

/** What of an entry is kept: not what a page has noted on it. */
function stored({ session, n, messages, operation, room }) {
    return { session, n, messages, operation, room };
}

/** Whether the room went on in an incarnation after its log had lost its end, from another, or from one that is not known. */
function isRestored(incarnation, before) {
    const [, log, restorations] = /^(\w+)(?:\.(\d+))?-\d+$/.exec(incarnation) ?? [];
    const [, logBefore = log, restorationsBefore] = /^(\w+)(?:\.(\d+))?-\d+$/.exec(before ?? "") ?? [];
    return log !== undefined && log === logBefore && Number(restorations ?? 0) > Number(restorationsBefore ?? 0);
}

function keyOf({ session, n }) {
    return `${session} ${n}`;
}

/** Sessions in the order in which they began: their names begin with the time. */
function inOrder(one, other) {
    return one.session === other.session ? one.n - other.n : one.session < other.session ? -1 : 1;
}

function sizeOf(entry) {
    return entry.messages.reduce((sum, message) => sum + message.length, 0);
}

function renumbered(entry, session, n, more = {}) {
    const messages = entry.messages.map((text) => JSON.stringify({ ...JSON.parse(text), n, ...more }));
    return { session, n, messages, operation: { ...entry.operation, n } };
}

/** A name that no client has used before: 64 random bits and the time. */
function newSession() {
    const random = crypto.getRandomValues(new Uint32Array(2));
    return `${Date.now().toString(36)}-${[...random].map((part) => part.toString(36)).join("")}`;
}

/** Opens the database, whose entries are kept under `[name, session, n]`. */
function openDatabase() {
    const request = indexedDB.open("lectern-outbox", 2);
    request.onupgradeneeded = ({ oldVersion }) => {
        const waiting = request.result.createObjectStore("waiting");
        if (oldVersion === 1) takeFirstVersion(request.result, request.transaction, waiting);
    };
    return new Promise((resolve, reject) => {
        let isLate = false;
        request.onsuccess = () => {
            const database = request.result;
            // A page of a later version must not wait for this one.
            database.onversionchange = () => database.close();
            if (isLate) database.close();
            else resolve(database);
        };
        request.onerror = () => reject(request.error);
        // A page of the version before is open: this one keeps nothing rather than wait for its end.
        request.onblocked = () => {
            isLate = true;
            reject(new Error("blocked"));
        };
    });
}

/** The first version kept operations under `[name, n]`, and one session of each name apart. */
function takeFirstVersion(database, transaction, waiting) {
    transaction.objectStore("authors").openCursor().onsuccess = ({ target: { result: author } }) => {
        if (author) {
            const [name, { session }] = [author.key, author.value];
            const range = IDBKeyRange.bound([name], [name, []]);
            transaction.objectStore("operations").openCursor(range).onsuccess = ({ target: { result: operation } }) => {
                if (!operation) return;
                const { entry } = operation.value;
                waiting.put(stored({ ...entry, session }), [name, session, entry.n]);
                operation.continue();
            };
            return author.continue();
        }
        // Behind the requests above.
        transaction.objectStore("operations").count().onsuccess = () => {
            database.deleteObjectStore("authors");
            database.deleteObjectStore("operations");
        };
    };
}

function result(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}
