/** `<lectern-board room="physics" video="#lesson">`: a student's board as an element. */

import { Board } from "./board.js";
import { BoardHolder } from "./element.js";
import { PlayerClock } from "./player-clock.js";

/**
 * A board in step with a video of the page.
 *
 * Attributes: `room`; `gateway`, its address, where this file came from unless said; `token`; `cohort`; `video`, a selector
 * of the page's player; `begin`, the media time in milliseconds at which that video begins, 0 unless said; `label` for
 * screen readers. `--lectern-paper` is the colour under the ink.
 *
 * Events: `connection`, `index`, `pages`, `size` and `lag` of {@link board}.
 */
export class LecternBoard extends BoardHolder {
    static observedAttributes = [...super.observedAttributes, "cohort", "video", "begin"];
    #board = null;
    #ownClock = null;

    /** The board; null while the element is in no page, or has no room. */
    get board() { return this.#board; }

    /** Called by {@link BoardHolder}. */
    begin(gateway) {
        const selector = this.getAttribute("video");
        const video = selector ? this.getRootNode().querySelector(selector) : null;
        const begin = Number(this.getAttribute("begin")) || 0;
        if (video) this.#ownClock = new PlayerClock(video, (seconds) => begin + seconds * 1000);
        this.#board = new Board(this.canvas, {
            gateway, room: this.getAttribute("room"), cohort: this.getAttribute("cohort") ?? undefined,
            clock: this.clock ?? this.#ownClock ?? undefined,
        });
        this.follow(this.#board);
    }

    /** Called by {@link BoardHolder}. */
    end() {
        this.#board?.close();
        this.#ownClock?.close();
        [this.#board, this.#ownClock] = [null, null];
    }
}

if (globalThis.customElements && !customElements.get("lectern-board")) customElements.define("lectern-board", LecternBoard);
