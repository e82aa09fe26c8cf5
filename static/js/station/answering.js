// What is recorded with an answer: key, click or touch, how the document was shown, and the window width.
let by = "click";
addEventListener("pointerdown", (event) => { by = event.pointerType === "touch" ? "touch" : "click"; }, { capture: true });
addEventListener("keydown", () => { by = "key"; }, { capture: true });

const width = () => (innerWidth < 640 ? "narrow" : innerWidth < 1440 ? "middle" : "wide");
const marked = () => !("plain" in document.querySelector("#doc").dataset);

/** The recorded circumstances, without those that only the caller knows: view, text, undos, place. */
export const circumstances = (own) => ({ by, width: width(), marks: marked(), ...own });

export const seconds = (spent) => ({
  seconds_active: Math.round(spent.active / 100) / 10,
  seconds_away: Math.round(spent.away / 100) / 10,
});

/** An answer as a row of the list stores it: the value of its button ("" if deferred), reason and note. */
export const answerOf = ({ state, grade, reason = "", note = "" }) => {
  if (state === "later") return { value: "", reason, note };
  return { value: state === "unrateable" ? "unable" : String(grade), reason, note };
};

/** The confirmation of an answer, the same as on the page without scripts. */
export function inWords(body, labels) {
  if (body.state === "later") return "Saved for later.";
  if (body.state === "unrateable") return `Saved: cannot judge${body.reason ? `, ${body.reason}` : ""}.`;
  return `Saved ${body.grade}, ${labels[body.grade]}.`;
}

// --- Highlighted words, on or off, stored in this browser.
const KEY = "assay-marks";

function remembered() {
  try { return localStorage.getItem(KEY) === "off"; } catch { return false; }
}

function showMarks(off) {
  const { dataset } = document.querySelector("#doc");
  if (off) dataset.plain = "";
  else delete dataset.plain;
}

/** Turn the highlights on or off, and return the notice to show. */
export function toggleMarks() {
  const off = marked();
  showMarks(off);
  try { localStorage.setItem(KEY, off ? "off" : "on"); } catch { /* then the choice applies to this page only */ }
  return off ? "Marks are hidden." : "Marks are shown.";
}

showMarks(remembered());
