// What is asked about a row of the list? Why it cannot be judged, and a note on it: two boxes over the page.
const find = (selector) => document.querySelector(selector);
const text = find("#note-text");

export class RowBoxes extends EventTarget {
  /** The row that is asked why it cannot be judged. */
  asked = null;
  #noted = null;

  constructor() {
    super();
    find("#unable-box").addEventListener("toggle", (event) => { if (event.newState === "closed") this.withoutReason(); });
    find("#note-box").addEventListener("toggle", (event) => { if (event.newState === "closed") this.#keepNote(); });
  }

  why(row) {
    this.#open("unable-box", row);
    find("#unable-h").textContent = `Why can “${row.title}” not be judged?`;
    this.asked = row;
  }

  note(row) {
    this.#open("note-box", row);
    find("#note-h").textContent = `Note on “${row.title}”`;
    text.value = row.note;
    this.#noted = row;
  }

  /** Nobody said why the row cannot be judged: what it said before stands. */
  withoutReason() {
    this.asked?.check(this.asked.said);
    this.asked = null;
  }

  /** A reason was chosen. */
  give(reason) {
    const row = this.asked;
    this.asked = null;
    find("#unable-box").hidePopover();
    row.check("unable");
    this.dispatchEvent(new CustomEvent("unable", { detail: { row, reason } }));
  }

  #open(box, row) {
    this.withoutReason();
    row.focus();
    find(`#${box}`).showPopover();
  }

  #keepNote() {
    const row = this.#noted, note = text.value.trim();
    this.#noted = null;
    if (!row) return;
    const changed = row.note !== note;
    row.note = note;
    if (changed) this.dispatchEvent(new CustomEvent("noted", { detail: { row } }));
    row.focus();
  }
}
