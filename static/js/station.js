// The rater station with one document on the screen: keys, clicks and swipes. The form works without this file.
//
// The parts: deck.js holds the prefetched documents, outbox.js stores and sends answers, stored_answers.js shows those that
// are not sent yet, clock.js measures time, keys.js reads keys, tabs.js talks to the rater's other tabs, notices.js shows notices.
import { circumstances, inWords, answerOf, seconds, toggleMarks } from "./station/answering.js";
import { Clock } from "./station/clock.js";
import { Deck } from "./station/deck.js";
import { Digits, actOf } from "./station/keys.js";
import { StoredAnswers } from "./station/stored_answers.js";
import { reachable } from "./station/line.js";
import { Outbox, newId } from "./station/outbox.js";
import { more } from "./station/pictures.js";
import "./station/pinned.js";
import { aloud, counted, haveRead, offerRest, toast } from "./station/notices.js";
import { Tabs } from "./station/tabs.js";
import { swipes } from "./station/touch.js";

// A second press of the same key must not grade the next document, which the rater cannot have read yet.
const UNSEEN = 250;
const FLASH = 150;

const find = (selector) => document.querySelector(selector);
const [form, unable, ask, doc, shown, note, undoButton] = ["#give", "#unable-form", "#ask", "#doc", "#shown", "#note-text", "#undo"].map(find);
const data = JSON.parse(find("#station-data").textContent);
const suffix = document.title.split(" · ").slice(1).join(" · ");
const values = new Set(Object.keys(data.grades));
const Noun = data.noun[0].toUpperCase() + data.noun.slice(1);

const outbox = new Outbox(data);
const stored = new StoredAnswers(outbox, data);
const tabs = new Tabs(data);
const clock = new Clock();
const first = { ...data.card, ask: [...ask.childNodes], document: [...shown.childNodes], undos: data.card.again ? 1 : 0 };
const deck = new Deck(data, outbox, first);
const earlier = !undoButton.disabled; // the form can undo answers from before this page
let query = data.card.query, owed = "", timer;
const { dataset } = document.documentElement;
const seen = () => "ready" in dataset;

// --- The current document.

function show(message, { undo = false, before = "" } = {}) {
  const card = deck.current;
  if (message) toast(message, undo);
  undoButton.disabled = !(deck.given.length || earlier);
  find("#grades").inert = !card;
  if (!card) {
    owed = message || owed;
    return showEmpty(message);
  }
  put(card);
  const changed = card.query !== query;
  query = card.query;
  const fresh = ask.querySelector(".ask__new");
  fresh.hidden = !changed;
  fresh.textContent = before || `New ${data.query_noun}`;
  const place = `${Noun} ${card.place}`;
  const need = changed ? ` ${fresh.textContent}: ${card.text}. ${card.need}` : "";
  aloud(`${message || owed} ${place}.${need}`.trim());
  owed = "";
  document.title = `${card.text}: ${data.noun} ${card.place} · ${suffix}`;
  return undefined;
}

function put(card) {
  const inside = doc.contains(document.activeElement) || ask.contains(document.activeElement);
  const read = card.query === query ? ask.querySelector(".ask__need")?.scrollTop : 0;
  ask.replaceChildren(...card.ask);
  if (read) ask.querySelector(".ask__need").scrollTop = read; // keep the scroll position of a long need
  shown.replaceChildren(...card.document);
  doc.scrollTop = 0;
  note.value = card.note ?? "";
  form.elements.pair.value = unable.elements.pair.value = card.pair;
  form.elements.client_id.value = unable.elements.client_id.value = newId();
  // A focused element inside the document disappears with it; a focused button keeps the focus for keyboard users.
  if (inside) doc.focus({ preventScroll: true });
  began(card);
}

/** The document can be read from now on. */
function began(card) {
  clock.start(card.spent);
  delete dataset.ready;
  clearTimeout(timer);
  timer = setTimeout(() => { if (!stored.left) dataset.ready = ""; }, UNSEEN);
}

// --- No document is ready.

const EMPTY = {
  "": [`Loading the next ${data.noun}s`, "Please wait."],
  line: [`No connection and no more ${data.noun}s`, `Your grades are stored in this browser and will be sent when you are online again. Then the next ${data.noun}s appear.`],
  done: [`No more ${data.noun}s for now`, "Sending your last answers."],
  server: [`The server does not respond, and there are no more ${data.noun}s`, `Your grades are stored in this browser and will be sent when the server responds. Then the next ${data.noun}s appear.`],
  login: ["Your session has ended", "Your grades are stored in this browser. Log in again to send them and continue where you stopped."],
};

async function showEmpty(message = "") {
  clearTimeout(timer);
  delete dataset.ready;
  const [head, words] = EMPTY[deck.empty] ?? (deck.stopped ? ["You can’t rate here anymore", deck.empty] : [`No more ${data.noun}s for now`, deck.empty]);
  const text = words.replace("in this browser", stored.place);
  find("#grades").inert = true;
  if (deck.stopped) {
    undoButton.disabled = true;
    find("#toast")?.remove(); // its undo button no longer works
  }
  const box = document.createElement("section");
  box.className = "stack stack--s";
  for (const [tag, textContent] of [["h2", head], ["p", text]]) box.append(Object.assign(document.createElement(tag), { textContent }));
  const login = { href: data.login, textContent: "Log in", target: stored.fleeting ? "_blank" : "" };
  if (deck.empty === "login") box.append(Object.assign(document.createElement("a"), login));
  shown.replaceChildren(box);
  aloud(`${message} ${head}. ${text}`.trim());
  // The page without a document gives the reason and the next steps. It is loaded when leaving loses no answers. A rater
  // who was removed from the round has no such page and sees the rejected answers here.
  if (!deck.empty || ["line", "server", "login"].includes(deck.empty)) return;
  if (await outbox.flush() && (!deck.stopped || await reachable(data.page)) && !deck.current && !stored.fleeting) stored.leave(data.page);
}

deck.addEventListener("change", () => {
  if (deck.current) return;
  if (deck.ahead.length) {
    deck.advance();
    show("");
  } else {
    showEmpty();
  }
});
deck.addEventListener("lost", () => {
  deck.advance();
  show(`This ${data.noun} was reassigned while you were away.`);
});

// --- Answers.

/** Keep the note and the time with the document, whatever happens to it next. */
function keep(card) {
  card.spent = clock.spent;
  card.note = note.value.trim();
}

function textOf(card) {
  if (card.kind === "short") return "short";
  return shown.querySelector(".doc__whole")?.open ? "whole" : "excerpt";
}

function answer(given) {
  const card = deck.current;
  if (!card || !seen()) return;
  if (card.again && given.state === "later") return stored.leave(data.page); // an answered document cannot be deferred
  const count = counted();
  keep(card);
  const how = circumstances({ view: "one", text: textOf(card), undos: card.undos, place: count });
  const body = { client_id: newId(), pair: card.pair, ...given, note: card.note, ...seconds(card.spent), how };
  const message = inWords(body, data.grades);
  const kept = outbox.put(body, { answer: message, title: card.title, query: card.text });
  deck.advance({ client_id: body.client_id });
  show(message, { undo: true });
  // Another tab that requests documents must find the answer stored, or it would be given the same document again.
  kept.then(() => tabs.tell("answered", card.pair, answerOf(body)));
  offerRest(count);
}

function grade(value) {
  const button = form.querySelector(`[name=grade][value="${value}"]`);
  if (!button || !deck.current || !seen()) return;
  button.dataset.flash = "";
  setTimeout(() => { delete button.dataset.flash; }, FLASH);
  answer({ grade: Number(value) });
}

function undo() {
  if (deck.stopped) return toast("You can’t undo answers anymore.");
  if (deck.current) keep(deck.current);
  const last = deck.back();
  if (last) {
    outbox.takeBack(last.client_id);
    tabs.tell("undone", last.card.pair);
    return show("Undone. Grade it again.", { before: last.card.query === query ? "" : `Back to the previous ${data.query_noun}` });
  }
  return earlier ? stored.undo(form) : toast("There is nothing to undo.");
}

outbox.addEventListener("settled", ({ detail }) => {
  if (detail.surplus) toast("The pair already had all its ratings. Your answer is stored but does not count.");
  if (detail.row.round !== data.round) return;
  if (!detail.taken) deck.refused(detail.status, detail.message);
  else if (deck.stopped) deck.refill(); // the server accepts answers again
});

function submitted(event) {
  const { name, value } = event.submitter ?? {};
  if (event.target.id === "read-form") haveRead(event, data.page);
  else if (event.target.id === "stop-form") stored.stop(event.target, !deck.stopped);
  else if (name === "grade") grade(value);
  else if (name === "state") answer({ state: value });
  else if (name === "undo") undo();
  else if (name === "reason") {
    find("#unable-box").hidePopover();
    answer({ state: "unrateable", reason: value });
  } else return;
  event.preventDefault();
}
addEventListener("submit", submitted);

// --- Keys.

const waiting = Object.assign(document.createElement("kbd"), { className: "typed", hidden: true });
find("#grades").before(waiting);
const digits = new Digits(values, grade, (typed) => {
  waiting.textContent = `${typed} …`;
  waiting.hidden = !typed;
});

function whole() {
  more(shown);
  doc.scrollTop = 0;
}

const ACTS = {
  unable: () => find("#unable").click(),
  later: () => answer({ state: "later" }),
  undo,
  note: () => find("#note").click(),
  guide: () => find("#open-guide").click(),
  keys: () => find("#open-keys").click(),
  marks: () => aloud(toggleMarks()),
  whole,
  last: () => find("#last").click(),
};
const BOXES = { unable: "unable-box", note: "note-box", guide: "guide", keys: "keys" };

function pressed(event) {
  const box = find("[popover]:popover-open");
  if (event.key === "Enter" && !box && digits.enter()) return event.preventDefault();
  const hit = actOf(event, data.keys, values);
  if (!hit || (!box && hit.act && !ACTS[hit.act])) return undefined;
  event.preventDefault();
  if (box) return inBox(box, hit);
  return hit.digit ? digits.press(hit.digit) : ACTS[hit.act]();
}

function inBox(box, { act, digit }) {
  if (BOXES[act] === box.id) box.hidePopover();
  else if (digit) box.querySelector(`[data-number="${digit}"]`)?.click();
}
addEventListener("keydown", pressed);
find("#last").addEventListener("click", (event) => stored.toLast(event));
swipes(doc, { left: () => answer({ state: "later" }), right: undo });

// The full text of a long document is inserted when the rater opens it.
shown.addEventListener("toggle", (event) => {
  const place = event.target.querySelector(".doc__text:empty");
  if (place && deck.current?.whole) place.innerHTML = deck.current.whole;
}, true);

// --- Other tabs, and start and end of the page.

tabs.addEventListener("answered", ({ detail }) => {
  stored.look();
  if (!deck.remove(detail.pair)) return;
  deck.advance();
  show("You answered that document in another tab.");
});
tabs.addEventListener("undone", () => { stored.look(); });

// A page from the browser's cache (the back button) is out of date, because its documents have been answered.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

async function begin() {
  began(first);
  const message = find("#toast > span")?.textContent ?? "";
  if (message) toast(message, message.startsWith("Saved"));
  // Answered before a reload but not sent yet: do not show it again.
  const answered = new Set(await outbox.unsent());
  outbox.flush();
  if (answered.has(first.pair) && deck.current?.pair === first.pair && !deck.given.length) {
    deck.advance();
    show("");
  }
  await deck.refill();
}
setTimeout(() => aloud(`${find("#toast > span")?.textContent ?? ""} ${Noun} ${first.place}, ${data.query_noun} ${first.text}.`.trim()), UNSEEN);
begin();
