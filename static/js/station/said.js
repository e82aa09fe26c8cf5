// What is told to the rater in passing: what was recorded and how to undo it, what a screen reader says, and a pause that
// is offered now and then. Nothing here asks for an answer.
const GONE = 6000;
const REST = 50;
const REST_ENDS = 10;
const SITTING = "assay-sitting";

const toasts = document.querySelector("#toasts");
const live = document.querySelector("#live");
let fading;

const storage = {
  get: (key) => { try { return sessionStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* then it holds for this page */ } },
};

/** A short note above the grades; with `undo` its button takes the last answer back. */
export function toast(text, undo = false) {
  let box = toasts.querySelector("#toast");
  if (!box) {
    box = document.createElement("div");
    box.id = "toast";
    box.className = "toast";
    toasts.append(box);
  }
  const words = document.createElement("span");
  words.textContent = text;
  box.replaceChildren(words, ...(undo ? undoing() : []));
  delete box.dataset.old;
  clearTimeout(fading);
  fading = setTimeout(() => { box.dataset.old = ""; }, GONE);
}

function undoing() {
  const button = document.createElement("button");
  Object.assign(button, { type: "submit", name: "undo", value: "1", textContent: "Undo" });
  const key = document.querySelector("kbd[data-key=undo]");
  return key ? [button, " ", key.cloneNode(true)] : [button];
}

export function aloud(text) {
  live.textContent = text;
}

/** How many answers were given in this sitting, this one among them; a reload does not end it. */
export function counted() {
  const count = Number(storage.get(SITTING) ?? 0) + 1;
  storage.set(SITTING, String(count));
  return count;
}

/** After so many answers a rest is offered. It stands beside the work, and goes by itself when it is not wanted. */
export function offerRest(count) {
  const box = document.querySelector("#rest");
  if (count % REST === 0) {
    box.querySelector("[data-count]").textContent = String(count);
    box.hidden = false;
  } else if (count % REST === REST_ENDS) {
    box.hidden = true;
  }
}

/** What changed in the guidelines was read: the server is told, and the note goes. Should the line be down, it comes again. */
export function haveRead(event, page) {
  const body = new FormData(event.target, event.submitter); // while the button is still there
  fetch(page, { method: "POST", body, redirect: "manual" }).catch(() => { /* shown again with the next page */ });
  document.querySelector("#news").remove();
  document.querySelector("#doc").focus({ preventScroll: true });
}

document.querySelector("#rest button")?.addEventListener("click", (event) => {
  event.target.closest("#rest").hidden = true;
  document.querySelector("#doc").focus({ preventScroll: true });
});
