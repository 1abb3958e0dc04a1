/** QR codes (ISO/IEC 18004) of texts: byte mode in UTF-8, level M, which is read with 15 % of it damaged, versions 1 to 40. */

import { svgElement } from "../lectern/dom.js";

/** Of each version: check bytes a block, and blocks. */
const checkBytes = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, ...Array(20).fill(28)];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33,
    35, 37, 38, 40, 43, 45, 47, 49];
const masks = [
    (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => ((x * y) % 2) + ((x * y) % 3),
    (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];

/**
 * Encodes a text of at most 2,331 bytes of UTF-8: the modules row by row, true for dark, without the quiet zone of four light ones around
 * them.
 */
export function qrModules(text) {
    const bytes = new TextEncoder().encode(text);
    let version = 1;
    while (version <= 40 && 8 * dataBytes(version) < 4 + (version < 10 ? 8 : 16) + 8 * bytes.length) version++;
    if (version > 40) throw new RangeError("too long for a QR code");
    const code = new Code(version);
    code.fill(withChecks(dataOf(bytes, version), version));
    return code.bestMasked();
}

/** A picture of a code, with its quiet zone: black on white whatever the colours of the page. */
export function qrPicture(text, label) {
    const modules = qrModules(text);
    const size = modules.length + 8;
    const path = modules.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : ""))).join("");
    return svgElement("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
        svgElement("rect", { width: size, height: size, fill: "#fff" }), svgElement("path", { d: path, fill: "#000" }));
}

/** Modules of a version that are neither finders, timing, alignment, format nor version. */
function rawModules(version) {
    const count = (16 * version + 128) * version + 64;
    if (version === 1) return count;
    const alignments = Math.floor(version / 7) + 2;
    return count - ((25 * alignments - 10) * alignments - 55) - (version >= 7 ? 36 : 0);
}

function dataBytes(version) {
    return Math.floor(rawModules(version) / 8) - checkBytes[version - 1] * blockCounts[version - 1];
}

/** Mode, length, bytes and padding. */
function dataOf(bytes, version) {
    const bits = [];
    const push = (value, count) => {
        for (let i = count - 1; i >= 0; i--) bits.push((value >> i) & 1);
    };
    push(4, 4);
    push(bytes.length, (version < 10 ? 8 : 16));
    for (const byte of bytes) push(byte, 8);
    const capacity = 8 * dataBytes(version);
    push(0, Math.min(4, capacity - bits.length));
    push(0, (8 - (bits.length % 8)) % 8);
    for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) push(pad, 8);
    return Array.from({ length: bits.length / 8 }, (_, i) => bits.slice(8 * i, 8 * i + 8).reduce((sum, bit) => 2 * sum + bit, 0));
}

/** Cuts data into blocks, adds the check bytes of each, and interleaves them. */
function withChecks(data, version) {
    const [checks, count] = [checkBytes[version - 1], blockCounts[version - 1]];
    const all = Math.floor(rawModules(version) / 8);
    const short = Math.floor(all / count) - checks;
    const shortBlocks = count - (all % count);
    const divisor = checkDivisor(checks);
    const blocks = [];
    for (let i = 0, at = 0; i < count; i++) {
        const part = data.slice(at, at + short + (i < shortBlocks ? 0 : 1));
        at += part.length;
        blocks.push({ part, check: remainder(part, divisor) });
    }
    const result = [];
    for (let i = 0; i <= short; i++) for (const { part } of blocks) if (i < part.length) result.push(part[i]);
    for (let i = 0; i < checks; i++) for (const { check } of blocks) result.push(check[i]);
    return result;
}

/** The product in the field of 256 elements, modulo x⁸ + x⁴ + x³ + x² + 1. */
function product(a, b) {
    let result = 0;
    for (let i = 7; i >= 0; i--) result = (result << 1) ^ ((result >> 7) * 0x11d) ^ (((b >> i) & 1) * a);
    return result;
}

function checkDivisor(degree) {
    const result = Array(degree).fill(0);
    result[degree - 1] = 1;
    let root = 1;
    for (let i = 0; i < degree; i++) {
        for (let k = 0; k < degree; k++) result[k] = product(result[k], root) ^ (result[k + 1] ?? 0);
        root = product(root, 2);
    }
    return result;
}

function remainder(data, divisor) {
    const result = Array(divisor.length).fill(0);
    for (const byte of data) {
        const factor = byte ^ result.shift();
        result.push(0);
        divisor.forEach((value, i) => (result[i] ^= product(value, factor)));
    }
    return result;
}

class Code {
    #version;
    #size;
    #dark;
    /** Modules that no mask changes. */
    #fixed;

    constructor(version) {
        [this.#version, this.#size] = [version, 17 + 4 * version];
        [this.#dark, this.#fixed] = [0, 1].map(() => Array.from({ length: this.#size }, () => Array(this.#size).fill(false)));
        const last = this.#size - 1;
        for (let i = 0; i <= last; i++) {
            this.#set(6, i, i % 2 === 0);
            this.#set(i, 6, i % 2 === 0);
        }
        for (const [x, y] of [[3, 3], [last - 3, 3], [3, last - 3]]) this.#finder(x, y);
        const places = this.#alignments();
        const isFinder = (i, k) => (i === 0 && k === 0) || (i === 0 && k === places.length - 1) || (i === places.length - 1 && k === 0);
        places.forEach((x, i) => places.forEach((y, k) => isFinder(i, k) || this.#square(x, y, 2, (distance) => distance !== 1)));
        this.#format(0);
        if (version >= 7) this.#versionBits();
    }

    #set(x, y, isDark) {
        this.#dark[y][x] = isDark;
        this.#fixed[y][x] = true;
    }

    #square(x, y, reach, isDark) {
        for (let dy = -reach; dy <= reach; dy++) {
            for (let dx = -reach; dx <= reach; dx++) {
                const [column, row] = [x + dx, y + dy];
                const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < this.#size;
                if (isInside) this.#set(column, row, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
            }
        }
    }

    #finder(x, y) {
        this.#square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
    }

    #alignments() {
        if (this.#version === 1) return [];
        const count = Math.floor(this.#version / 7) + 2;
        const step = Math.floor((this.#version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
        return [6, ...Array.from({ length: count - 1 }, (_, i) => this.#size - 7 - (count - 2 - i) * step)];
    }

    /** Level M and the mask, with their check bits, beside the finders. */
    #format(mask) {
        let rest = mask;
        for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
        const bits = ((mask << 10) | rest) ^ 0x5412;
        const bit = (i) => ((bits >> i) & 1) === 1;
        const last = this.#size - 1;
        for (let i = 0; i <= 5; i++) this.#set(8, i, bit(i));
        this.#set(8, 7, bit(6));
        this.#set(8, 8, bit(7));
        this.#set(7, 8, bit(8));
        for (let i = 9; i < 15; i++) this.#set(14 - i, 8, bit(i));
        for (let i = 0; i < 8; i++) this.#set(last - i, 8, bit(i));
        for (let i = 8; i < 15; i++) this.#set(8, this.#size - 15 + i, bit(i));
        this.#set(8, this.#size - 8, true);
    }

    #versionBits() {
        let rest = this.#version;
        for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
        const bits = (this.#version << 12) | rest;
        for (let i = 0; i < 18; i++) {
            const [a, b] = [this.#size - 11 + (i % 3), Math.floor(i / 3)];
            this.#set(a, b, ((bits >> i) & 1) === 1);
            this.#set(b, a, ((bits >> i) & 1) === 1);
        }
    }

    /** Puts the bytes up and down in columns of two, from the right. */
    fill(bytes) {
        let i = 0;
        for (let right = this.#size - 1; right >= 1; right -= 2) {
            if (right === 6) right = 5;
            for (let step = 0; step < this.#size; step++) {
                for (const x of [right, right - 1]) {
                    const y = ((right + 1) & 2) === 0 ? this.#size - 1 - step : step;
                    if (this.#fixed[y][x] || i >= bytes.length * 8) continue;
                    this.#dark[y][x] = ((bytes[i >> 3] >> (7 - (i & 7))) & 1) === 1;
                    i++;
                }
            }
        }
    }

    /** The modules under the mask that reads best. */
    bestMasked() {
        let best = null;
        masks.forEach((mask, number) => {
            this.#format(number);
            const rows = this.#dark.map((row, y) => row.map((isDark, x) => isDark !== (!this.#fixed[y][x] && mask(x, y) === 0)));
            const cost = costOf(rows);
            if (!best || cost < best.cost) best = { rows, cost };
        });
        return best.rows;
    }
}

/** What makes a code hard to read: long runs, blocks, what looks like a finder, and too much of one colour. */
function costOf(rows) {
    const columns = rows.map((_, x) => rows.map((row) => row[x]));
    let cost = 0;
    for (const line of [...rows, ...columns]) {
        const text = line.map((isDark) => (isDark ? "1" : "0")).join("");
        for (const [run] of text.matchAll(/1{5,}|0{5,}/g)) cost += run.length - 2;
        cost += 40 * [...text.matchAll(/(?=00001011101|10111010000)/g)].length;
    }
    let dark = 0;
    rows.forEach((row, y) => row.forEach((isDark, x) => {
        if (isDark) dark++;
        if (x > 0 && y > 0 && isDark === row[x - 1] && isDark === rows[y - 1][x] && isDark === rows[y - 1][x - 1]) cost += 3;
    }));
    return cost + 10 * Math.floor(Math.abs(20 * dark / rows.length ** 2 - 10));
}
