/**
 * What a teacher has drawn and the room has not answered for yet, kept by the browser: nothing drawn is lost by a crash, a
 * reload or a lost network.
 *
 * @module
 */

/** Bytes of messages that wait at most; beyond, nothing new is taken. */
const mostBytes = 64 << 20;
const mostOperations = 16_384;

/**
 * An operation that waits.
 *
 * @typedef {object} OutboxEntry
 * @property {number} n its number in the author's session
 * @property {string[]} messages one, or the shards of a stroke
 * @property {object} operation the message with all points, as it is drawn
 */

/** The outbox of one author in one room. */
export class Outbox {
    /** The session in which the numbers count. */
    session = "";
    /** The number of the next operation. */
    next = 1;
    /** Whether the browser keeps it; false where it has no storage, as in some private windows. */
    isKept = false;
    #name;
    #database = null;
    #entries = new Map();
    #bytes = 0;

    /** @param {string} name of this outbox: gateway, room and author */
    constructor(name) {
        this.#name = name;
    }

    /** What waits, in the order of the numbers. */
    get entries() {
        return [...this.#entries.values()];
    }

    get length() {
        return this.#entries.size;
    }

    /** Whether it takes no more. */
    get isFull() {
        return this.#bytes > mostBytes || this.#entries.size >= mostOperations;
    }

    /** Reads what an earlier page has left. */
    async open() {
        try {
            this.#database ??= await openDatabase();
            const transaction = this.#database.transaction(["authors", "operations"]);
            const [author, entries] = await Promise.all([
                result(transaction.objectStore("authors").get(this.#name)),
                result(transaction.objectStore("operations").getAll(IDBKeyRange.bound([this.#name], [this.#name, []]))),
            ]);
            this.isKept = true;
            if (author) ({ session: this.session, next: this.next } = author);
            this.#entries.clear();
            this.#bytes = 0;
            for (const { entry } of entries) this.#add(entry);
        } catch {
            this.isKept = false;
        }
        if (this.session === "") await this.begin();
    }

    /** Begins a new session; what waits is numbered anew, in its order. */
    async begin() {
        const entries = this.entries;
        const old = entries.map(({ n }) => n);
        this.session = newSession();
        this.next = 1;
        this.#entries.clear();
        this.#bytes = 0;
        for (const entry of entries) this.#add(renumbered(entry, this.next++));
        await this.#write((authors, operations) => {
            authors.put(this.#author, this.#name);
            for (const n of old) operations.delete([this.#name, n]);
            for (const entry of this.#entries.values()) operations.put({ entry: stored(entry) }, [this.#name, entry.n]);
        });
    }

    /**
     * Adds an operation under the next number.
     *
     * @param {(n: number) => OutboxEntry} make makes it of its number
     * @returns {{entry: OutboxEntry, kept: Promise<void>}} `kept`: when the browser has it; never rejected
     */
    add(make) {
        const entry = make(this.next++);
        this.#add(entry);
        const kept = this.#write((authors, operations) => {
            authors.put(this.#author, this.#name);
            operations.put({ entry: stored(entry) }, [this.#name, entry.n]);
        });
        return { entry, kept };
    }

    /** Puts an operation behind all others, under a new number: the room has settled its old one. */
    renumber(entry) {
        this.remove([entry.n]);
        return this.add((n) => renumbered(entry, n));
    }

    /** Forgets operations that the room has answered for. */
    remove(numbers) {
        const known = numbers.filter((n) => this.#entries.has(n));
        for (const n of known) {
            this.#bytes -= sizeOf(this.#entries.get(n));
            this.#entries.delete(n);
        }
        if (known.length === 0) return;
        this.#write((authors, operations) => {
            for (const n of known) operations.delete([this.#name, n]);
        });
    }

    get #author() {
        return { session: this.session, next: this.next };
    }

    #add(entry) {
        this.#entries.set(entry.n, entry);
        this.#bytes += sizeOf(entry);
    }

    async #write(body) {
        if (!this.isKept) return;
        try {
            const transaction = this.#database.transaction(["authors", "operations"], "readwrite");
            body(transaction.objectStore("authors"), transaction.objectStore("operations"));
            await new Promise((resolve, reject) => {
                transaction.oncomplete = resolve;
                transaction.onabort = transaction.onerror = () => reject(transaction.error);
            });
        } catch {
            // The disk is full, or the user has cleared it: what waits is in memory only.
            this.isKept = false;
        }
    }
}

/** What of an entry is kept: not what a page has noted on it. */
function stored({ n, messages, operation }) {
    return { n, messages, operation };
}

function sizeOf(entry) {
    return entry.messages.reduce((sum, message) => sum + message.length, 0);
}

function renumbered(entry, n) {
    const messages = entry.messages.map((text) => JSON.stringify({ ...JSON.parse(text), n }));
    return { n, messages, operation: { ...entry.operation, n } };
}

/** A name that no client has used before: 64 random bits and the time. */
function newSession() {
    const random = crypto.getRandomValues(new Uint32Array(2));
    return `${Date.now().toString(36)}-${[...random].map((part) => part.toString(36)).join("")}`;
}

function openDatabase() {
    const request = indexedDB.open("lectern-outbox", 1);
    request.onupgradeneeded = () => {
        request.result.createObjectStore("authors");
        request.result.createObjectStore("operations");
    };
    return result(request);
}

function result(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}
