/** The operator's page: what the service does, and where each room stands. */

import { $, address, element, isolated, KeyedList, openSession, say, showStatus, spanWords, strokesWords, t, timeWords, whileVisible } from "./common.js";

class Metrics {
    #series = [];

    /** `text`: in the Prometheus exposition format. */
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
     * A quantile of a histogram over all of its series, or over those with certain labels, since an earlier reading or ever: the upper
     * bound of its bucket, null where nothing was counted.
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

/** Milliseconds between two looks. */
const interval = 2000;
/** Rooms shown at a time; the field finds others. */
const mostRooms = 100;
/** Readings over which rates and quantiles are taken. */
const mostReadings = 30;
/** A clock that has not moved for so long is stale, in milliseconds. */
const staleTime = 5000;

const { gateway } = await openSession("");
const rows = new KeyedList($("rooms"), rowOf);
const skewRows = new KeyedList($("skew-rows"), skewRowOf);
const readings = [];
/** When the video time of each cohort was last seen to move, by room and cohort. */
let moved = new Map();
let rooms = [];

$("filter").addEventListener("input", showRooms);

whileVisible(interval, async () => {
    await Promise.all([readRooms(), readMetrics()]);
});

async function readRooms() {
    let list;
    try {
        list = await gateway.json("api/rooms");
    } catch (error) {
        return showStatus($("state"), "bad", error.status === 401 || error.status === 403 ? t("For operators only") : error.message);
    }
    showStatus($("state"), list.complete ? "good" : "wait", list.complete ? t("Live") : t("Not every daemon has answered"));
    rooms = list.rooms;
    // Of those that there are: rooms come and go.
    moved = new Map(rooms.flatMap(({ room, cohorts }) => cohorts.map(({ cohort, v }) => {
        const last = moved.get(`${room}/${cohort}`);
        return [`${room}/${cohort}`, last && last.v === v ? last : { v, at: performance.now() }];
    })));
    say($("rooms-count"), String(rooms.length));
    const resting = rooms.filter(({ asleep }) => asleep).length;
    say($("rooms-note"), resting > 0 ? t("{count} at rest", { count: resting }) : t("all in use"));
    const held = rooms.reduce((sum, { cohorts }) => sum + cohorts.reduce((all, cohort) => all + cohort.held, 0), 0);
    say($("held"), String(held));
    const cohorts = new Set(rooms.flatMap((room) => room.cohorts.map(({ cohort }) => cohort)));
    say($("held-note"), cohorts.size === 1 ? t("1 cohort") : t("{count} cohorts", { count: cohorts.size }));
    showRooms();
}

async function readMetrics() {
    let text;
    try {
        text = await (await gateway.request("metrics")).text();
    } catch {
        for (const id of ["operations", "lateness", "requests"]) say($(`${id}-note`), t("at http.admin"));
        return;
    }
    const metrics = new Metrics(text);
    readings.push(metrics);
    if (readings.length > mostReadings) readings.shift();
    const earlier = readings[0];
    const operations = readings.length > 1 ? metrics.rate("lectern_operations_total", earlier) : null;
    say($("operations"), rateWords(operations));
    say($("operations-note"), t("{count} since the start", { count: (metrics.sum("lectern_operations_total") ?? 0).toLocaleString() }));
    const recent = readings.length > 1 ? metrics.quantile("lectern_release_lateness_seconds", 0.99, earlier) : null;
    const ever = metrics.quantile("lectern_release_lateness_seconds", 0.99);
    say($("lateness"), latenessWords(recent ?? ever));
    say($("lateness-note"), recent === null ? t("since the start") : t("last {time}", { time: spanWords(metrics.at - earlier.at) }));
    showSkew(metrics, readings.length > 1 ? earlier : null);
    say($("requests"), rateWords(readings.length > 1 ? metrics.rate("lectern_http_requests_total", earlier) : null));
    say($("requests-note"), t("{count} messages rejected", { count: (metrics.sum("lectern_rejected_total") ?? 0).toLocaleString() }));
}

/** How far ink and picture are apart, by cohort; the service says whether that is bad. */
function showSkew(metrics, earlier) {
    const name = "lectern_skew_seconds";
    const cohorts = metrics.values("cohort", `${name}_count`).filter((cohort) => metrics.sum(`${name}_count`, { cohort }) > 0);
    $("skew").hidden = cohorts.length === 0;
    skewRows.show(cohorts).forEach((row, place) => {
        const cohort = cohorts[place];
        const labels = { cohort };
        // What came since the earlier reading; all of it where nothing did.
        const isRecent = metrics.sum(`${name}_count`, labels) !== (earlier?.sum(`${name}_count`, labels) ?? 0);
        const before = isRecent ? earlier : null;
        const quantile = (part) => metrics.quantile(name, part, before, labels);
        const early = (metrics.sum("lectern_skew_early_total", labels) ?? 0) - (before?.sum("lectern_skew_early_total", labels) ?? 0);
        const readers = metrics.sum("lectern_skew_readers", labels) ?? 0;
        const bad = metrics.sum("lectern_skew_bad_rooms", labels) ?? 0;
        const texts = [cohort, latenessWords(quantile(0.5)), latenessWords(quantile(0.99)), readers.toLocaleString(), early.toLocaleString()];
        texts.forEach((text, place) => say(row.cells[place], text));
        // Many cohorts in one, whose rooms nobody watches.
        if (cohort === "other") showStatus(row.state, "", t("Not judged"));
        else if (bad > 0) showStatus(row.state, "bad", bad === 1 ? t("Apart in 1 room") : t("Apart in {count} rooms", { count: bad }));
        else showStatus(row.state, readers > 0 ? "good" : "", readers > 0 ? t("In step") : t("No reports"));
    });
}

function skewRowOf() {
    const state = element("span", { className: "status" });
    const cells = Array.from({ length: 5 }, (_, place) => element("td", { className: place === 1 ? "optional" : "" }));
    return { node: element("tr", {}, ...cells, element("td", {}, state)), cells, state };
}

function rateWords(rate) {
    if (rate === null) return "–";
    return rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString();
}

function latenessWords(seconds) {
    if (seconds === null) return "–";
    if (seconds === Infinity) return t("very late");
    return isolated(seconds < 1 ? `< ${Number((seconds * 1000).toPrecision(2))} ms` : `< ${seconds.toFixed(1)} s`);
}

function showRooms() {
    const wanted = $("filter").value.trim().toLowerCase();
    const shown = rooms.filter(({ room }) => room.includes(wanted)).slice(0, mostRooms);
    $("none").hidden = shown.length > 0;
    rows.show(shown.map(({ room }) => room)).forEach((row, place) => showRoom(row, shown[place]));
}

function rowOf(name) {
    const thumb = element("img", { className: "thumb", alt: t("Board of {name}", { name }), loading: "lazy", decoding: "async" });
    const state = element("span", { className: "small quiet number" });
    const body = element("tbody");
    const heads = [[t("Cohort")], [t("Released")], [t("Held")], [t("Video")], [t("Behind"), "optional"], [t("Clock"), "optional"]];
    const table = element("table", { className: "cohort-table" },
        element("thead", {}, element("tr", {}, ...heads.map(([text, className = ""]) => {
            const head = element("th", { textContent: text, className });
            head.scope = "col";
            return head;
        }))), body);
    const links = element("span", { className: "links" },
        element("a", { href: address(`rooms/${name}`), textContent: t("Follow") }),
        element("a", { href: address(`rooms/${name}/teach`), textContent: t("Teach") }),
        element("a", { href: address(`rooms/${name}?replay`), textContent: t("Replay") }));
    const node = element("li", { className: "room" }, thumb,
        element("div", { className: "room-body" },
            element("div", { className: "room-head" }, element("span", { className: "room-name", textContent: name }), state, links),
            table));
    return { node, thumb, state, cohorts: new KeyedList(body, cohortRow), picture: null };
}

function showRoom(row, { room, index, visible, cohorts, behind_live: behindLive }) {
    const words = [index === 1 ? t("1 operation") : t("{count} operations", { count: index })];
    // A room that is not in memory has no number of strokes.
    words.push(visible === undefined ? t("at rest") : strokesWords(visible));
    if (behindLive) words.push(t("ink of {names} runs ahead of the voice", { names: behindLive.join(", ") }));
    row.state.classList.toggle("stale", Boolean(behindLive));
    say(row.state, words.join(" · "));
    const first = cohorts[0];
    const picture = first ? `${first.cohort}/${first.index}` : null;
    if (picture !== row.picture) {
        row.picture = picture;
        row.thumb.src = address(`api/rooms/${room}/board.png`, { width: 384, cohort: first?.cohort ?? "main", at: first?.index ?? 0 });
    }
    const fastest = Math.max(...cohorts.map(({ v }) => (typeof v === "number" ? v : -Infinity)));
    row.cohorts.show(cohorts.map(({ cohort }) => cohort)).forEach(({ cells }, place) => showCohort(cells, room, cohorts[place], fastest));
}

function cohortRow() {
    const cells = Array.from({ length: 6 }, (_, place) => element("td", { className: place > 3 ? "optional" : "" }));
    return { node: element("tr", {}, ...cells), cells };
}

function showCohort(cells, room, { cohort, index, held, v, gate, age: late }, fastest) {
    const isKnown = typeof v === "number";
    const age = performance.now() - (moved.get(`${room}/${cohort}`)?.at ?? performance.now());
    const isStale = isKnown && age > staleTime;
    const texts = [
        cohort, String(index), String(held), isKnown ? timeWords(v) : "–",
        typeof late === "number" ? spanWords(late) : isKnown && fastest > v ? spanWords(fastest - v) : "–",
        !isKnown ? gate === "open" ? t("no video") : t("none") : isStale ? t("stood {time}", { time: spanWords(age) }) : t("running"),
    ];
    texts.forEach((text, place) => say(cells[place], text));
    cells[5].classList.toggle("stale", isStale);
}
