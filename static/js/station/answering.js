// How was an answer given? What is recorded beside it: by key, click or touch, how it was shown, how wide the window was.
let by = "click";
addEventListener("pointerdown", (event) => { by = event.pointerType === "touch" ? "touch" : "click"; }, { capture: true });
addEventListener("keydown", () => { by = "key"; }, { capture: true });

const width = () => (innerWidth < 640 ? "narrow" : innerWidth < 1440 ? "middle" : "wide");
const marked = () => !("plain" in document.querySelector("#doc").dataset);

/** The circumstances, beside what only the caller knows: view, text, undos, place. */
export const circumstances = (own) => ({ by, width: width(), marks: marked(), ...own });

export const seconds = (spent) => ({
  seconds_active: Math.round(spent.active / 100) / 10,
  seconds_away: Math.round(spent.away / 100) / 10,
});

/** An answer as a row of the list has it: the value of its button, "" for what was put off; with reason and note. */
export const saidOf = ({ state, grade, reason = "", note = "" }) => {
  if (state === "later") return { value: "", reason, note };
  return { value: state === "unrateable" ? "unable" : String(grade), reason, note };
};

/** The words for an answer, as the page without script has them. */
export function inWords(body, labels) {
  if (body.state === "later") return "Kept for later.";
  if (body.state === "unrateable") return `Saved: cannot judge${body.reason ? `, ${body.reason}` : ""}.`;
  return `Saved ${body.grade}, ${labels[body.grade]}.`;
}

// --- Marked words, on or off, remembered for this browser.
const KEY = "assay-marks";

function remembered() {
  try { return localStorage.getItem(KEY) === "off"; } catch { return false; }
}

function showMarks(off) {
  const { dataset } = document.querySelector("#doc");
  if (off) dataset.plain = "";
  else delete dataset.plain;
}

/** Turn the marks on or off; answers what to say about it. */
export function toggleMarks() {
  const off = marked();
  showMarks(off);
  try { localStorage.setItem(KEY, off ? "off" : "on"); } catch { /* then it holds for this page */ }
  return off ? "Marks are hidden." : "Marks are shown.";
}

showMarks(remembered());
