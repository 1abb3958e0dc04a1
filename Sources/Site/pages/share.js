/** The link for students: to read, to copy, and as a QR code, with the cohort and the video in it. */

import { remember, rememberedValue } from "../lectern/dom.js";
import { localeInUse, t } from "../lectern/language.js";
import { $, address, element, namePattern, say, serverKey, showStatus } from "./common.js";
import { qrPicture } from "./qr.js";

/** Milliseconds that t("Copied") stands. */
const copiedTime = 2500;
/** Milliseconds without a key before a link is made of what was typed. */
const typingTime = 500;
/** Names of this machine that mean another one elsewhere. */
const loopback = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/;
/** Milliseconds until a link that the server could not make is asked for again. */
const retryTime = 3000;

/** Links of a room that are remembered, of which the oldest go. */
const mostLinks = 200;

/** The links that were made in this browser and still count, so that each can be taken back. */
class MadeLinks {
    #key;
    /** Also where the browser stores nothing. */
    #links = [];

    constructor(room) {
        this.#key = serverKey("links", room);
        this.#links = rememberedValue(this.#key) ?? [];
    }

    /** `{id, cohort, expires}`, the newest first. */
    get all() {
        return this.#links.filter(({ expires }) => expires * 1000 > Date.now()).reverse();
    }

    add(link) {
        this.#store([...this.#links, link].slice(-mostLinks));
    }

    remove(id) {
        this.#store(this.#links.filter((link) => link.id !== id));
    }

    #store(links) {
        this.#links = links;
        remember(this.#key, links);
    }
}

/** Binds the dialog; `query` is that of this page. */
export class ShareDialog {
    #gateway;
    #room;
    #query;
    /** The link as the gateway has given it: `{path, id, expires}`, what it was asked for, and what is wanted now. */
    #link = null;
    #order = "";
    #wanted = "";
    #timer = null;
    #made;

    constructor(gateway, room, query) {
        [this.#gateway, this.#room, this.#query] = [gateway, room, query];
        this.#made = new MadeLinks(room);
        $("share-video").value = query.get("video") ?? "";
        if (loopback.test(location.hostname)) {
            $("share-words").className = "status";
            showStatus($("share-words"), "bad", t("This link works on this machine alone. For students elsewhere the server needs an address that they reach: see TLS and tokens in the guide."));
        }
        $("share-open").addEventListener("click", () => this.open());
        $("share-copy").addEventListener("click", () => this.#copy());
        $("share-revoke").addEventListener("click", () => this.#revoke(this.#link.id));
        $("share-url").addEventListener("focus", () => $("share-url").select());
        for (const id of ["share-cohort", "share-video"]) {
            $(id).addEventListener("input", () => {
                // It is not that link.
                $("share-copy").disabled = true;
                this.#refreshIn(typingTime);
            });
        }
        $("share-expires").addEventListener("change", () => this.#refresh());
    }

    open() {
        $("share-dialog").showModal();
        this.#refresh();
    }

    /** The address of the student's page, with everything in it. */
    get url() {
        const [page, token] = this.#link.path.split("#");
        const [path, query] = page.split("?");
        const parts = new URLSearchParams(query);
        const video = $("share-video").value.trim();
        if (video) parts.set("video", video);
        if (this.#query.has("demo")) parts.set("demo", this.#query.get("demo"));
        return address(path, Object.fromEntries(parts)) + (token ? `#${token}` : "");
    }

    #refreshIn(milliseconds) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => $("share-dialog").open && this.#refresh(), milliseconds);
    }

    async #refresh() {
        clearTimeout(this.#timer);
        const cohort = $("share-cohort").value.trim().toLowerCase() || "main";
        const expires = Number($("share-expires").value);
        const order = JSON.stringify({ cohort, expires });
        this.#wanted = order;
        if (!namePattern.test(cohort)) return this.#fail(t("A cohort's name is of a to z, 0 to 9, _ and -."));
        if (order !== this.#order) {
            let [link, problem] = [null, ""];
            try {
                link = await this.#gateway.json(`api/rooms/${this.#room}/links`, { json: { cohort, expires } });
            } catch (error) {
                problem = error.message;
                if (error.isTransient && order === this.#wanted) this.#refreshIn(error.retryAfter ?? retryTime);
            }
            if (typeof link?.id === "string") this.#made.add({ id: link.id, cohort, expires: link.expires });
            // Answers may come in another order than they were asked for.
            if (order !== this.#wanted) return this.#list();
            if (!link) return this.#fail(problem);
            [this.#link, this.#order] = [link, order];
        }
        this.#show();
    }

    #show() {
        const { url } = this;
        const hasToken = typeof this.#link.id === "string";
        $("share-url").value = url;
        $("share-copy").disabled = false;
        $("share-revoke").hidden = $("share-term").hidden = !hasToken;
        try {
            $("share-code").replaceChildren(qrPicture(url, t("QR code of the link for students")));
        } catch {
            $("share-code").replaceChildren();
        }
        const end = hasToken ? dateWords(this.#link.expires) : null;
        this.#list();
        showStatus($("share-state"), "good", end ? t("Counts until {time}", { time: end }) : t("Whoever has the link sees the board"));
    }

    #fail(message) {
        [this.#order, this.#link] = ["", null];
        $("share-url").value = "";
        $("share-code").replaceChildren();
        $("share-copy").disabled = true;
        $("share-revoke").hidden = true;
        this.#list();
        showStatus($("share-state"), "bad", message);
    }

    async #copy() {
        try {
            await navigator.clipboard.writeText($("share-url").value);
        } catch {
            // No secure context, or no permission: the reader copies what is selected.
            $("share-url").select();
            if (!document.execCommand("copy")) return showStatus($("share-state"), "", t("Selected: copy it with Ctrl C"));
        }
        say($("share-copy"), t("Copied"));
        setTimeout(() => say($("share-copy"), t("Copy")), copiedTime);
    }

    /** The links before this one. */
    #list() {
        const links = this.#made.all.filter(({ id }) => id !== this.#link?.id);
        $("share-made").hidden = links.length === 0;
        say($("share-made-count"), links.length === 1 ? t("1 other link counts") : t("{count} other links count", { count: links.length }));
        $("share-list").replaceChildren(...links.map(({ id, cohort, expires }) => {
            const words = t("{cohort}, until {time}", { cohort, time: dateWords(expires) });
            const revoke = element("button", { type: "button", className: "button", "aria-label": `${t("Revoke")}: ${words}` }, t("Revoke"));
            revoke.addEventListener("click", () => this.#revoke(id));
            return element("li", {}, element("span", {}, words), revoke);
        }));
    }

    async #revoke(id) {
        try {
            await this.#gateway.request(`api/rooms/${this.#room}/links/${id}`, { method: "DELETE" });
        } catch (error) {
            return showStatus($("share-state"), "bad", error.message);
        }
        this.#made.remove(id);
        if (id !== this.#link?.id) return this.#list();
        this.#fail(t("Revoked: this link no longer counts. Choose how long another one is to count, to make it."));
    }
}

function dateWords(seconds) {
    return new Date(seconds * 1000).toLocaleString(localeInUse(), { dateStyle: "medium", timeStyle: "short" });
}
