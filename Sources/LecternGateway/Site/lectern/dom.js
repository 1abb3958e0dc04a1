/**
 * What pages and elements use of a browser: its memory of choices, elements, icons, and letters as commands.
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

/** Makes an element. Text is text: nothing of it becomes markup. */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name in made && name !== "list") made[name] = value;
        else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/** By how many places of a row the right arrow key goes on: a row may begin at its right end. */
export function rightStep(row) {
    return getComputedStyle(row).direction === "rtl" ? -1 : 1;
}

/** Calls when a CSS pixel becomes another number of pixels of the screen, as where a window goes to another screen: no size of an element says so. */
export function onPixelRatio(body, signal) {
    const listen = () => matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
        listen();
        body();
    }, { once: true, signal });
    listen();
}

/** Changes a text only when it is another: screen readers read changes. */
export function say(target, text) {
    if (target.textContent !== text) target.textContent = text;
}

/** Calls again and again while the page is visible, and once when it becomes so; `body` may be async, and is not called beside itself. */
export function whileVisible(milliseconds, body) {
    let timer = null;
    let isUnderWay = false;
    const go = async () => {
        clearTimeout(timer);
        if (document.hidden || isUnderWay) return;
        isUnderWay = true;
        try {
            await body();
        } finally {
            isUnderWay = false;
            timer = setTimeout(go, milliseconds);
        }
    };
    document.addEventListener("visibilitychange", go);
    go();
}

/** The address of an icon. */
export function iconAddress(name) {
    return new URL(`../lectern/icons.svg#${name}`, import.meta.url).href;
}

/** The icons as a document, for pages of other origins: these cannot refer to them. */
let icons = null;

/** An icon of the set. */
export function iconOf(name) {
    const space = "http://www.w3.org/2000/svg";
    const icon = document.createElementNS(space, "svg");
    icon.setAttribute("class", "icon");
    icon.setAttribute("aria-hidden", "true");
    const address = iconAddress(name);
    if (new URL(address).origin === location.origin) {
        const use = document.createElementNS(space, "use");
        use.setAttribute("href", address);
        icon.append(use);
        return icon;
    }
    icons ??= fetch(new URL("../lectern/icons.svg", import.meta.url)).then(async (reply) =>
        new DOMParser().parseFromString(await reply.text(), "image/svg+xml"));
    icons.then((known) => {
        const symbol = known.getElementById(name);
        icon.setAttribute("viewBox", symbol.getAttribute("viewBox"));
        for (const part of symbol.children) icon.append(document.importNode(part, true));
    }).catch(() => {
        // Its button has a name.
        icons = null;
    });
    return icon;
}

/** Single letters as commands: some speak to their computer, and others hit keys by chance, so they can be switched off. */
export const letterKeys = {
    get isOn() { return remembered("lectern-keys") !== "off"; },
    set isOn(isOn) { remember("lectern-keys", isOn ? "on" : "off"); },
    /** Whether a key of an event is a command: not where something is typed or chosen with it. */
    take(event) {
        const isTyped = event.target.closest?.("input:not([type=range], [type=checkbox]), select, textarea, dialog, [contenteditable]");
        return !event.defaultPrevented && !isTyped && (event.key.length > 1 || this.isOn);
    },
    /** Binds the box that switches them. */
    bind(box) {
        box.checked = this.isOn;
        box.addEventListener("change", () => (this.isOn = box.checked));
    },
};
