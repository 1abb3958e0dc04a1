/**
 * Reads the service's metrics: Prometheus text, as far as the monitor needs it.
 *
 * @module
 */

/** One reading of all metrics. */
export class Metrics {
    #series = [];

    /** @param {string} text in the Prometheus exposition format */
    constructor(text, at = performance.now()) {
        this.at = at;
        const pattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)$/;
        for (const line of text.split("\n")) {
            const match = line.startsWith("#") ? null : pattern.exec(line);
            if (!match) continue;
            const labels = {};
            for (const [, name, value] of (match[2] ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
            this.#series.push({ name: match[1], labels, value: Number(match[3]) });
        }
    }

    /** The values of a label of a metric, sorted. */
    values(label, name) {
        const values = this.#series.filter((series) => series.name === name).map(({ labels }) => labels[label]);
        return [...new Set(values)].sort();
    }

    /** The sum of a metric over its series, or over those with certain labels; null where there is none. */
    sum(name, wanted = {}) {
        const values = this.#series.filter((series) => series.name === name && hasLabels(series, wanted));
        return values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0);
    }

    /** How much a counter has grown a second since an earlier reading; null where that cannot be told. */
    rate(name, earlier) {
        const [now, before] = [this.sum(name), earlier?.sum(name)];
        if (now === null || before === null || before === undefined || now < before) return null;
        return ((now - before) * 1000) / (this.at - earlier.at);
    }

    /**
     * A quantile of a histogram over all of its series, or over those with certain labels, since an earlier reading or ever.
     *
     * @returns {number | null} the upper bound of the bucket; null where nothing was counted
     */
    quantile(name, part, earlier = null, wanted = {}) {
        const buckets = this.#buckets(name, wanted);
        const before = earlier?.#buckets(name, wanted);
        const counts = [...buckets].map(([bound, count]) => [bound, count - (before?.get(bound) ?? 0)]);
        counts.sort(([a], [b]) => a - b);
        const total = counts.at(-1)?.[1] ?? 0;
        if (!(total > 0)) return null;
        return counts.find(([, count]) => count >= part * total)[0];
    }

    #buckets(name, wanted) {
        const buckets = new Map();
        for (const series of this.#series) {
            const { labels, value } = series;
            if (series.name !== `${name}_bucket` || !hasLabels(series, wanted)) continue;
            const bound = labels.le === "+Inf" ? Infinity : Number(labels.le);
            buckets.set(bound, (buckets.get(bound) ?? 0) + value);
        }
        return buckets;
    }
}

function hasLabels({ labels }, wanted) {
    return Object.entries(wanted).every(([name, value]) => labels[name] === value);
}
