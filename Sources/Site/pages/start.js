/** The start page: into a room, and the rooms there are. */

import { $, address, element, KeyedList, namePattern, openSession, ownRooms, say, showStatus, strokesWords, t, whileVisible } from "./common.js";

/** Milliseconds between two looks at the list. */
const listInterval = 4000;
/** Rooms shown; the list of a large service is for the monitor. */
const mostRooms = 60;

$("enter").addEventListener("submit", (event) => {
    event.preventDefault();
    const room = $("name").value.trim();
    if (!namePattern.test(room)) return;
    location.href = event.submitter?.value === "teach" ? address(`rooms/${room}/teach`) : address(`rooms/${room}`);
});
// Names of rooms have no capitals; telephones begin with one.
$("name").addEventListener("input", () => ($("name").value = $("name").value.toLowerCase().replaceAll(" ", "-")));

/** A name that nobody guesses: some 100 random bits. */
function newRoom() {
    const letters = "abcdefghijkmnpqrstuvwxyz23456789";
    return `class-${[...crypto.getRandomValues(new Uint8Array(20))].map((byte) => letters[byte % letters.length]).join("")}`;
}

const begun = newRoom();
$("start").href = address(`rooms/${begun}/teach`, { share: 1 });
$("start").addEventListener("click", () => ownRooms.add(begun));

const trial = `trial-${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
$("try").href = address(`rooms/${trial}/teach`, { demo: 5 });

const { gateway, claims } = await openSession("");
const mayTeachAll = claims === null || claims.room === "*" && claims.role === "teacher";
const showTeaching = (isShown) => {
    for (const node of [$("start"), document.querySelector(".start-note"), $("try").parentElement]) node.hidden = !isShown;
};
showTeaching(mayTeachAll);
const cards = new KeyedList($("rooms"), cardOf);

whileVisible(listInterval, async () => {
    let list;
    try {
        list = await gateway.json("api/rooms");
    } catch (error) {
        if (error.status === 401 || error.status === 403) {
            showTeaching(false);
            return showStatus($("state"), "", t("The list is for operators; use the link that you were given"));
        }
        return showStatus($("state"), "bad", error.message);
    }
    showStatus($("state"), list.complete ? "" : "wait", list.complete ? count(list.rooms.length) : t("Some rooms may be missing"));
    show(list.rooms.slice(0, mostRooms));
});

function count(number) {
    return number === 1 ? t("1 room") : t("{count} rooms", { count: number });
}

function show(rooms) {
    $("none").hidden = rooms.length > 0;
    cards.show(rooms.map(({ room }) => room)).forEach((card, place) => {
        const room = rooms[place];
        const released = Math.max(0, ...room.cohorts.map(({ index }) => index));
        const strokes = room.visible === undefined || room.visible === null ? t("at rest") : strokesWords(room.visible);
        say(card.state, `${strokes} · ${room.index === 1 ? t("1 operation") : t("{count} operations", { count: room.index })}`);
        const cohorts = room.cohorts.map(({ cohort }) => cohort);
        if (cohorts.join() !== card.cohorts) {
            card.cohorts = cohorts.join();
            card.links.replaceChildren(...linksOf(room.room, cohorts));
        }
        if (released !== card.released) {
            card.released = released;
            card.thumb.src = address(`api/rooms/${room.room}/board.png`, { width: 480, cohort: cohorts[0] ?? "main", at: released });
        }
    });
}

function cardOf(name) {
    const thumb = element("img", { className: "thumb", alt: t("Board of {name}", { name }), loading: "lazy", decoding: "async" });
    const state = element("span", { className: "small quiet number" });
    const links = element("div", { className: "room-links" });
    const node = element("li", { className: "room" }, thumb,
        element("div", { className: "room-body" }, element("span", { className: "room-name", textContent: name }), state),
        links);
    return { node, thumb, state, links, released: null, cohorts: null };
}

function linksOf(room, cohorts) {
    const others = cohorts.filter((cohort) => cohort !== "main");
    return [
        element("a", { href: address(`rooms/${room}`), textContent: t("Follow") }),
        ...others.map((cohort) => element("a", { href: address(`rooms/${room}`, { cohort }), textContent: t("Follow {cohort}", { cohort }) })),
        // Without tokens the rooms of others are theirs.
        claims?.role === "teacher" || claims === null && ownRooms.has(room) ? element("a", { href: address(`rooms/${room}/teach`), textContent: t("Teach") }) : null,
        element("a", { href: address(`rooms/${room}?replay`), textContent: t("Replay") }),
    ].filter(Boolean);
}
