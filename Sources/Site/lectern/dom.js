/** What pages and elements use of a browser: its memory of choices, elements, icons, and letters as commands. */

/** The text of a key; null where there is none. `store`: `sessionStorage` for what is a tab's. */
export function remembered(key, store = "localStorage") {
    try {
        return globalThis[store].getItem(key);
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
export function remember(key, value, store = "localStorage") {
    try {
        globalThis[store].setItem(key, typeof value === "string" ? value : JSON.stringify(value));
    } catch {
        // Full, or not allowed: the person chooses again.
    }
}

/** Makes an element with properties, or with attributes where it has none of a name. Text is text: nothing of it becomes markup. */
export function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name in made && name !== "list") made[name] = value;
        else made.setAttribute(name, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
}

/** A button with an icon, which is said by its name; `key` as people read it, such as `Ctrl Z`. */
export function iconButton(icon, name, key = "", properties = {}) {
    return describe(element("button", { type: "button", className: "plain", ...properties }, iconOf(icon)), name, key);
}

/** Gives a control its name, where it has no text of its own, and its key. */
export function describe(control, name, key = "") {
    if (control.textContent.trim() === "") control.setAttribute("aria-label", name);
    control.title = key === "" ? name : `${name} (${key})`;
    if (key !== "") control.setAttribute("aria-keyshortcuts", key.replace("Ctrl", "Control").replaceAll(" ", "+"));
    return control;
}

/** By how many places of a row the right arrow key goes on: a row may begin at its right end. */
export function rightStep(row) {
    return getComputedStyle(row).direction === "rtl" ? -1 : 1;
}

/** Calls when a CSS pixel becomes another number of pixels, as on another screen: no size of an element says so. */
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

/** Calls again and again while the page is visible, and once when it becomes so. `body` may be async: one call is over before the next. */
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

const tasks = [];
/** Made when it is needed: an open one keeps Node alive that only imports this. */
let channel = null;

/** Runs a function in a task of its own, at once. */
export function nextTask(body) {
    if (!channel) {
        channel = new MessageChannel();
        channel.port1.onmessage = () => tasks.shift()();
    }
    tasks.push(body);
    channel.port2.postMessage(null);
}

export function iconAddress(name) {
    return new URL(`../lectern/icons.svg#${name}`, import.meta.url).href;
}

export function svgElement(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
}

/** The icons as a document, for pages of other origins: these cannot refer to them. */
let icons = null;

export function iconOf(name) {
    const icon = svgElement("svg", { class: "icon", "aria-hidden": "true" });
    const address = iconAddress(name);
    if (new URL(address).origin === location.origin) {
        icon.append(svgElement("use", { href: address }));
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

/** Rows of a list by their keys: made when they are first shown, and taken off when they are no longer. */
export class KeyedList {
    #list;
    #make;
    #rows = new Map();

    /** @param {Element} list has nothing else @param {(key: string) => {node: Element}} make */
    constructor(list, make) {
        [this.#list, this.#make] = [list, make];
    }

    /** The row of a key; undefined where it is not shown. */
    get(key) { return this.#rows.get(key); }

    /** Shows the rows of these keys alone, in their order; returns them. */
    show(keys) {
        for (const [key, { node }] of this.#rows) {
            if (keys.includes(key)) continue;
            node.remove();
            this.#rows.delete(key);
        }
        return keys.map((key, place) => {
            if (!this.#rows.has(key)) this.#rows.set(key, this.#make(key));
            const row = this.#rows.get(key);
            if (this.#list.children[place] !== row.node) this.#list.insertBefore(row.node, this.#list.children[place] ?? null);
            return row;
        });
    }
}

/** Ends a dialog where somebody clicks beside it. */
export function closeBeside(dialog) {
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
}

/** Shows a dialog; resolves with the value of the button that ends it, "" for none. @returns {Promise<string>} */
export function answerOf(dialog) {
    // It keeps an answer, which Escape would give again.
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true }));
}

// Pointers.

/** Where a pointer is on a board's canvas, in board units. */
export function placeOn(canvas, { width, height }, { clientX, clientY }) {
    const box = canvas.getBoundingClientRect();
    return { x: ((clientX - box.left) * width) / box.width, y: ((clientY - box.top) * height) / box.height };
}

/** Where a pointer was since its last event, as often as the browser tells it. */
export function samplesOf(event) {
    const samples = event.getCoalescedEvents?.() ?? [];
    return samples.length > 0 ? samples : [event];
}

/** Whether a pen comes down with its eraser, or while the button on its barrel is held. */
export function isEraser({ pointerType, button, buttons }) {
    return pointerType === "pen" && ([2, 5].includes(button) || (buttons & 34) !== 0);
}

/** Has an element told of a pointer wherever that goes. */
export function capture(target, pointerId) {
    try {
        target.setPointerCapture(pointerId);
    } catch {
        // The pointer is gone already.
    }
}

/** Turns places of the window into those of what is laid out beside an element: `zoom` pixels of the window each. */
export function layoutAround(part) {
    const sheet = part.offsetParent ?? document.documentElement;
    const { left, top, width } = sheet.getBoundingClientRect();
    const zoom = width / sheet.offsetWidth || 1;
    const placeAt = (x, y) => ({ x: (x - left) / zoom - sheet.clientLeft, y: (y - top) / zoom - sheet.clientTop });
    return { zoom, placeAt };
}

// Keys.

/** Whether a key of an event is somebody's already: something is typed or chosen with it. */
export function isTaken(event) {
    const [target] = event.composedPath();
    return event.defaultPrevented
        || Boolean(target.closest?.("input:not([type=range], [type=checkbox]), select, textarea, dialog, [contenteditable]"));
}

/** The key of an event in lower case: where a keyboard has letters of another script, the Latin one of its place. */
export function keyOf({ key, code }) {
    return key > "\x7f" && /^Key[A-Z]$/.test(code) ? code.at(-1).toLowerCase() : key.toLowerCase();
}

/** Calls with 1 for Page Down and −1 for Page Up, but where these scroll or choose; `body` says whether it takes the key. */
export function bindPageKeys(target, body) {
    target.addEventListener("keydown", (event) => {
        const step = { PageDown: 1, PageUp: -1 }[event.key];
        if (!step || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
        if (!event.target.closest?.("input, select, video, dialog") && body(step)) event.preventDefault();
    });
}

/** Single letters as commands: some speak to their computer, and others hit keys by chance, so they can be switched off. */
export const letterKeys = {
    get isOn() { return remembered("lectern-keys") !== "off"; },
    set isOn(isOn) { remember("lectern-keys", isOn ? "on" : "off"); },
    /** The key of an event as a command, letters in lower case; null where it is none. */
    of(event) {
        if (isTaken(event) || event.ctrlKey || event.metaKey || event.altKey) return null;
        const key = keyOf(event);
        return key.length > 1 || this.isOn ? key : null;
    },
};
