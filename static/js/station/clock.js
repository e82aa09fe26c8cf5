// How long was this document looked at? Active while the page is in view and something moves, away while it is not. Only
// differences of the page's own stopwatch are taken: what day or hour the machine believes in does not matter.
const IDLE = 30_000;
const MOVES = ["keydown", "pointermove", "pointerdown", "wheel", "touchmove"];

export class Clock {
  #since = performance.now();
  #moved = performance.now();
  #active = 0;
  #away = 0;

  constructor() {
    setInterval(() => this.#tick(), 1000);
    document.addEventListener("visibilitychange", () => this.#tick());
    for (const kind of MOVES) addEventListener(kind, () => { this.#moved = performance.now(); }, { passive: true });
  }

  /** A document is on the screen; what was spent on it before, if it was taken back, counts on. */
  start(spent = { active: 0, away: 0 }) {
    this.#since = this.#moved = performance.now();
    this.#active = spent.active;
    this.#away = spent.away;
  }

  /** Milliseconds so far. */
  get spent() {
    this.#tick();
    return { active: this.#active, away: this.#away };
  }

  #tick() {
    const now = performance.now();
    const seen = document.visibilityState === "visible" && now - this.#moved < IDLE;
    if (seen) this.#active += now - this.#since;
    else this.#away += now - this.#since;
    this.#since = now;
  }
}
