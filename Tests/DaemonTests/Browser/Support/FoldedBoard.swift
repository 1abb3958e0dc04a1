extension BrowserWindow {
    /// The fold of a room's operations for scripts, apart from that of the service: `new FoldedBoard(reply)` of a join reply,
    /// `apply(operation)`, which returns what has come and gone; `strokes` of the page that is shown, bottom to top.
    static let foldedBoard = """
        class FoldedBoard {
            constructor({ index, palette, style, pages, visible, redo = [], cleared = [] }) {
                Object.assign(this, { index, palette, style, shown: pages?.shown ?? 0 });
                const byIndex = (entries) => new Map(entries.map((entry) => [entry.index, entry]));
                [this.visible, this.undone] = [byIndex(visible), byIndex(redo)];
                this.cleared = new Map(cleared.map(({ index, visible }) => [index, visible]));
                this.removals = new Map(cleared.filter(({ v }) => v).map(({ index, v }) => [index, v]));
                for (const { index, message } of redo) if (message.a === 8) this.removals.set(index, message.v);
            }
            on(page) {
                const entries = [...this.visible.values()].filter((entry) => (entry.page ?? 0) === page);
                return entries.sort((one, other) => one.index - other.index);
            }
            get strokes() { return this.on(this.shown); }
            apply({ index, page = 0, ref, message }) {
                let [shown, hidden] = [[], []];
                const isRemoved = (of, index) => this.removals.get(of)?.includes(index) ?? true;
                const clear = (of) => this.cleared.set(of, (hidden = this.on(page).filter(({ index }) => isRemoved(of, index))));
                switch (message.a || 1) {
                    case 2:
                        if (this.visible.has(ref)) hidden = [this.visible.get(ref)];
                        else shown = this.cleared.get(ref);
                        this.undone.set(ref, hidden[0] ?? null);
                        break;
                    case 3:
                        if (this.undone.get(ref)?.message.d) shown = [this.undone.get(ref)];
                        else clear(ref);
                        this.undone.delete(ref);
                        break;
                    case 4: clear(index); break;
                    case 5: case 6: this.shown = page; break;
                    case 7: break;
                    case 8: this.removals.set(index, message.v); clear(index); break;
                    default: shown = [{ index, page, message }];
                }
                for (const entry of hidden) this.visible.delete(entry.index);
                for (const entry of shown) this.visible.set(entry.index, entry);
                this.index = index;
                return { shown, hidden };
            }
        }
        """
}
