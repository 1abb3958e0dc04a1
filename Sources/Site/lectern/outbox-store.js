/**
 * What a browser has of one author: the records of the outbox, `[name, session, number]` and the bytes that the core has made, and the
 * right to write.
 */

const writer = new TextEncoder();

/** The records of one author in one room. What the disk does not take stays here, and goes with the next write. */
export class OutboxStore {
    #name;
    #database = null;
    /** Whether the browser may have records. */
    #hasKept = false;
    /** What the browser does not have yet: records, and null for those to be deleted. */
    #unkept = new Map();

    /** The name of the outbox is gateway, room and author. */
    constructor(name) {
        this.#name = name;
    }

    /** All records, as `{session, n, bytes}`, with those that are here alone; null where the browser cannot read any. */
    async read() {
        let kept;
        try {
            const waiting = (await this.#transaction("readonly")).objectStore("waiting");
            const range = IDBKeyRange.bound([this.#name], [this.#name, []]);
            const [keys, values] = await Promise.all([result(waiting.getAllKeys(range)), result(waiting.getAll(range))]);
            kept = keys.map(([, session, n], place) => ({ session, n, bytes: values[place] }));
            this.#hasKept ||= kept.length > 0;
        } catch {
            // Others may be kept: those that are here are not all.
            if (this.#hasKept || this.#unkept.size === 0) return null;
            kept = [];
        }
        const records = new Map(kept.map((record) => [keyOf(record), record]));
        for (const [key, record] of this.#unkept) {
            if (record.bytes) records.set(key, record);
            else records.delete(key);
        }
        return [...records.values()];
    }

    /** Keeps records and deletes others, all or nothing; returns whether the browser has done so. */
    async write(records, deleted) {
        for (const record of [...records, ...deleted.map(({ session, n }) => ({ session, n }))]) {
            this.#unkept.delete(keyOf(record));
            this.#unkept.set(keyOf(record), record);
        }
        const unkept = [...this.#unkept];
        try {
            const transaction = await this.#transaction("readwrite");
            const waiting = transaction.objectStore("waiting");
            for (const [, { session, n, bytes }] of unkept) {
                const key = [this.#name, session, n];
                if (bytes) waiting.put(bytes, key);
                else waiting.delete(key);
            }
            // The page may go before it is told that they are kept.
            transaction.commit?.();
            await new Promise((resolve, reject) => {
                transaction.oncomplete = resolve;
                transaction.onabort = transaction.onerror = () => reject(transaction.error);
            });
        } catch {
            // The disk is full, or the user has cleared it.
            return false;
        }
        for (const [key, record] of unkept) if (this.#unkept.get(key) === record) this.#unkept.delete(key);
        this.#hasKept = true;
        return true;
    }

    /** Browsers end connections, such as those of a page in the background: then another one is opened. */
    async #transaction(mode) {
        try {
            if (this.#database) return this.#database.transaction("waiting", mode);
        } catch {
            this.#database = null;
        }
        this.#database ??= await openDatabase(() => (this.#database = null));
        return this.#database.transaction("waiting", mode);
    }
}

function keyOf({ session, n }) {
    return `${session} ${n}`;
}

function openDatabase(onclose) {
    const request = indexedDB.open("lectern-outbox", 3);
    request.onupgradeneeded = ({ oldVersion }) => {
        const waiting = request.result.createObjectStore("waiting");
        if (oldVersion === 1) takeFirstVersion(request.result, request.transaction, waiting);
    };
    return new Promise((resolve, reject) => {
        let isLate = false;
        request.onsuccess = () => {
            const database = request.result;
            // A page of a later version must not wait for this one.
            database.onversionchange = () => {
                database.close();
                onclose();
            };
            database.onclose = onclose;
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

/** The first version kept operations as objects under `[name, n]`, and one session of each name apart. */
function takeFirstVersion(database, transaction, waiting) {
    transaction.objectStore("authors").openCursor().onsuccess = ({ target: { result: author } }) => {
        if (author) {
            const [name, { session }] = [author.key, author.value];
            const range = IDBKeyRange.bound([name], [name, []]);
            transaction.objectStore("operations").openCursor(range).onsuccess = ({ target: { result: operation } }) => {
                if (!operation) return;
                const { n, messages } = operation.value.entry;
                waiting.put(writer.encode(["w", ...messages].join("\n")), [name, session, n]);
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

/**
 * Holds the right to write, by a lock of the browser: of several pages of an author one writes, the others are told and may take over.
 * Between devices the room decides: whoever begins a new session ends the one before.
 */
export class WriterLock {
    #name;
    #onchange;
    #release = null;
    #waiting = null;

    /** `name`: of the author in the room; `onchange` is told whether this page is the writer. */
    constructor(name, onchange) {
        [this.#name, this.#onchange] = [`lectern-writer ${name}`, onchange];
    }

    /** Asks for the right; where another page has it, waits for it. */
    request() {
        this.#ask({});
        navigator.locks?.query().then(({ held }) => {
            if (!this.#waiting.signal.aborted && !this.#release && held.some(({ name }) => name === this.#name)) this.#onchange(false);
        });
    }

    /** Takes the right from whichever page has it. */
    takeOver() {
        this.#ask({ steal: true });
    }

    close() {
        this.#waiting?.abort();
        this.#release?.();
        this.#release = null;
    }

    #ask(options) {
        // Locks need a secure context. Without them every page may write, and the room's sessions decide.
        if (!navigator.locks) return void this.#onchange(true);
        this.#waiting?.abort();
        const waiting = (this.#waiting = new AbortController());
        const hold = () => {
            // A lock that is stolen cannot be asked for with a signal.
            if (waiting.signal.aborted) return undefined;
            return new Promise((resolve) => {
                this.#release = resolve;
                this.#onchange(true);
            });
        };
        navigator.locks.request(this.#name, options.steal ? options : { signal: waiting.signal }, hold).catch(() => {
            if (waiting.signal.aborted) return;
            // Another page has taken over.
            this.#release = null;
            this.#onchange(false);
        });
    }
}
