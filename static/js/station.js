// The rater's keys, the measured time, and one answer a page. The form works without this file.
const form = document.querySelector("#give");
const unable = document.querySelector("#unable-form");
const doc = document.querySelector("#doc");
const live = document.querySelector("#live");

// A second press of the same key must not grade the next document unseen: nobody has read it this soon.
const UNSEEN = 250;
const IDLE = 30_000;
const KEYS = {
  u: "#unable", "-": "#unable", l: "#later", z: "#undo", backspace: "#undo", n: "#note", g: "#open-guide", "?": "#open-keys",
};
const ANSWERS = "[name=grade], [name=state], [name=reason], [name=undo]";

// --- Time: active while the page is in view and something moves, away while it is not.
let since = performance.now(), moved = since, active = 0, away = 0;

function tick() {
  const now = performance.now();
  const seen = document.visibilityState === "visible" && now - moved < IDLE;
  if (seen) active += now - since;
  else away += now - since;
  since = now;
}
setInterval(tick, 1000);
document.addEventListener("visibilitychange", tick);
for (const kind of ["keydown", "pointermove", "pointerdown", "wheel", "touchmove"]) {
  addEventListener(kind, () => { moved = performance.now(); }, { passive: true });
}

function fill(target) {
  tick();
  target.elements.seconds_active.value = (active / 1000).toFixed(1);
  target.elements.seconds_away.value = (away / 1000).toFixed(1);
}

// --- One answer a page.
let sent = false;

function send(event) {
  if (sent) {
    event.preventDefault();
    return;
  }
  sent = true;
  fill(event.target);
  if (event.target === unable) unable.elements.note.value = document.querySelector("#note-text").value;
  if (event.submitter?.name === "grade") event.submitter.dataset.flash = "";
  document.documentElement.dataset.sent = "";
}
form.addEventListener("submit", send);
unable.addEventListener("submit", send);

// A page that the browser kept and shows again (the back button) is out of date: its document was answered.
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

// --- Keys.
const typing = (element) => element.closest?.("input, textarea, select, [contenteditable]");
const opened = () => document.querySelector("[popover]:popover-open");

function pressed(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
  const key = (event.code.match(/^Numpad(\d)$/)?.[1] ?? event.key).toLowerCase();
  const box = opened();
  const hit = box ? inBox(box, key) : onPage(key);
  if (!hit) return;
  event.preventDefault();
  if (hit.disabled || (hit.matches(ANSWERS) && !("ready" in document.documentElement.dataset))) return;
  hit.click();
}

function inBox(box, key) {
  if (KEYS[key] && document.querySelector(KEYS[key]).getAttribute("popovertarget") === box.id) {
    return document.querySelector(KEYS[key]);
  }
  return /^[1-9]$/.test(key) ? box.querySelector(`[data-key="${key}"]`) : null;
}

function onPage(key) {
  if (key === "h") return { matches: () => false, click: toggleMarks };
  if (/^\d$/.test(key)) return form.querySelector(`[name=grade][value="${key}"]`);
  return Object.hasOwn(KEYS, key) ? document.querySelector(KEYS[key]) : null;
}
addEventListener("keydown", pressed);

// --- Marked words, on or off, remembered for this browser.
function remembered() {
  try { return localStorage.getItem("assay-marks") === "off"; } catch { return false; }
}

function toggleMarks() {
  const off = !("plain" in doc.dataset);
  showMarks(off);
  live.textContent = off ? "Words of the query are not marked." : "Words of the query are marked.";
  try { localStorage.setItem("assay-marks", off ? "off" : "on"); } catch { /* then it holds for this page */ }
}

function showMarks(off) {
  if (off) doc.dataset.plain = "";
  else delete doc.dataset.plain;
}
showMarks(remembered());

// --- Said to screen readers once the page stands: what was saved, and what is next.
setTimeout(() => {
  document.documentElement.dataset.ready = "";
  const said = document.querySelector("#toast > span")?.textContent ?? "";
  const where = document.querySelector(".ask__where").firstElementChild.textContent;
  const query = document.querySelector(".ask__query").textContent;
  live.textContent = `${said} ${where}, query ${query}.`.trim();
}, UNSEEN);
setTimeout(() => { const toast = document.querySelector("#toast"); if (toast) toast.dataset.old = ""; }, 6000);
