// A row of the list: a document with its buttons, and its recorded answer.

// With arrow keys, the grade at which the rater stops is the answer.
const SETTLED = 700;
let walking = false;
addEventListener("keydown", (event) => { walking = event.key.startsWith("Arrow"); }, { capture: true });
addEventListener("pointerdown", () => { walking = false; }, { capture: true });

export class Row {
  /** Number of undos, time spent so far, whether it was deferred. */
  undos = 0;
  spent = { active: 0, away: 0 };
  off = false;
  #timer;

  constructor(element) {
    this.element = element;
    const { pair, kind, reason, note } = element.dataset;
    this.title = element.querySelector("h2").textContent.trim();
    this.picks = [...element.querySelectorAll("input[type=radio]")];
    Object.assign(this, { pair, kind, reason, note, answer: this.picked });
  }

  /** The selection on the screen: a grade, "unable", or "" for none. */
  get picked() {
    return this.picks.find((pick) => pick.checked)?.value ?? "";
  }

  /** Whether the selection differs from the recorded answer. */
  get changed() {
    return Boolean(this.picked) && this.picked !== this.answer;
  }

  get text() {
    if (this.kind === "short") return "short";
    return this.element.querySelector("details:not(.picture)")?.open ? "whole" : "excerpt";
  }

  /** A value as an answer; "unable" keeps the earlier reason. */
  state(value) {
    return value === "unable" ? { state: "unrateable", reason: this.reason } : { grade: Number(value) };
  }

  check(value) {
    for (const pick of this.picks) pick.checked = pick.value === value;
  }

  /** Record an answer: the selection, or one given elsewhere. */
  recorded({ value, reason, note }) {
    this.rest();
    this.check(value);
    Object.assign(this, { answer: value, reason, note, off: false });
  }

  /** Clear the row: no answer, and not deferred. */
  reopen() {
    this.rest();
    this.check("");
    Object.assign(this, { answer: "", off: false, undos: this.undos + 1 });
  }

  /** Call `settle` when the rater has chosen another value, `why` when "cannot judge" is pressed again to change the
   *  reason, and `touched` when the row gets the focus. */
  watch({ settle, why, touched }) {
    this.element.addEventListener("click", ({ target }) => {
      if (!walking && target.value === "unable" && this.answer === "unable") why();
    });
    this.element.addEventListener("change", ({ target }) => {
      if (target.type !== "radio") return;
      this.rest();
      if (walking) this.#timer = setTimeout(() => settle(this), SETTLED);
      else settle(this);
    });
    this.element.addEventListener("focusin", touched);
    this.element.addEventListener("focusout", (event) => {
      if (this.#timer !== undefined && !this.element.contains(event.relatedTarget)) settle(this);
    });
  }

  /** Stop waiting. */
  rest() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  focus() {
    (this.picks.find((pick) => pick.checked) ?? this.picks[0]).focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }
}
