// Conflicts by keyboard: one conflict on the screen, and the next ones prefetched. The form works without this file.
//
// Documents come from the station's deck, and resolutions are stored and sent by its outbox, in a queue of their own.
import { toggleMarks } from "./station/answering.js";
import { Deck } from "./station/deck.js";
import { Digits, actOf, typing } from "./station/keys.js";
import { Outbox, newId } from "./station/outbox.js";
import { aloud, toast } from "./station/notices.js";
import { more } from "./station/pictures.js";
import "./station/pinned.js";
import { StoredAnswers } from "./station/stored_answers.js";

// A second press of the same key must not resolve the next conflict, which the lead cannot have read yet.
const UNSEEN = 250;
const FLASH = 150;

const find = (selector) => document.querySelector(selector);
const [form, ask, doc, shown, undoButton, box, words] = ["#give", "#ask", "#doc", "#shown", "#undo", "#reason-box", "#reason-text"].map(find);
const data = JSON.parse(find("#station-data").textContent);
const suffix = document.title.split(" · ").slice(1).join(" · ");
const values = new Set(Object.keys(data.grades));
const { dataset } = document.documentElement;
const skipped = []; // shown again after all others

/** The deck must not fetch skipped conflicts again. */
class Resolutions extends Outbox {
  async unsent() {
    return [...await super.unsent(), ...skipped.map((card) => card.pair)];
  }
}

const outbox = new Resolutions(data);
const stored = new StoredAnswers(outbox, data);
const deck = new Deck(data, outbox, { ...data.card, ask: [...ask.childNodes], document: [...shown.childNodes], undos: 0 });
const earlier = !undoButton.disabled; // the form can undo resolutions from before this page
let query = data.card.query, timer, pending, confirmed = false;
const seen = () => "ready" in dataset;

// --- The reason, kept for the next conflicts in this tab.

const KEPT = `assay-reason-${data.round}`;
const templates = [...document.querySelectorAll("[name=template]")];
const chosen = () => templates.find((one) => one.checked)?.value ?? "";

function reason() {
  const parts = [chosen(), words.value.trim()].filter(Boolean);
  return parts.join(/[.!?]$/.test(parts[0] ?? "") ? " " : ". ");
}

function keepReason() {
  find("#reason-now").textContent = reason() || "none chosen";
  try { sessionStorage.setItem(KEPT, JSON.stringify([chosen(), words.value])); } catch { /* then it is kept on this page only */ }
}

function restoreReason() {
  let kept = null;
  try { kept = JSON.parse(sessionStorage.getItem(KEPT)); } catch { /* then the form's own values stay */ }
  if (kept) {
    const [template, text] = kept;
    const same = templates.find((one) => one.value === template);
    (same ?? templates.at(-1)).checked = true;
    words.value = same ? text : [template, text].filter(Boolean).join(". ");
  }
  keepReason();
}

box.addEventListener("toggle", ({ newState }) => {
  if (newState === "open") {
    // The event comes late: a quick lead may already be in the text, where digits are no choice.
    if (!box.contains(document.activeElement)) (templates.find((one) => one.checked) ?? words).focus();
    return;
  }
  keepReason();
  const value = confirmed ? pending : undefined;
  pending = undefined;
  confirmed = false;
  if (value !== undefined && reason()) resolve(value);
  else doc.focus({ preventScroll: true });
});

/** Close the list of reasons, and resolve if a grade waited for the reason. */
function useReason() {
  confirmed = true;
  box.hidePopover();
}

// --- The current conflict.

function show(message, { undo = false } = {}) {
  const card = deck.current;
  if (message) toast(message, undo);
  undoButton.disabled = !(deck.given.length || earlier);
  find("#grades").inert = !card;
  if (!card) return showEmpty(message);
  const changed = card.query !== query;
  query = card.query;
  ask.replaceChildren(...card.ask);
  shown.replaceChildren(...card.document);
  doc.scrollTop = 0;
  ask.querySelector(".ask__new").hidden = !changed;
  form.elements.pair.value = card.pair;
  form.elements.client_id.value = newId();
  document.title = `${card.text}: ${data.noun} ${card.place} · ${suffix}`;
  aloud(`${message} Conflict ${card.place}, ${card.text}: ${card.title}. Grades ${card.grades}.`.trim());
  return began();
}

function began() {
  delete dataset.ready;
  clearTimeout(timer);
  timer = setTimeout(() => { if (!stored.left) dataset.ready = ""; }, UNSEEN);
}

const EMPTY = {
  "": ["Loading the next conflicts", "Please wait."],
  line: ["No connection and no more conflicts", "Your resolutions are stored in this browser and will be sent when you are online again. Then the next conflicts appear."],
  server: ["The server does not respond, and there are no more conflicts", "Your resolutions are stored in this browser and will be sent when the server responds."],
  login: ["Your session has ended", "Your resolutions are stored in this browser. Log in again to send them and continue where you stopped."],
};

function showEmpty(message = "") {
  clearTimeout(timer);
  delete dataset.ready;
  let [head, text] = EMPTY[deck.empty] ?? ["You can’t resolve conflicts here anymore", deck.empty];
  const link = { href: data.list, textContent: "View all conflicts", className: "btn" };
  if (deck.empty === "done") {
    head = skipped.length ? `${skipped.length} skipped conflict${skipped.length > 1 ? "s" : ""} left` : "No open conflicts are left";
    text = skipped.length ? `Press Enter to see ${skipped.length > 1 ? "them" : "it"} again.` : "You can still undo your last resolutions.";
  } else if (deck.empty === "login") {
    Object.assign(link, { href: data.login, textContent: "Log in", target: stored.fleeting ? "_blank" : "" });
  }
  const part = Object.assign(document.createElement("section"), { className: "stack stack--s" });
  const made = (tag, has) => Object.assign(document.createElement(tag), has);
  const row = made("div", { className: "row row--tight" });
  if (deck.empty === "done" && skipped.length) row.append(made("button", { type: "button", textContent: "Show skipped conflicts", className: "btn btn--main", onclick: again }));
  if (deck.empty) row.append(made("a", link));
  part.append(made("h2", { textContent: head }), made("p", { textContent: text }), row);
  shown.replaceChildren(part);
  aloud(`${message} ${head}. ${text}`.trim());
}

/** Show the skipped conflicts. */
function again() {
  deck.ahead.push(...skipped.splice(0));
  deck.advance();
  show("");
}

deck.addEventListener("change", () => {
  if (deck.current) return;
  if (deck.ahead.length) deck.advance();
  show("");
});
deck.addEventListener("lost", () => {
  deck.advance();
  show("That conflict was resolved in the meantime.");
});

// --- Resolutions.

function resolve(value) {
  const card = deck.current;
  if (!card || !seen()) return;
  if (!reason()) {
    pending = value;
    return box.showPopover();
  }
  const button = form.querySelector(`[name=grade][value="${value}"]`);
  button.dataset.flash = "";
  setTimeout(() => { delete button.dataset.flash; }, FLASH);
  const body = { client_id: newId(), pair: card.pair, grade: Number(value), reason: reason() };
  const message = `Resolved as ${value}, ${data.grades[value]}.`;
  outbox.put(body, { answer: message, title: card.title, query: card.text });
  deck.advance({ client_id: body.client_id });
  show(message, { undo: true });
  return undefined;
}

function next() {
  if (!deck.current || !seen()) return;
  skipped.push(deck.current);
  deck.advance();
  show("Skipped.");
}

function undo() {
  if (deck.stopped) return toast("You can’t undo resolutions anymore.");
  const last = deck.back();
  if (last) {
    outbox.takeBack(last.client_id);
    return show("Undone. Resolve the conflict again.");
  }
  return earlier ? stored.undo(form) : toast("There is nothing to undo.");
}

outbox.addEventListener("settled", ({ detail }) => {
  if (detail.row.round !== data.round || detail.taken) return;
  // The message about rejected resolutions stays; the conflict is not shown again if another lead resolved it.
  if (detail.status === 409) toast(detail.message);
  deck.refill();
});

addEventListener("submit", (event) => {
  const { name, value } = event.submitter ?? {};
  if (event.target !== form) return;
  if (name === "grade") resolve(value);
  else if (name === "undo") undo();
  event.preventDefault();
});

// --- Keys and buttons.

const waiting = Object.assign(document.createElement("kbd"), { className: "typed", hidden: true });
find("#grades").before(waiting);
const digits = new Digits(values, resolve, (typed) => {
  waiting.textContent = `${typed} …`;
  waiting.hidden = !typed;
});

function toggleRaters() {
  const visible = !("raters" in dataset);
  if (visible) dataset.raters = "";
  else delete dataset.raters;
  find("#raters").setAttribute("aria-pressed", String(visible));
}

const ACTS = {
  reason: () => box.showPopover(),
  next,
  undo,
  raters: toggleRaters,
  whole: () => { more(shown); doc.scrollTop = 0; },
  marks: () => aloud(toggleMarks()),
  guide: () => find("#open-guide").click(),
  keys: () => find("#open-keys").click(),
};
const BOXES = { reason: "reason-box", guide: "guide", keys: "keys" };

function enter(event, opened) {
  if (opened === box) {
    if (typing(event.target) && !event.ctrlKey && !event.metaKey) return;
    useReason();
  } else if (opened) {
    return;
  } else if (!digits.enter()) {
    if (deck.current || !skipped.length || event.target.closest("a, button")) return;
    again();
  }
  event.preventDefault();
}

addEventListener("keydown", (event) => {
  const opened = find("[popover]:popover-open");
  if (event.key === "Enter") return enter(event, opened);
  const hit = actOf(event, data.keys, values);
  if (!hit || (hit.act && !ACTS[hit.act])) return undefined;
  event.preventDefault();
  if (!opened) return hit.digit ? digits.press(hit.digit) : ACTS[hit.act]();
  if (BOXES[hit.act] === opened.id) return opened.hidePopover();
  if (opened === box && hit.digit) choose(hit.digit);
  return undefined;
});

/** A number in the list of reasons chooses one and closes the list; 0 goes to the text. */
function choose(number) {
  const one = box.querySelector(`[data-number="${number}"]`);
  if (!one) return;
  one.checked = true;
  if (one.value) useReason();
  else words.focus();
}

words.addEventListener("input", keepReason);
for (const [id, work] of [["#next", next], ["#raters", toggleRaters], ["#use-reason", useReason]]) {
  find(id).hidden = false;
  find(id).addEventListener("click", work);
}

// The full text of a long document is inserted when the lead opens it.
shown.addEventListener("toggle", (event) => {
  const place = event.target.querySelector(".doc__text:empty");
  if (place && deck.current?.whole) place.innerHTML = deck.current.whole;
}, true);

// A page from the browser's cache (the back button) is out of date.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

async function begin() {
  restoreReason();
  began();
  // Resolved before a reload but not sent yet: do not show it again.
  const unsent = new Set(await outbox.unsent());
  outbox.flush();
  if (unsent.has(deck.current?.pair) && !deck.given.length) {
    deck.advance();
    show("");
  }
  await deck.refill();
}
begin();
