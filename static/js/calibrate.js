// Keyboard shortcuts of the qualification page: those of the station, including the rater's own. The page works without this file.
import { toggleMarks } from "./station/answering.js";
import { Digits, actOf } from "./station/keys.js";
import { more } from "./station/pictures.js";
import "./station/pinned.js";

// A second press of the same key must not grade the next document, which the rater cannot have read yet.
const UNSEEN = 250;
const BOXES = { unable: "unable-box", guide: "guide", keys: "keys" };

const find = (selector) => document.querySelector(selector);
const table = { ...JSON.parse(find("#keys-data").textContent), enter: "next" };
const values = new Set([...document.querySelectorAll("#give [name=grade]")].map((button) => button.value));
const seen = () => "ready" in document.documentElement.dataset;
let submitted = false;

setTimeout(() => { if (!submitted) document.documentElement.dataset.ready = ""; }, UNSEEN);

addEventListener("submit", (event) => {
  if (submitted) event.preventDefault();
  submitted = true;
  delete document.documentElement.dataset.ready; // the browser is leaving the page
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const waiting = Object.assign(document.createElement("kbd"), { className: "typed", hidden: true });
find("#grades").before(waiting);
const digits = new Digits(values, (value) => find(`#give [name=grade][value="${value}"]`)?.click(), (typed) => {
  waiting.textContent = `${typed} …`;
  waiting.hidden = !typed;
});

const ACTS = {
  unable: () => find("#unable")?.click(),
  guide: () => find("#open-guide").click(),
  keys: () => find("#open-keys").click(),
  marks: () => { find("#live").textContent = toggleMarks(); },
  whole: () => more(find("#shown")),
  next: () => find("#next")?.click(),
};

addEventListener("keydown", (event) => {
  const hit = actOf(event, table, values);
  if (!hit || !seen()) return undefined;
  const box = find("[popover]:popover-open");
  // Enter on a button or a link activates it.
  if (hit.act === "next" && (box || digits.enter() || event.target.closest?.("button, a, summary"))) return undefined;
  event.preventDefault();
  if (box) return BOXES[hit.act] === box.id ? box.hidePopover() : box.querySelector(`[data-number="${hit.digit}"]`)?.click();
  return hit.digit ? digits.press(hit.digit) : ACTS[hit.act]?.();
});
