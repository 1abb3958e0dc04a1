/** The paper of a page: blank, lines, squares, dots or staves under the ink. */

import { say } from "./dom.js";
import { t } from "./language.js";
import { firstLiveID } from "./painter.js";

/** Distances of lines in board units, by their names in the page. */
const distances = { narrow: 16, medium: 32, wide: 64 };

export class PaperMenu {
    /** `root` has `paper` and `paper-dialog`. */
    constructor(teacher, root = document) {
        const part = (id) => root.getElementById(id);
        const show = () => {
            part("paper").hidden = !teacher.board.features.includes("paper");
            part("paper").disabled = !teacher.isWriting;
        };
        part("paper").addEventListener("click", () => {
            const laid = teacher.board.pages.papers[teacher.page] ?? "blank";
            for (const button of part("paper-kinds").children) button.setAttribute("aria-pressed", String(button.value === laid));
            part("paper-slide").hidden = laid !== "slide";
            part("paper-dialog").showModal();
        });
        part("paper-form").addEventListener("submit", (event) => {
            const kind = event.submitter?.value;
            if (!kind) return;
            const distance = distances[new FormData(part("paper-form")).get("distance")];
            teacher.setPaper(kind, { distance });
        });
        for (const type of ["index", "pages"]) teacher.board.addEventListener(type, show);
        for (const type of ["writer", "muted"]) teacher.addEventListener(type, show);
        show();
    }
}

/**
 * Makes papers of images, from the papers of the page and from a selection, which `drop` ends. Returns what is told where an image is
 * selected that was touched there, in board units; null for anything else that is.
 */
export function bindBackground(teacher, drop, root) {
    const part = (id) => root.getElementById(id);
    let place = null;
    /** An image that a paper can show, and that the room can remove; null where there is none. */
    const imageAt = ({ x, y }) => {
        const { painter, features } = teacher.board;
        if (!features.includes("paper") || !features.includes("remove")) return null;
        const found = painter.pictureAt(x, y);
        return found?.isWhole && found.id < firstLiveID && teacher.removable([found.id]).length > 0 ? found : null;
    };
    const selected = () => place && imageAt(place);
    /** That in the middle of the page: a slide is as large as it. */
    const onPage = () => imageAt({ x: teacher.board.size.width / 2, y: teacher.board.size.height / 2 });
    const take = (found) => {
        if (!found) return;
        const { id, asset, page, corners: [from, , to] } = found;
        const box = { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
        // The paper first: where no more is taken, nothing is lost.
        const isTaken = teacher.setSlide(asset, box, page) && teacher.remove([id]);
        say(part("selection-news"), isTaken ? t("The picture is the background now") : t("Not taken"));
    };
    part("selection-ground").addEventListener("click", () => {
        const found = selected();
        drop();
        take(found);
    });
    part("paper-picture").addEventListener("click", () => {
        part("paper-dialog").close();
        take(onPage());
    });
    // With whatever opens them.
    new MutationObserver(() => (part("paper-picture").hidden = !onPage())).observe(part("paper-dialog"), { attributeFilter: ["open"] });
    return (touched) => {
        place = touched;
        part("selection-ground").hidden = !selected();
    };
}
