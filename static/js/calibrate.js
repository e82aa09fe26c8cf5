// The keys of the calibration: those of the station, on one form. The page works without this file.
import { Digits, actOf } from "./station/keys.js";

// A second press of the same key must not grade the next document unseen: nobody has read it this soon.
const UNSEEN = 250;
const ACTS = { u: "unable", "-": "unable", g: "guide", enter: "next" };
const BUTTONS = { unable: "#unable", guide: "#open-guide", next: "#next" };

const form = document.querySelector("#give");
const values = new Set([...form.querySelectorAll("[name=grade]")].map((button) => button.value));
const seen = () => "ready" in document.documentElement.dataset;
let sent = false;

setTimeout(() => { document.documentElement.dataset.ready = ""; }, UNSEEN);

form.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

const digits = new Digits(values, (value) => form.querySelector(`[name=grade][value="${value}"]`)?.click(), () => {});

addEventListener("keydown", (event) => {
  const hit = actOf(event, ACTS, values);
  if (!hit || !seen()) return;
  if (document.querySelector("[popover]:popover-open") && hit.act !== "guide") return;
  // Enter on a button or a link is that button's.
  if (hit.act === "next" && (digits.enter() || event.target.closest?.("button, a, summary"))) return;
  if (hit.digit !== undefined) return void digits.press(hit.digit);
  event.preventDefault();
  document.querySelector(BUTTONS[hit.act])?.click();
});
