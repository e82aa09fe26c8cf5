// The rater station with the documents of a query as a list: keys move and grade, a grade is sent as soon as it is given and
// can be changed until the query is left. The form works without this file.
import { circumstances, inWords, seconds, toggleMarks } from "./station/answering.js";
import { Clock } from "./station/clock.js";
import { Digits, actOf, typing } from "./station/keys.js";
import { Kept } from "./station/kept.js";
import { reachable } from "./station/line.js";
import { Outbox, newId } from "./station/outbox.js";
import { aloud, counted, haveRead, offerRest, toast } from "./station/said.js";
import { Tabs } from "./station/tabs.js";

// Whoever walks through the grades with the arrows stops at one of them: that one is meant.
const SETTLED = 700;
const UNSEEN = 250;

const find = (selector) => document.querySelector(selector);
const [form, unable, note, goOn, undoButton] = ["#give", "#unable-form", "#note-text", "#go-on", "#undo"].map(find);
const data = JSON.parse(find("#station-data").textContent);
const rows = [...document.querySelectorAll("#list > li")].map((element) => ({
  element, pair: element.dataset.pair, kind: element.dataset.kind, undos: 0, spent: undefined, note: "",
  title: element.querySelector("h2").textContent.trim(),
  picks: [...element.querySelectorAll("input[type=radio]")],
}));
const values = new Set(Object.keys(data.grades));
const outbox = new Outbox(data);
const kept = new Kept(outbox, data);
const tabs = new Tabs(data);
const clock = new Clock();
const given = [];
const earlier = !undoButton.disabled;
let by = null, leaving = false;

const picked = (row) => row.picks.find((pick) => pick.checked)?.value ?? "";
const rowOf = (element) => rows.find((row) => row.element.contains(element));
const open = () => rows.filter((row) => !picked(row));

// --- Where one is.

function focus(row) {
  if (!row) return;
  (row.picks.find((pick) => pick.checked) ?? row.picks[0]).focus({ preventScroll: true });
  row.element.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const here = rows.indexOf(rowOf(document.activeElement));
  if (here < 0) return focus(open()[0] ?? rows[0]);
  return focus(rows[Math.min(Math.max(here + step, 0), rows.length - 1)]);
}

/** After a grade: the next open one below, or above, or on to the next query. */
function onwards(row) {
  const here = rows.indexOf(row);
  const next = [...rows.slice(here + 1), ...rows.slice(0, here)].find((one) => !picked(one));
  if (next) focus(next);
  else goOn.focus();
}

function tell(said = "") {
  const left = open().length;
  find("[data-graded]").textContent = String(rows.length - left);
  goOn.textContent = left ? `Next query, ${left} for later` : "Next query";
  goOn.classList.toggle("btn--main", !left);
  undoButton.disabled = !(given.length || earlier);
  if (said) aloud(`${said} ${rows.length - left} of ${rows.length} graded.`);
}

// --- Answers.

function record(row, state) {
  const count = counted();
  const spent = clock.spent;
  row.spent = { active: spent.active + (row.spent?.active ?? 0), away: spent.away + (row.spent?.away ?? 0) };
  clock.start();
  const text = row.kind === "short" ? "short" : row.element.querySelector("details")?.open ? "whole" : "excerpt";
  const how = circumstances({ view: "list", text, undos: row.undos, place: count, ...(by ? { by } : {}) });
  const body = { client_id: newId(), pair: row.pair, ...state, note: row.note, ...seconds(row.spent), how };
  const said = inWords(body, data.grades);
  outbox.put(body, { answer: said, title: row.title, query: find(".ask__query").textContent });
  tabs.tell("answered", row.pair);
  row.said = picked(row);
  if (body.state === "later") return;
  given.push({ row, client_id: body.client_id });
  toast(`${said} ${row.title}`, true);
  tell(said);
  offerRest(count);
}

const stateOf = (value) => (value === "unable" ? { state: "unrateable", reason: "" } : { grade: Number(value) });

/** A row says something else than what was recorded of it. */
function settle(row) {
  clearTimeout(row.timer);
  row.timer = undefined;
  if (picked(row) && picked(row) !== row.said) record(row, stateOf(picked(row)));
}

function pick(row, value) {
  const button = row?.picks.find((one) => one.value === value);
  if (!button) return;
  button.checked = true;
  settle(row);
  onwards(row);
}

for (const row of rows) {
  row.said = picked(row);
  row.element.addEventListener("change", (event) => {
    if (event.target.type !== "radio") return;
    clearTimeout(row.timer);
    if (walking) row.timer = setTimeout(() => settle(row), SETTLED);
    else settle(row);
  });
  row.element.addEventListener("focusout", (event) => {
    if (row.timer && !row.element.contains(event.relatedTarget)) settle(row);
  });
}
let walking = false;
addEventListener("keydown", (event) => { walking = event.key.startsWith("Arrow"); }, { capture: true });
addEventListener("pointerdown", () => { walking = false; }, { capture: true });

async function undo() {
  const last = given.pop();
  if (last) {
    const { row } = last;
    for (const one of row.picks) one.checked = false;
    row.said = "";
    row.undos += 1;
    outbox.takeBack(last.client_id);
    toast(`Taken back: ${row.title}`);
    tell("Taken back.");
    focus(row);
  } else if (!earlier) {
    toast("There is nothing to take back.");
  } else if (await outbox.flush() && await reachable(data.page)) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "undo", value: "1" }));
    leaving = true;
    form.submit();
  } else {
    toast("That was sent before; taking it back waits until there is a connection.");
  }
}

/** To the next query, once the server has what was given here; open rows come back at the end. */
async function next() {
  if (leaving) return;
  leaving = true;
  for (const row of rows) settle(row);
  for (const row of open()) record(row, { state: "later" });
  if (await outbox.flush() && await reachable(data.page)) return kept.leave(data.page);
  leaving = false;
  toast("The next query comes when your answers are sent: there is no connection right now.");
  return undefined;
}

addEventListener("submit", (event) => {
  const { name, value } = event.submitter ?? {};
  if (event.target.id === "read-form") haveRead(event, data.page);
  else if (event.target === unable) {
    find("#unable-box").hidePopover();
    const row = unable.row;
    row.picks.at(-1).checked = true;
    record(row, { state: "unrateable", reason: value });
    onwards(row);
  } else if (event.target !== form) return;
  else if (name === "undo") undo();
  else next();
  event.preventDefault();
});

// --- Keys.

const digits = new Digits(values, (value) => pick(rowOf(document.activeElement) ?? open()[0], value), () => {});

function boxed(box) {
  const row = rowOf(document.activeElement) ?? open()[0] ?? rows[0];
  focus(row);
  unable.row = row;
  find(`#${box}`).showPopover();
  if (box === "note-box") note.value = row.note;
}
find("#note-box").addEventListener("toggle", (event) => {
  if (event.newState === "open" || !unable.row) return;
  const row = unable.row;
  const changed = row.note !== note.value.trim();
  row.note = note.value.trim();
  if (changed && row.said) record(row, stateOf(row.said)); // it was graded before: the same grade, now with the note
  focus(row);
});

const ACTS = {
  down: () => move(1),
  up: () => move(-1),
  unable: () => boxed("unable-box"),
  note: () => boxed("note-box"),
  later: () => move(1), // what is left open comes back later
  undo,
  guide: () => find("#open-guide").click(),
  keys: () => find("#open-keys").click(),
  marks: () => aloud(toggleMarks()),
  whole: () => {
    const details = rowOf(document.activeElement)?.element.querySelector("details");
    if (details) details.open = !details.open;
  },
};
const BOXES = { unable: "unable-box", note: "note-box", guide: "guide", keys: "keys" };

addEventListener("keydown", (event) => {
  const box = find("[popover]:popover-open");
  if (event.key === "Enter" && !box && digits.enter()) return event.preventDefault();
  const hit = actOf(event, data.keys, values);
  if (!hit || typing(event.target)) return undefined;
  event.preventDefault();
  by = "key";
  setTimeout(() => { by = null; });
  if (box) {
    if (BOXES[hit.act] === box.id) box.hidePopover();
    else if (hit.digit) box.querySelector(`[data-number="${hit.digit}"]`)?.click();
    return undefined;
  }
  return hit.digit ? digits.press(hit.digit) : ACTS[hit.act]?.();
});

// --- The page's own beginning, and the rater's other tabs.

tabs.addEventListener("answered", () => kept.look());
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

async function begin() {
  find("#save").hidden = true;
  find("#note").hidden = false;
  find("#note").removeAttribute("popovertarget");
  find("#note").addEventListener("click", () => boxed("note-box"));
  clock.start();
  // Given before a reload, and not sent yet.
  for (const one of await outbox.rows()) {
    const row = one.kind === "answer" && !one.refused && rows.find((each) => each.pair === one.body.pair);
    const value = one.body?.state === "unrateable" ? "unable" : String(one.body?.grade ?? "");
    const button = row && row.picks.find((each) => each.value === value);
    if (button) {
      button.checked = true;
      row.said = value;
    }
  }
  outbox.flush();
  tell();
  focus(open()[0] ?? rows[0]);
  setTimeout(() => { document.documentElement.dataset.ready = ""; }, UNSEEN);
}
begin();
