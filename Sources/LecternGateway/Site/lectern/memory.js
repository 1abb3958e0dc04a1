/**
 * What a browser remembers of a person's choices: nothing where it keeps nothing.
 *
 * @module
 */

/** The text of a key; null where there is none. */
export function remembered(key) {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
}

/** The value of a key that {@link remember} was given; null where there is none. */
export function rememberedValue(key) {
    try {
        return JSON.parse(remembered(key));
    } catch {
        return null;
    }
}

/** Remembers a text, or a value as JSON. */
export function remember(key, value) {
    try {
        localStorage.setItem(key, typeof value === "string" ? value : JSON.stringify(value));
    } catch {
        // Full, or not allowed: the person chooses again.
    }
}
