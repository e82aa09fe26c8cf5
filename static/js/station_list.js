// The rater station with the documents of a query as a list: keys move and grade. A grade is sent at once and
// can be changed until the rater leaves the query. The form works without this file.
import { circumstances, inWords, answerOf, seconds, toggleMarks } from "./station/answering.js";
import { Clock } from "./station/clock.js";
import { Digits, actOf, typing } from "./station/keys.js";
import { StoredAnswers } from "./station/stored_answers.js";
import { reachable } from "./station/line.js";
import { Looking } from "./station/looking.js";
import { NextList } from "./station/next_list.js";
import { Outbox, newId } from "./station/outbox.js";
import { Row } from "./station/row.js";
import { RowBoxes } from "./station/row_boxes.js";
import { more } from "./station/pictures.js";
import "./station/pinned.js";
import { aloud, counted, haveRead, offerRest, toast } from "./station/notices.js";
import { Tabs } from "./station/tabs.js";

const UNSEEN = 250;

const find = (selector) => document.querySelector(selector);
const [form, list, goOn, undoButton] = ["#give", "#list", "#go-on", "#undo"].map(find);
const data = JSON.parse(find("#station-data").textContent);
const values = new Set(Object.keys(data.grades));
const outbox = new Outbox(data);
const stored = new StoredAnswers(outbox, data);
const tabs = new Tabs(data);
const clock = new Clock();
const boxes = new RowBoxes();
const coming = new NextList(data);
let rows = [], given = [], earlier = !undoButton.disabled;
let by = null, touched = null, leaving = false, stopped = "", timer;

const rowOf = (element) => rows.find((row) => row.element.contains(element));
const rowFor = (pair) => rows.find((row) => row.pair === pair);
const open = () => rows.filter((row) => !row.picked);
const atHand = () => rowOf(document.activeElement) ?? open()[0] ?? rows[0];

// --- The current row.

function move(step) {
  digits.clear();
  const here = rows.indexOf(rowOf(document.activeElement));
  if (here < 0) return (open()[0] ?? rows[0]).focus();
  return rows[Math.min(Math.max(here + step, 0), rows.length - 1)].focus();
}

/** After a grade: the next open one below, or above, or on to the next query. */
function onwards(row) {
  const here = rows.indexOf(row);
  const next = [...rows.slice(here + 1), ...rows.slice(0, here)].find((one) => !one.picked);
  (next ?? goOn).focus();
}

function tell(message = "") {
  const left = open().length;
  find("[data-graded]").textContent = String(rows.length - left);
  find("[data-rows]").textContent = String(rows.length);
  const words = left ? `Next ${data.query_noun} (skip ${left})` : `Next ${data.query_noun}`;
  goOn.textContent = stopped ? "Reload" : words;
  goOn.classList.toggle("btn--main", !left);
  undoButton.disabled = Boolean(stopped) || !(given.length || earlier);
  if (message) aloud(`${message} ${rows.length - left} of ${rows.length} graded.`);
}

// --- Answers.

function record(row, state) {
  const count = counted();
  const { active, away } = clock.spent;
  row.spent = { active: active + row.spent.active, away: away + row.spent.away };
  clock.start();
  const how = circumstances({ view: "list", text: row.text, undos: row.undos, place: count, ...(by ? { by } : {}) });
  const body = { client_id: newId(), pair: row.pair, ...state, note: row.note, ...seconds(row.spent), how };
  const message = inWords(body, data.grades);
  outbox.put(body, { answer: message, title: row.title, query: find(".ask__query").textContent });
  tabs.tell("answered", row.pair, answerOf(body));
  coming.forget();
  if (body.state === "later") return;
  row.recorded(answerOf(body));
  given.push({ row, client_id: body.client_id });
  toast(`${message} ${row.title}`, true);
  tell(message);
  offerRest(count);
  looking.look();
  if (!open().length) fetchNext();
}

async function fetchNext() {
  if (await outbox.flush() && !open().length && !leaving && !stopped) coming.fetch();
}

/** Record the new selection of a row; "cannot judge" needs a reason first. */
function settle(row) {
  row.rest();
  if (!row.changed) return;
  if (row.picked === "unable") boxes.why(row);
  else record(row, row.state(row.picked));
}

function pick(row, value) {
  if (!row.picks.some((one) => one.value === value)) return;
  row.check(value);
  settle(row);
  onwards(row);
}

boxes.addEventListener("unable", ({ detail: { row, reason } }) => {
  record(row, { state: "unrateable", reason });
  onwards(row);
});
boxes.addEventListener("noted", ({ detail: { row } }) => {
  if (row.answer) record(row, row.state(row.answer)); // answered before: the same answer, now with the note
});

function reopen(row) {
  coming.forget();
  row.reopen();
  given = given.filter((one) => one.row !== row);
}

function undo() {
  if (stopped) return;
  const last = given.pop();
  if (last) {
    reopen(last.row);
    outbox.takeBack(last.client_id);
    tabs.tell("undone", last.row.pair);
    toast(`Undone: ${last.row.title}`);
    tell("Undone.");
    last.row.focus();
  } else if (earlier) {
    stored.undo(form);
  } else {
    toast("There is nothing to undo.");
  }
}

/** Go to the next query after the server has the answers of this one; open rows come back at the end. */
async function next() {
  if (leaving) return;
  if (!settled()) return;
  const page = open().length || stopped ? null : coming.take();
  if (page) return show(page);
  leaving = list.inert = true; // later notices could disappear with the page
  unseen();
  if (!stopped) for (const row of open()) putOff(row);
  if (await outbox.flush() && await reachable(data.page)) return void stored.leave(data.page);
  leaving = false;
  list.inert = Boolean(stopped);
  nowSeen();
  toast(stopped || `No connection. The next ${data.query_noun} appears when your answers have been sent.`);
}

/** Whether every row is recorded as shown; a row set to "cannot judge" by keys still needs a reason. */
function settled() {
  boxes.withoutReason();
  for (const row of rows) settle(row);
  return !boxes.row;
}

/** The row may have been graded elsewhere without a message to this page: then that grade counts. */
function putOff(row) {
  if (!row.off) record(row, { state: "later", if_open: true });
  row.off = true;
}

outbox.addEventListener("settled", ({ detail }) => {
  if (detail.surplus) toast("The pair already had all its ratings. Your answer is stored but does not count.");
  if (!detail.taken && detail.row.round === data.round && [403, 410].includes(detail.status)) stop(detail.message);
});

const looking = new Looking(data, { held: () => open().map((row) => row.pair), stop, lost });

/** Remove ungraded documents that were reassigned or answered elsewhere. */
function lost(pairs) {
  const gone = open().filter((row) => pairs.includes(row.pair));
  if (!gone.length || stopped || leaving) return;
  const inside = gone.some((row) => row.element.contains(document.activeElement));
  for (const row of gone) row.element.remove();
  rows = rows.filter((row) => !gone.includes(row));
  if (!rows.length) return void next();
  toast(gone.length === 1 ? `One ${data.noun} was reassigned while you were away.` : `${gone.length} ${data.noun}s were reassigned while you were away.`);
  tell(`${gone.length} gone.`);
  if (inside) (open()[0] ?? rows[0]).focus();
}

/** The server accepts no more answers: show the rejected ones and stop grading. */
function stop(message) {
  stopped = message;
  const words = find("#stopped");
  words.hidden = false;
  words.textContent = message;
  list.inert = true;
  find("#toast")?.remove(); // its undo button no longer works
  tell();
}

addEventListener("submit", (event) => {
  const { name, value } = event.submitter ?? {};
  if (event.target.id === "read-form") haveRead(event, data.page);
  else if (event.target.id === "stop-form") settled() && stored.stop(event.target, !stopped);
  else if (event.target.id === "unable-form") boxes.give(value);
  else if (event.target !== form) return;
  else if (name === "undo") undo();
  else next();
  event.preventDefault();
});

// --- Keys.

const waiting = Object.assign(document.createElement("kbd"), { className: "typed" });
const digits = new Digits(values, (value) => pick(atHand(), value), (typed) => {
  waiting.textContent = `${typed} …`;
  if (typed) atHand().element.querySelector(".pick").append(waiting);
  else waiting.remove();
});

const ACTS = {
  down: () => move(1),
  up: () => move(-1),
  unable: () => boxes.why(atHand()),
  note: () => boxes.note(atHand()),
  later: () => move(1), // open rows come back later
  undo,
  guide: () => find("#open-guide").click(),
  keys: () => find("#open-keys").click(),
  last: () => find("#last").click(),
  marks: () => aloud(toggleMarks()),
  whole: () => {
    const row = rowOf(document.activeElement);
    if (!row) return;
    more(row.element);
    row.element.scrollIntoView({ block: "nearest" });
  },
};
const BOXES = { unable: "unable-box", note: "note-box", guide: "guide", keys: "keys" };

/** An extra key press after the last row applies to no row. */
function tooMany() {
  const words = `Every ${data.noun} is graded. Press Enter to continue.`;
  toast(words, !undoButton.disabled);
  aloud(words);
}

addEventListener("keydown", (event) => {
  const box = find("[popover]:popover-open");
  if (event.key === "Enter" && !box && digits.enter()) return event.preventDefault();
  const hit = actOf(event, data.keys, values);
  if (!hit || typing(event.target)) return undefined;
  event.preventDefault();
  by = "key";
  setTimeout(() => { by = null; });
  if (box) {
    if (BOXES[hit.act] === box.id) return box.hidePopover();
    return box.querySelector(`[data-number="${hit.digit}"]`)?.click();
  }
  if (stopped && (hit.digit || ["unable", "note"].includes(hit.act))) return undefined;
  if (hit.digit && !seen()) return undefined;
  if (hit.digit && !rowOf(document.activeElement) && !open().length) return tooMany();
  return hit.digit ? digits.press(hit.digit) : ACTS[hit.act]?.();
});

find("#last").addEventListener("click", (event) => {
  event.preventDefault();
  if (settled()) stored.toLast(event);
});

// --- Start of the page, and the rater's other tabs.

/** A row was answered in another tab, or before a reload and not sent yet. Deferred rows stay open here. */
function answered(row, answer) {
  if (!row || !answer?.value) return;
  coming.forget();
  given = given.filter((one) => one.row !== row); // a newer answer counts
  row.recorded(answer);
}

tabs.addEventListener("answered", ({ detail }) => {
  stored.look();
  answered(rowFor(detail.pair), detail.answer);
  tell();
});
tabs.addEventListener("undone", ({ detail }) => {
  stored.look();
  const row = rowFor(detail.pair);
  if (row) reopen(row);
  tell();
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const { dataset } = document.documentElement;
const seen = () => "ready" in dataset;
const nowSeen = () => { if (!leaving && !stored.left) dataset.ready = ""; };
const unseen = () => { delete dataset.ready; };

/** Start grading the rows on the screen; a second press of a key must not grade a row that the rater has not seen. */
function began() {
  looking.heard();
  rows = [...list.children].map((element) => new Row(element));
  for (const row of rows) row.watch({ settle, why: () => boxes.why(row), touched: () => { touched = row; } });
  given = [];
  touched = null;
  clock.start();
  unseen();
  clearTimeout(timer);
  timer = setTimeout(() => marked.then(nowSeen), UNSEEN);
}

/** Show the prefetched next query. */
function show({ title, ask, list: documents }) {
  earlier = true;
  document.title = title;
  find("#ask").replaceChildren(...ask);
  list.replaceChildren(...documents);
  find("#doc").scrollTop = 0;
  find(".ask__new").hidden = false;
  began();
  tell();
  rows[0].focus();
  aloud(`New ${data.query_noun}: ${find(".ask__query").textContent}. ${find(".ask__need")?.textContent ?? ""} ${rows.length} ${data.noun}${rows.length === 1 ? "" : "s"}.`);
}

async function begin() {
  began();
  find("#save").hidden = true;
  find("#note").hidden = false;
  find("#note").removeAttribute("popovertarget");
  find("#note").addEventListener("click", () => boxes.note(touched ?? atHand()));
  for (const one of await outbox.rows()) {
    if (one.kind === "answer" && !one.refused) answered(rowFor(one.body.pair), answerOf(one.body));
  }
  outbox.flush();
  tell();
  (open()[0] ?? rows[0]).focus();
}
// Mark unsent answers and focus the first open row, so that no key applies to an earlier one.
const marked = begin();
