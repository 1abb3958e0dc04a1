/**
 * Files of a board with one's own notes: they are put together in this browser, and the server learns nothing of the notes.
 *
 * @module
 */

import { t } from "../lectern/language.js";
import { curve, drawNotes, noteColours } from "./notes-layer.js";

/**
 * A picture of a page with notes above it.
 *
 * @param {Blob} file the server's picture
 * @param {readonly import("./notes.js").Note[]} notes
 * @param {{width: number, height: number}} size of the board, in its units
 * @returns {Promise<Blob>}
 */
export async function pictureWithNotes(file, notes, { width, height }) {
    const picture = await createImageBitmap(file);
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.width, picture.height];
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    context.scale(picture.width / width, picture.height / height);
    drawNotes(context, notes);
    return new Promise((done, fail) => canvas.toBlob((made) => (made ? done(made) : fail(new Error(t("No picture was made.")))), "image/png"));
}

/**
 * The server's PDF with notes on its pages: its objects stay as they are, and those of the notes are appended, as PDF has it for
 * changes (ISO 32000, 7.5.6).
 *
 * @param {Uint8Array} file
 * @param {(readonly import("./notes.js").Note[])[]} pages the notes of each page of the file
 * @param {{width: number, height: number}} size of the board, in its units
 * @returns {Blob}
 */
export function documentWithNotes(file, pages, size) {
    const known = new KnownDocument(file);
    const objects = new Map();
    const add = (number, text) => objects.set(number, text);
    let next = known.size;
    const stream = (text) => {
        add(next, `<< /Length ${text.length} >>\nstream\n${text}\nendstream`);
        return next++;
    };
    // What the page does to the coordinates stays its own.
    let begin = null;
    known.pages.forEach((number, place) => {
        const notes = pages[place] ?? [];
        if (notes.length === 0) return;
        begin ??= stream("q");
        const page = known.object(number);
        const box = page.match(/\/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)\s*\]/);
        const contents = page.match(/\/Contents\s+(\d+ 0 R)/);
        if (!box || !contents) throw new Error(t("It is written in a way that is not known here."));
        const own = stream(`Q\n${marksOf(notes, Number(box[1]), Number(box[2]), size)}`);
        add(number, page.replace(contents[0], `/Contents [ ${begin} 0 R ${contents[1]} ${own} 0 R ]`));
    });
    let text = "\n";
    const places = new Map();
    for (const [number, body] of objects) {
        places.set(number, file.length + text.length);
        text += `${number} 0 obj\n${body}\nendobj\n`;
    }
    const table = file.length + text.length;
    text += "xref\n";
    for (const [number, place] of [...places].sort(([one], [other]) => one - other)) {
        text += `${number} 1\n${String(place).padStart(10, "0")} 00000 n \n`;
    }
    text += `trailer\n<< /Size ${next} /Root ${known.root} 0 R /Prev ${known.table} >>\nstartxref\n${table}\n%%EOF\n`;
    return new Blob([file, Uint8Array.from(text, (character) => character.charCodeAt(0))], { type: "application/pdf" });
}

/** Notes as what a page of a PDF draws. */
function marksOf(notes, across, down, { width, height }) {
    const number = (value) => String(Math.round(value * 1000) / 1000);
    const [x, y] = [across / width, down / height];
    const lines = [`q ${number(x)} 0 0 ${number(-y)} 0 ${number(down)} cm 1 J 1 j`];
    for (const { colour, width: line, points } of notes) {
        const parts = (noteColours[colour] ?? noteColours[0]).match(/[0-9a-f]{2}/g).map((part) => number(Number.parseInt(part, 16) / 255));
        lines.push(`${parts.join(" ")} RG ${number(line)} w`);
        let at = [0, 0];
        curve(points, (...place) => {
            at = place;
            lines.push(`${place.map(number).join(" ")} m`);
        }, (bendX, bendY, toX, toY) => {
            // PDF has cubic curves alone.
            const third = (from, to) => from + (2 / 3) * (to - from);
            const curve = [third(at[0], bendX), third(at[1], bendY), third(toX, bendX), third(toY, bendY), toX, toY];
            lines.push(`${curve.map(number).join(" ")} c`);
            at = [toX, toY];
        });
        lines.push("S");
    }
    return `${lines.join("\n")}\nQ`;
}

/** What there is in a PDF of the service: a table of objects, and a list of pages. */
class KnownDocument {
    #text;
    #places = new Map();

    constructor(file) {
        // A character a byte.
        this.#text = Array.from({ length: Math.ceil(file.length / 8192) }, (_, part) =>
            String.fromCharCode(...file.subarray(part * 8192, (part + 1) * 8192))).join("");
        this.table = Number(this.#text.slice(-64).match(/startxref\s+(\d+)/)?.[1] ?? NaN);
        const table = this.#text.slice(this.table);
        const [head, count] = table.match(/^xref\s+0 (\d+)\s+/) ?? [];
        if (!head) throw new Error(t("It is written in a way that is not known here."));
        this.size = Number(count);
        for (let number = 0; number < this.size; number++) {
            this.#places.set(number, Number(table.substr(head.length + 20 * number, 10)));
        }
        this.root = this.#reference(table, /\/Root\s+(\d+) 0 R/);
        const list = this.object(this.#reference(this.object(this.root), /\/Pages\s+(\d+) 0 R/));
        this.pages = [...(list.match(/\/Kids\s*\[([^\]]*)\]/)?.[1] ?? "").matchAll(/(\d+) 0 R/g)].map(([, number]) => Number(number));
    }

    /** What an object without a stream says. */
    object(number) {
        const text = this.#text.slice(this.#places.get(number));
        const head = `${number} 0 obj`;
        if (!text.startsWith(head)) throw new Error(t("It is written in a way that is not known here."));
        return text.slice(head.length, text.indexOf("endobj")).trim();
    }

    #reference(text, pattern) {
        const [, number] = text.match(pattern) ?? [];
        if (!number) throw new Error(t("It is written in a way that is not known here."));
        return Number(number);
    }
}
