/** What is seen of a lasso above the board: the loop under the hand, and around a selection its outline, its handles and its buttons. */

/** CSS pixels from the box to the handle that turns it, and outside of the board where handles may be. */
const turnReach = 36;
const handleMargin = 6;
/** The same inside of a part of the board that is seen: nothing is seen outside of it. */
const zoomedMargin = 10;

/** Lays loops and frames over the board, as a view shows it. */
export class SelectionFrame {
    /** The handles at the corners. */
    corners;
    #view;
    #root;
    #loop = null;
    #selection = null;

    constructor(view, root) {
        [this.#view, this.#root] = [view, root];
        this.corners = [...root.querySelectorAll("#selection [data-across]")];
    }

    #part(id) { return this.#root.getElementById(id); }

    /** Whether a loop is shown. */
    get hasLoop() { return this.#loop !== null; }

    /** Shows a loop of points in board units; null for none. */
    showLoop(points) {
        this.#loop = points;
        this.#part("loop").setAttribute("d", points ? pathData(points, false) : "");
        this.#layOutline();
    }

    /** Shows the frame of a selection where that is now; null for none. */
    show(selection) {
        this.#selection = selection;
        this.#part("selection").hidden = !selection;
        this.#layOutline();
        if (!selection) {
            for (const id of ["selection-path", "selection-box"]) this.#part(id).setAttribute("d", "");
            return;
        }
        const view = this.#view;
        const { perUnit } = view;
        const path = this.#part("selection-path");
        if (path.dataset.length !== String(selection.path.length) || path.getAttribute("d") === "") {
            path.dataset.length = selection.path.length;
            path.setAttribute("d", pathData(selection.path, true));
        }
        path.setAttribute("transform", `matrix(${selection.map.join(" ")})`);
        const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([across, down]) => selection.point(across, down));
        this.#part("selection-box").setAttribute("d", pathData(corners, true));
        const { bounds } = view;
        // What lies outside of what is seen stays within reach.
        const margin = view.isZoomed ? -zoomedMargin : handleMargin;
        const near = (at, start, end) => Math.min(Math.max(at, start - margin), end + margin);
        const place = (target, { x, y }) => {
            target.style.left = `${near(x, bounds.left, bounds.right)}px`;
            target.style.top = `${near(y, bounds.top, bounds.bottom)}px`;
        };
        const inPixels = ({ x, y }) => ({ x: view.x + x * perUnit, y: view.y + y * perUnit });
        const middle = inPixels(selection.at);
        const beyond = (across, down, reach) => {
            const point = inPixels(selection.point(across, down));
            const length = Math.hypot(point.x - middle.x, point.y - middle.y) || 1;
            return { x: point.x + ((point.x - middle.x) / length) * reach, y: point.y + ((point.y - middle.y) / length) * reach };
        };
        for (const corner of this.corners) {
            place(corner, beyond(Number(corner.dataset.across), Number(corner.dataset.down), 10));
        }
        const top = inPixels(selection.point(0, -1));
        // Above the box, or below it where there is no room.
        const isBelow = top.y < bounds.top + turnReach + 8 && Math.cos(selection.turn) > 0;
        place(this.#part("selection-turn"), beyond(0, isBelow ? 1 : -1, turnReach));
        this.#placeTools(corners.map(inPixels), middle.x, bounds, isBelow);
    }

    /** Puts the buttons below the selection, above it where it is low, and never outside of what is seen. */
    #placeTools(corners, middle, bounds, isTurnBelow) {
        const tools = this.#part("selection-tools");
        const bottom = Math.max(...corners.map(({ y }) => y));
        const top = Math.min(...corners.map(({ y }) => y));
        const { offsetWidth, offsetHeight } = tools;
        const gap = 28;
        const below = bottom + gap + (isTurnBelow ? turnReach : 0);
        const above = top - gap - turnReach - offsetHeight;
        const fits = (y) => y >= bounds.top && y + offsetHeight <= bounds.bottom;
        const y = fits(below) ? below : fits(above) ? above : bounds.bottom - offsetHeight - 8;
        const x = middle - offsetWidth / 2;
        tools.style.left = `${Math.min(Math.max(x, bounds.left + 8), Math.max(bounds.right - offsetWidth - 8, bounds.left + 8))}px`;
        tools.style.top = `${y}px`;
    }

    /** Lays the outline over the board, in board units. */
    #layOutline() {
        const outline = this.#part("outline");
        const isSeen = this.hasLoop || this.#selection !== null;
        outline.toggleAttribute("hidden", !isSeen);
        if (!isSeen) return;
        const { perUnit, x, y } = this.#view;
        const { clientWidth, clientHeight } = this.#part("board");
        outline.setAttribute("viewBox", [-x, -y, clientWidth, clientHeight].map((length) => length / perUnit).join(" "));
    }
}

function pathData(points, isClosed) {
    return `M${points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}${isClosed ? "Z" : ""}`;
}
