/** The link for students: to read, to copy, and as a QR code, with the cohort and the video in it. */

/*! With qrcode-generator: Copyright (c) 2009 Kazuhiko Arase, MIT license, https://opensource.org/license/mit */
import qrcode from "qrcode-generator";
import { remember, rememberedValue, svgElement } from "../lectern/dom.js";
import { localeInUse, t } from "../lectern/language.js";
import { $, address, element, namePattern, say, serverKey, showStatus } from "./common.js";

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

/** Binds the dialog; `query` is that of this page. Returns what opens it. */
export function bindShare(gateway, room, query) {
    /** The link as the gateway has given it: `{path, id, expires}`, what it was asked for, and what is wanted now. */
    let link = null;
    let [order, wanted] = ["", ""];
    let timer = null;
    /** Links that were made in this browser, `{id, cohort, expires}`, so that each can be taken back; also where nothing is stored. */
    const key = serverKey("links", room);
    let made = rememberedValue(key) ?? [];
    const note = (links) => {
        made = links;
        remember(key, links);
    };

    $("share-video").value = query.get("video") ?? "";
    if (loopback.test(location.hostname)) {
        $("share-words").className = "status";
        showStatus($("share-words"), "bad", t("This link works on this machine alone. For students elsewhere the server needs an address that they reach: see TLS and tokens in the guide."));
    }
    $("share-open").addEventListener("click", open);
    $("share-copy").addEventListener("click", copy);
    $("share-revoke").addEventListener("click", () => revoke(link.id));
    $("share-url").addEventListener("focus", () => $("share-url").select());
    for (const id of ["share-cohort", "share-video"]) {
        $(id).addEventListener("input", () => {
            // It is not that link.
            $("share-copy").disabled = true;
            refreshIn(typingTime);
        });
    }
    $("share-expires").addEventListener("change", refresh);
    return open;

    function open() {
        $("share-dialog").showModal();
        refresh();
    }

    /** The address of the student's page, with everything in it. */
    function urlOf({ path: whole }) {
        const [page, token] = whole.split("#");
        const [path, given] = page.split("?");
        const parts = new URLSearchParams(given);
        const video = $("share-video").value.trim();
        if (video) parts.set("video", video);
        if (query.has("demo")) parts.set("demo", query.get("demo"));
        return address(path, Object.fromEntries(parts)) + (token ? `#${token}` : "");
    }

    function refreshIn(milliseconds) {
        clearTimeout(timer);
        timer = setTimeout(() => $("share-dialog").open && refresh(), milliseconds);
    }

    async function refresh() {
        clearTimeout(timer);
        const cohort = $("share-cohort").value.trim().toLowerCase() || "main";
        const expires = Number($("share-expires").value);
        const asked = (wanted = JSON.stringify({ cohort, expires }));
        if (!namePattern.test(cohort)) return fail(t("A cohort's name is of a to z, 0 to 9, _ and -."));
        if (asked !== order) {
            let [found, problem] = [null, ""];
            try {
                found = await gateway.json(`api/rooms/${room}/links`, { json: { cohort, expires } });
            } catch (error) {
                problem = error.message;
                if (error.isTransient && asked === wanted) refreshIn(error.retryAfter ?? retryTime);
            }
            if (typeof found?.id === "string") note([...made, { id: found.id, cohort, expires: found.expires }].slice(-mostLinks));
            // Answers may come in another order than they were asked for.
            if (asked !== wanted) return list();
            if (!found) return fail(problem);
            [link, order] = [found, asked];
        }
        show();
    }

    function show() {
        const url = urlOf(link);
        const hasToken = typeof link.id === "string";
        $("share-url").value = url;
        $("share-copy").disabled = false;
        $("share-revoke").hidden = $("share-term").hidden = !hasToken;
        try {
            $("share-code").replaceChildren(qrPicture(url, t("QR code of the link for students")));
        } catch {
            $("share-code").replaceChildren();
        }
        list();
        const words = hasToken ? t("Counts until {time}", { time: dateWords(link.expires) }) : t("Whoever has the link sees the board");
        showStatus($("share-state"), "good", words);
    }

    function fail(message) {
        [order, link] = ["", null];
        $("share-url").value = "";
        $("share-code").replaceChildren();
        $("share-copy").disabled = true;
        $("share-revoke").hidden = true;
        list();
        showStatus($("share-state"), "bad", message);
    }

    async function copy() {
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

    /** The links before this one that still count, the newest first. */
    function list() {
        const links = made.filter(({ id, expires }) => expires * 1000 > Date.now() && id !== link?.id).reverse();
        $("share-made").hidden = links.length === 0;
        say($("share-made-count"), links.length === 1 ? t("1 other link counts") : t("{count} other links count", { count: links.length }));
        $("share-list").replaceChildren(...links.map(({ id, cohort, expires }) => {
            const words = t("{cohort}, until {time}", { cohort, time: dateWords(expires) });
            const button = element("button", { type: "button", className: "button", "aria-label": `${t("Revoke")}: ${words}` }, t("Revoke"));
            button.addEventListener("click", () => revoke(id));
            return element("li", {}, element("span", {}, words), button);
        }));
    }

    async function revoke(id) {
        try {
            await gateway.request(`api/rooms/${room}/links/${id}`, { method: "DELETE" });
        } catch (error) {
            return showStatus($("share-state"), "bad", error.message);
        }
        note(made.filter((link) => link.id !== id));
        if (id !== link?.id) return list();
        fail(t("Revoked: this link no longer counts. Choose how long another one is to count, to make it."));
    }
}

function dateWords(seconds) {
    return new Date(seconds * 1000).toLocaleString(localeInUse(), { dateStyle: "medium", timeStyle: "short" });
}

/**
 * A QR code of a URL with its quiet zone, black on white whatever the colours of the page. Level M is read with 15 % of it damaged.
 * Throws where the URL has more than 2,331 characters.
 */
function qrPicture(url, label) {
    const code = qrcode(0, "M");
    code.addData(url);
    code.make();
    const modules = [...Array(code.getModuleCount()).keys()];
    const path = modules.flatMap((y) => modules.map((x) => (code.isDark(y, x) ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
    const size = modules.length + 8;
    return svgElement("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
        svgElement("rect", { width: size, height: size, fill: "#fff" }), svgElement("path", { d: path, fill: "#000" }));
}
