// Notices for the rater: the recorded answer with an undo button, texts for screen readers, and a suggested break now and
// then. None of them needs a response.
const GONE = 6000;
const REST = 50;
const REST_ENDS = 10;
const SITTING = "assay-sitting";

const toasts = document.querySelector("#toasts");
const live = document.querySelector("#live");
let fading;

const storage = {
  get: (key) => { try { return sessionStorage.getItem(key); } catch { return null; } },
  set: (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* then the value applies to this page only */ } },
};

/** Show a short notice above the grades; with `undo`, its button undoes the last answer. */
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

/** The number of answers in this session, including this one; a reload does not end the session. */
export function counted() {
  const count = Number(storage.get(SITTING) ?? 0) + 1;
  storage.set(SITTING, String(count));
  return count;
}

/** Suggest a break after many answers. The suggestion does not block the work and disappears by itself. */
export function offerRest(count) {
  const box = document.querySelector("#rest");
  if (count % REST === 0) {
    box.querySelector("[data-count]").textContent = String(count);
    box.hidden = false;
  } else if (count % REST === REST_ENDS) {
    box.hidden = true;
  }
}

/** Tell the server that the rater has read the changed guidelines, and hide the notice. Offline, the notice comes back. */
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
