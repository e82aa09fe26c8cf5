// What does a row of the list say? A document with its buttons, and what was recorded of it, here or elsewhere.

// Whoever walks through the grades with the arrows stops at one of them: that one is meant.
const SETTLED = 700;
let walking = false;
addEventListener("keydown", (event) => { walking = event.key.startsWith("Arrow"); }, { capture: true });
addEventListener("pointerdown", () => { walking = false; }, { capture: true });

export class Row {
  /** How often it was taken back, what was spent on it so far, whether it was put off. */
  undos = 0;
  spent = { active: 0, away: 0 };
  off = false;
  #timer;

  constructor(element) {
    this.element = element;
    const { pair, kind, reason, note } = element.dataset;
    this.title = element.querySelector("h2").textContent.trim();
    this.picks = [...element.querySelectorAll("input[type=radio]")];
    Object.assign(this, { pair, kind, reason, note, said: this.picked });
  }

  /** What is chosen on the screen: a grade, "unable", or "" where nothing is. */
  get picked() {
    return this.picks.find((pick) => pick.checked)?.value ?? "";
  }

  /** Whether something else is chosen than what was recorded. */
  get changed() {
    return Boolean(this.picked) && this.picked !== this.said;
  }

  get text() {
    if (this.kind === "short") return "short";
    return this.element.querySelector("details:not(.picture)")?.open ? "whole" : "excerpt";
  }

  /** A value as an answer: that it cannot be judged with the reason given before. */
  state(value) {
    return value === "unable" ? { state: "unrateable", reason: this.reason } : { grade: Number(value) };
  }

  check(value) {
    for (const pick of this.picks) pick.checked = pick.value === value;
  }

  /** An answer stands: what is chosen, or what was given elsewhere. */
  recorded({ value, reason, note }) {
    this.rest();
    this.check(value);
    Object.assign(this, { said: value, reason, note, off: false });
  }

  /** Nothing stands any more: neither an answer nor that it was put off. */
  reopen() {
    this.rest();
    this.check("");
    Object.assign(this, { said: "", off: false, undos: this.undos + 1 });
  }

  /** Call `settle` once something else is chosen and meant, `why` where "cannot judge" is pressed again, for another
   *  reason, and `touched` where somebody is here. */
  watch({ settle, why, touched }) {
    this.element.addEventListener("click", ({ target }) => {
      if (!walking && target.value === "unable" && this.said === "unable") why();
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

  /** Nothing is waited for any more. */
  rest() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  focus() {
    (this.picks.find((pick) => pick.checked) ?? this.picks[0]).focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }
}
