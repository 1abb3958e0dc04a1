/** Gives ink another colour or width: what is inside of a path is removed and drawn anew, above all else, in its own order. */

import { firstLiveID } from "./painter.js";
import { t } from "./language.js";
import { answered, removals } from "./stroke-eraser.js";
import { Element } from "./records.js";
import { highlighterFactor } from "./toolbar.js";

/** Strokes that are changed at once: with their removal as many operations as a room remembers unless configured otherwise. */
const mostIndices = 99;

/**
 * What changes strokes and texts of the page that is seen, inside of a path, to a colour as messages have it or the width of a pen, and
 * resolves with what has become of it, in words; `signal` ends the wait for the room: something else is to be selected. Images, what an
 * eraser has cut, and parts of strokes stay as they are.
 */
export function restyler(teacher) {
    const remove = removals(teacher);
    return async (path, style, signal) => {
        const { page, board: { painter } } = teacher;
        const look = () => (painter.select(path) ? painter.selectedInk() : { entries: [], left: 0 });
        const { entries, left } = await answered(look, ({ entries }) => entries.some(({ id }) => id >= firstLiveID), signal);
        if (signal.aborted || teacher.page !== page) return t("Nothing changed");
        const known = entries.filter(({ id }) => id < firstLiveID);
        const own = new Set(teacher.removable(known.map(({ id }) => id)));
        const changed = known.filter(({ id, message }) => own.has(id) && change(message, style));
        if (changed.length > mostIndices) return t("Too many: {count} strokes can be changed at once", { count: mostIndices });
        const rest = left === 0 ? "" : `; ${left === 1 ? t("one that was cut stays as it is") : t("{count} that were cut stay as they are", { count: left })}`;
        if (own.size < known.length) teacher.passOver();
        if (changed.length === 0) return `${t("Nothing changed")}${rest}`;
        const indices = changed.map(({ id }) => id);
        if (!teacher.redraw(indices, changed.map(({ message }) => message))) return t("Not taken");
        remove(indices);
        return `${changed.length === 1 ? t("One stroke changed") : t("{count} strokes changed", { count: changed.length })}${rest}`;
    };
}

/** Changes a message; returns whether it is another one then. */
function change(message, { colour, width }) {
    const before = [message.c ?? 0, message.l];
    if (colour !== undefined) message.c = colour;
    // The size of a text is its box.
    if (width !== undefined && message.e !== Element.text) {
        message.l = message.e === Element.highlighter ? width * highlighterFactor : width;
    }
    return message.c !== before[0] || message.l !== before[1];
}
