/**
 * Pixels of a text: the core draws texts from them, for fonts are the browser's.
 *
 * @module
 */

/** The rules of `BoardText` in Sources/StrokeWire: the size of the font and the place of its base line, in heights of a line. */
export const [fontSize, baseline] = [0.8, 0.78];
export const fontFamily = "sans-serif";
/** All is laid out in this size, in pixels for the height of a line. */
const unit = 100;

/** The lines of a text, with a space for what would end a line elsewhere. */
export function linesOf(text) {
    return text.split("\n").map((line) => line.replace(/[\u2028\u2029\ufffe\uffff]/g, " "));
}

let measuring = null;

/** The width of the widest line of a text, in heights of a line. */
export function widthOf(text) {
    measuring ??= prepared(new OffscreenCanvas(1, 1).getContext("2d"));
    return Math.max(...linesOf(text).map((line) => measuring.measureText(line).width)) / unit;
}

/**
 * Draws a text in its box, at the upper left corner or at the right one.
 *
 * @param {{text: string, colour: string, isRightToLeft: boolean, boxWidth: number, boxHeight: number}} text the box in board units
 * @param {number} width of the picture in pixels
 * @param {number} height
 * @returns {ImageData}
 */
export function textPicture({ text, colour, isRightToLeft, boxWidth, boxHeight }, width, height) {
    const context = prepared(new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true }));
    const lines = linesOf(text);
    const widest = widthOf(text);
    const lineHeight = Math.min(boxHeight / lines.length, widest > 0 ? boxWidth / widest : Infinity);
    context.scale((width / boxWidth) * (lineHeight / unit), (height / boxHeight) * (lineHeight / unit));
    context.fillStyle = colour;
    context.direction = isRightToLeft ? "rtl" : "ltr";
    context.textAlign = isRightToLeft ? "right" : "left";
    const x = isRightToLeft ? (boxWidth / lineHeight) * unit : 0;
    lines.forEach((line, number) => context.fillText(line, x, (number + baseline) * unit));
    return context.getImageData(0, 0, width, height);
}

function prepared(context) {
    context.font = `${unit * fontSize}px ${fontFamily}`;
    context.textBaseline = "alphabetic";
    return context;
}
