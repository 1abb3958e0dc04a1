/**
 * Files of a teacher: slides become pages, pictures are placed on the page that is seen. They are dropped on the page, pasted,
 * or chosen.
 */

import { answerOf, placeOn } from "../lectern/dom.js";
import { t } from "../lectern/language.js";
import { GatewayError } from "../lectern/gateway.js";
import { $, say } from "./common.js";

/** What the service can open. */
const types = ["application/pdf", "image/png", "image/jpeg", "image/webp", "image/heic"];
/** The part of the board that a placed picture has at most, and board units a pixel of it. */
const mostOfBoard = 0.6;
const unitsPerPixel = 1;

/** Takes files by drop, by paste and by a button, one after the other. */
export class ImportTool {
    #teacher;
    #gateway;
    #queue = [];
    #current = null;
    #hideTimer = null;

    constructor(teacher, gateway) {
        [this.#teacher, this.#gateway] = [teacher, gateway];
        $("import").addEventListener("click", () => $("import-file").click());
        $("import-file").addEventListener("change", () => {
            const files = [...$("import-file").files];
            $("import-file").value = "";
            if (files.length === 1 && files[0].type.startsWith("image/")) this.#ask(files[0]);
            else this.#add(files, null);
        });
        $("import-cancel").addEventListener("click", () => this.#cancel());
        this.#listenToDrops();
        document.addEventListener("paste", (event) => {
            const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
            if (files.length === 0 || event.target.closest?.("input, textarea")) return;
            event.preventDefault();
            this.#add(files, this.#middle);
        });
        const show = () => ($("import").disabled = !teacher.isWriting);
        for (const type of ["writer", "muted"]) teacher.addEventListener(type, show);
        show();
    }

    get #middle() {
        const { width, height } = this.#teacher.board.size;
        return { x: width / 2, y: height / 2 };
    }

    #listenToDrops() {
        const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
        let depth = 0;
        const show = (isShown) => ($("drop-hint").hidden = !isShown);
        addEventListener("dragenter", (event) => {
            if (!hasFiles(event)) return;
            depth++;
            show(true);
        });
        addEventListener("dragleave", (event) => {
            if (hasFiles(event) && --depth <= 0) show(false);
        });
        addEventListener("dragover", (event) => {
            if (!hasFiles(event)) return;
            event.preventDefault();
            event.dataTransfer.dropEffect = "copy";
            $("drop-hint").dataset.places = String(event.altKey);
        });
        addEventListener("drop", (event) => {
            if (!hasFiles(event)) return;
            event.preventDefault();
            depth = 0;
            show(false);
            this.#add([...event.dataTransfer.files], event.altKey ? placeOn($("board"), this.#teacher.board.size, event) : null);
        });
    }

    /** A picture may be a page, or a part of one. */
    async #ask(file) {
        const answer = await answerOf($("import-dialog"));
        if (answer !== "") this.#add([file], answer === "here" ? this.#middle : null);
    }

    /** Takes files; pictures are placed at a place, null to make pages of them. */
    #add(files, place) {
        if (!this.#teacher.isWriting) return this.#tell(t("You cannot import while you do not write here."), "bad");
        const known = files.filter(({ type, name }) => types.includes(type) || /\.(pdf|png|jpe?g|webp|hei[cf])$/i.test(name));
        if (known.length < files.length) this.#tell(t("Only PDF, PNG, JPEG, WebP and HEIC files can be brought in."), "bad");
        // A PDF is slides.
        this.#queue.push(...known.map((file) => ({ file, place: file.type === "application/pdf" ? null : place })));
        if (!this.#current) this.#run();
    }

    #cancel() {
        this.#queue = [];
        this.#current?.abort();
        if (!this.#current) $("import-status").hidden = true;
    }

    async #run() {
        for (let next; (next = this.#queue.shift()); ) {
            this.#current = new AbortController();
            const name = next.file.name || t("the picture");
            try {
                const news = await this.#bring(next, name);
                this.#tell(news, "good");
            } catch (error) {
                if (error.code === "needs-password") {
                    // Asked until it fits, or until nothing is said.
                    const password = await this.#askPassword(name, next.password !== undefined);
                    if (password) this.#queue.unshift({ ...next, password });
                    else this.#tell(t("{name}: given up", { name }), "");
                } else if (error.name === "AbortError") this.#tell(t("{name}: given up", { name }), "");
                else this.#tell(`${name}: ${wordsOf(error)}`, "bad");
            }
        }
        this.#current = null;
        $("import-cancel").textContent = t("Close");
    }

    /** The password of a file, as a teacher types it; "" for none. */
    async #askPassword(name, isAgain) {
        say($("password-title"), isAgain ? t("This password does not fit") : t("This file has a password"));
        say($("password-file"), t("{name} is kept on this server without its password.", { name }));
        const answer = await answerOf($("password-dialog"));
        const password = $("password").value;
        $("password").value = "";
        return answer === "open" ? password : "";
    }

    async #bring({ file, place, password }, name) {
        const { room } = this.#teacher.board;
        const { signal } = this.#current;
        const onprogress = (sent, made = 0) => {
            if (sent < 1) this.#tell(t("Sending {name}", { name }), "wait", sent);
            else if (made > 0) this.#tell(t("Making pages of {name}", { name }), "wait", made);
            else this.#tell(t("Opening {name}", { name }), "wait", 1);
        };
        onprogress(0);
        if (!place) {
            const time = this.#teacher.time;
            const { pages } = await this.#gateway.importFile(room, file, { author: this.#teacher.author, name: this.#teacher.name, time, password, onprogress, signal });
            return pages.length === 1 ? t("{name}: a new page", { name }) : t("{name}: {count} new pages", { name, count: pages.length });
        }
        const asset = await this.#gateway.upload(room, file, { onprogress, signal });
        const isTaken = this.#teacher.placeImage(asset.id, this.#boxAt(place, asset));
        if (!isTaken) throw new GatewayError(0, "not-taken", t("it could not be placed just now."));
        return t("{name}: placed on this page", { name });
    }

    /** Where a picture lies around a point: as large as it is, but not too large, and on the board. */
    #boxAt({ x, y }, { width, height }) {
        const board = this.#teacher.board.size;
        const scale = Math.min(unitsPerPixel, (board.width * mostOfBoard) / width, (board.height * mostOfBoard) / height);
        const [w, h] = [width * scale, height * scale];
        return {
            x: Math.min(Math.max(x - w / 2, 0), board.width - w), y: Math.min(Math.max(y - h / 2, 0), board.height - h),
            width: w, height: h,
        };
    }

    #tell(text, tone, part = null) {
        clearTimeout(this.#hideTimer);
        const status = $("import-status");
        status.hidden = false;
        status.dataset.tone = tone;
        say($("import-text"), text);
        $("import-progress").hidden = part === null;
        // A server that opens a file does not say how far it is.
        if (part !== null && part < 1) $("import-progress").value = part;
        else $("import-progress").removeAttribute("value");
        say($("import-cancel"), tone === "wait" ? t("Cancel") : t("Close"));
        if (tone !== "wait" && tone !== "bad") this.#hideTimer = setTimeout(() => (status.hidden = true), 5000);
    }
}

/** What went wrong, for a teacher. */
function wordsOf(error) {
    switch (error.code) {
        case "too-large": return t("this file is too large: 50 MB at most.");
        case "no-journal":
        case "no-sandbox":
        case "unsupported": return t("this server takes no files.");
        default: return error.message;
    }
}
