// The two dialogs for a row of the list: the reason why it cannot be judged, and a note.
const find = (selector) => document.querySelector(selector);
const text = find("#note-text");

export class RowBoxes extends EventTarget {
  /** The row that needs a reason. */
  row = null;
  #noted = null;

  constructor() {
    super();
    find("#unable-box").addEventListener("toggle", (event) => { if (event.newState === "closed") this.withoutReason(); });
    find("#note-box").addEventListener("toggle", (event) => { if (event.newState === "closed") this.#keepNote(); });
  }

  why(row) {
    this.#open("unable-box", row);
    find("#unable-h").textContent = `Why can’t you judge “${row.title}”?`;
    this.row = row;
  }

  note(row) {
    this.#open("note-box", row);
    find("#note-h").textContent = `Note on “${row.title}”`;
    text.value = row.note;
    this.#noted = row;
  }

  /** No reason was given: restore the earlier answer of the row. */
  withoutReason() {
    this.row?.check(this.row.answer);
    this.row = null;
  }

  /** A reason was chosen. */
  give(reason) {
    const row = this.row;
    this.row = null;
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
