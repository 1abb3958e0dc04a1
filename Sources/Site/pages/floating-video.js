/** The video as a small picture in a corner of a board that fills the screen. */

import { remember, remembered } from "../lectern/dom.js";
import { mark, t } from "../lectern/language.js";
import { $, say } from "./common.js";

const cornerWords = {
    "top-left": mark("The video is at the top left"), "top-right": mark("The video is at the top right"),
    "bottom-left": mark("The video is at the bottom left"), "bottom-right": mark("The video is at the bottom right"),
};
const cornerStore = "lectern-video-corner";

/** Lets the video float while the stage fills the screen: the window where a browser gives its screen to videos alone. */
export function bindFloatingVideo() {
    const [stage, side, handle, full, end] = [$("stage"), $("video-side"), $("video-move"), $("full"), $("full-end")];
    let drag = null;
    const put = (corner, isKept = false) => {
        side.dataset.corner = corner;
        handle.setAttribute("aria-label", `${t("Move the video")}. ${t(cornerWords[corner])}`);
        if (!isKept) return;
        say($("news"), t(cornerWords[corner]));
        remember(cornerStore, corner);
    };
    const show = () => {
        const floats = stage.classList.contains("has-video") && (document.fullscreenElement === stage || stage.classList.contains("fills"));
        stage.classList.toggle("floats", floats);
        handle.hidden = !floats;
        side.style.transform = "";
    };
    const cornerOf = (low, right) => `${low ? "bottom" : "top"}-${right ? "right" : "left"}`;

    const kept = remembered(cornerStore);
    put(Object.hasOwn(cornerWords, kept) ? kept : "bottom-right");
    document.addEventListener("fullscreenchange", show);
    if (!document.fullscreenEnabled) {
        const fill = (fills) => {
            stage.classList.toggle("fills", fills);
            full.setAttribute("aria-pressed", String(fills));
            end.hidden = !fills;
            // What is behind it is not there.
            for (const other of document.querySelectorAll("body > :not(main, dialog, script, noscript)")) other.inert = fills;
            show();
            (fills ? end : full).focus({ preventScroll: true });
        };
        full.hidden = false;
        full.addEventListener("click", () => fill(!stage.classList.contains("fills")));
        end.addEventListener("click", () => fill(false));
        document.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && !end.hidden && fill(false));
    }

    handle.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        handle.focus({ preventScroll: true });
        handle.setPointerCapture(event.pointerId);
        drag = { pointer: event.pointerId, x: event.clientX, y: event.clientY };
    });
    handle.addEventListener("pointermove", (event) => {
        if (drag?.pointer !== event.pointerId) return;
        side.style.transform = `translate(${event.clientX - drag.x}px, ${event.clientY - drag.y}px)`;
    });
    for (const type of ["pointerup", "pointercancel", "lostpointercapture"]) {
        handle.addEventListener(type, (event) => {
            if (drag?.pointer !== event.pointerId) return;
            drag = null;
            const [box, frame] = [side.getBoundingClientRect(), stage.getBoundingClientRect()];
            side.style.transform = "";
            if (type === "pointercancel") return;
            put(cornerOf(box.top + box.bottom > frame.top + frame.bottom, box.left + box.right > frame.left + frame.right), true);
        });
    }
    handle.addEventListener("keydown", (event) => {
        const [isLow, isRight] = [side.dataset.corner.startsWith("bottom"), side.dataset.corner.endsWith("right")];
        const to = {
            ArrowLeft: [isLow, false], ArrowRight: [isLow, true], ArrowUp: [false, isRight], ArrowDown: [true, isRight],
        }[event.key];
        if (!to) return;
        put(cornerOf(...to), true);
        event.preventDefault();
    });
}
