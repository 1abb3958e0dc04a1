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
export function bindImport(teacher, gateway) {
    /** Files that wait, each with the place where a picture is put, null to make pages of it; and what ends the one under way. */
    let queue = [];
    let current = null;
    let hideTimer = null;

    $("import").addEventListener("click", () => $("import-file").click());
    $("import-file").addEventListener("change", async () => {
        const files = [...$("import-file").files];
        $("import-file").value = "";
        if (files.length !== 1 || !files[0].type.startsWith("image/")) return add(files, null);
        // A picture may be a page, or a part of one.
        const answer = await answerOf($("import-dialog"));
        if (answer !== "") add(files, answer === "here" ? middle() : null);
    });
    $("import-cancel").addEventListener("click", () => {
        queue = [];
        current?.abort();
        if (!current) $("import-status").hidden = true;
    });
    listenToDrops();
    document.addEventListener("paste", (event) => {
        const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
        if (files.length === 0 || event.target.closest?.("input, textarea")) return;
        event.preventDefault();
        add(files, middle());
    });
    const show = () => ($("import").disabled = !teacher.isWriting);
    for (const type of ["writer", "muted"]) teacher.addEventListener(type, show);
    show();

    function middle() {
        const { width, height } = teacher.board.size;
        return { x: width / 2, y: height / 2 };
    }

    function listenToDrops() {
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
            add([...event.dataTransfer.files], event.altKey ? placeOn($("board"), teacher.board.size, event) : null);
        });
    }

    function add(files, place) {
        if (!teacher.isWriting) return tell(t("You cannot import while you do not write here."), "bad");
        const known = files.filter(({ type, name }) => types.includes(type) || /\.(pdf|png|jpe?g|webp|hei[cf])$/i.test(name));
        if (known.length < files.length) tell(t("Only PDF, PNG, JPEG, WebP and HEIC files can be brought in."), "bad");
        // A PDF is slides.
        queue.push(...known.map((file) => ({ file, place: file.type === "application/pdf" ? null : place })));
        if (!current) run();
    }

    async function run() {
        for (let next; (next = queue.shift()); ) {
            current = new AbortController();
            const name = next.file.name || t("the picture");
            try {
                const news = await bring(next, name);
                tell(news, "good");
            } catch (error) {
                if (error.code === "needs-password") {
                    // Asked until it fits, or until nothing is said.
                    const password = await askPassword(name, next.password !== undefined);
                    if (password) queue.unshift({ ...next, password });
                    else tell(t("{name}: given up", { name }), "");
                } else if (error.name === "AbortError") tell(t("{name}: given up", { name }), "");
                else tell(`${name}: ${wordsOf(error)}`, "bad");
            }
        }
        current = null;
        $("import-cancel").textContent = t("Close");
    }

    /** The password of a file, as a teacher types it; "" for none. */
    async function askPassword(name, isAgain) {
        say($("password-title"), isAgain ? t("This password does not fit") : t("This file has a password"));
        say($("password-file"), t("{name} is kept on this server without its password.", { name }));
        const answer = await answerOf($("password-dialog"));
        const password = $("password").value;
        $("password").value = "";
        return answer === "open" ? password : "";
    }

    async function bring({ file, place, password }, name) {
        const { author, time, board: { room } } = teacher;
        const { signal } = current;
        const onprogress = (sent, made = 0) => {
            if (sent < 1) tell(t("Sending {name}", { name }), "wait", sent);
            else if (made > 0) tell(t("Making pages of {name}", { name }), "wait", made);
            else tell(t("Opening {name}", { name }), "wait", 1);
        };
        onprogress(0);
        if (!place) {
            const { pages } = await gateway.importFile(room, file, { author, name: teacher.name, time, password, onprogress, signal });
            return pages.length === 1 ? t("{name}: a new page", { name }) : t("{name}: {count} new pages", { name, count: pages.length });
        }
        const asset = await gateway.upload(room, file, { onprogress, signal });
        const isTaken = teacher.placeImage(asset.id, boxAt(place, asset));
        if (!isTaken) throw new GatewayError(0, "not-taken", t("it could not be placed just now."));
        return t("{name}: placed on this page", { name });
    }

    /** Where a picture lies around a point: as large as it is, but not too large, and on the board. */
    function boxAt({ x, y }, { width, height }) {
        const board = teacher.board.size;
        const scale = Math.min(unitsPerPixel, (board.width * mostOfBoard) / width, (board.height * mostOfBoard) / height);
        const [w, h] = [width * scale, height * scale];
        return {
            x: Math.min(Math.max(x - w / 2, 0), board.width - w), y: Math.min(Math.max(y - h / 2, 0), board.height - h),
            width: w, height: h,
        };
    }

    function tell(text, tone, part = null) {
        clearTimeout(hideTimer);
        const status = $("import-status");
        status.hidden = false;
        status.dataset.tone = tone;
        say($("import-text"), text);
        $("import-progress").hidden = part === null;
        // A server that opens a file does not say how far it is.
        if (part !== null && part < 1) $("import-progress").value = part;
        else $("import-progress").removeAttribute("value");
        say($("import-cancel"), tone === "wait" ? t("Cancel") : t("Close"));
        if (tone !== "wait" && tone !== "bad") hideTimer = setTimeout(() => (status.hidden = true), 5000);
    }
}

function wordsOf(error) {
    switch (error.code) {
        case "too-large": return t("this file is too large: 50 MB at most.");
        case "no-journal":
        case "no-sandbox":
        case "unsupported": return t("this server takes no files.");
        default: return error.message;
    }
}
