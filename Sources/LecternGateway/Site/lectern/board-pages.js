/**
 * Which pages a board has, in which order, and which one is shown.
 *
 * @module
 */

/** The greatest number of a page. */
const lastPage = 999;

/** The pages of a board. Page 0 is shown and alone at first. */
export class BoardPages {
    /** The page that is shown: one of the order. */
    shown = 0;
    /** The pages in sight, never empty. */
    order = [0];
    /** Pages that an arrange left out, in the order of their numbers. They keep their ink. */
    hidden = [];

    /** @param {{shown?: number, order?: number[], hidden?: number[]}} [pages] as in a join reply */
    constructor({ shown = 0, order = [0], hidden = [] } = {}) {
        Object.assign(this, { shown, order: [...order], hidden: [...hidden] });
    }

    /** Shows a page; one that is out of sight, or was never seen before, comes last in the order. */
    turn(page) {
        this.hidden = this.hidden.filter((other) => other !== page);
        this.add(page);
        this.shown = page;
    }

    /** Puts a page that was never seen before last in the order. */
    add(page) {
        if (!this.order.includes(page) && !this.hidden.includes(page)) this.order = [...this.order, page];
    }

    /** Sets the order. Pages left out are hidden; where the shown page is one of them, the first of the order is shown. */
    arrange(order) {
        this.hidden = [...this.hidden, ...this.order].filter((page) => !order.includes(page)).sort((one, other) => one - other);
        this.order = [...order];
        if (!order.includes(this.shown)) this.shown = order[0];
    }

    /** A page that was never seen before; undefined when there are all of them. */
    get unused() {
        const used = new Set([...this.order, ...this.hidden]);
        for (let page = 0; page <= lastPage; page++) if (!used.has(page)) return page;
        return undefined;
    }

    /** Where a page stands in the order, from 1; 0 for one that is not there. */
    placeOf(page) {
        return this.order.indexOf(page) + 1;
    }

    /** Tells two states apart. */
    get key() {
        return [this.shown, this.order.join(), this.hidden.join()].join(" ");
    }
}
