// The time that a rater spends on a document: active while the page is visible with input in the last half minute, away
// otherwise. The clock uses only differences of the page's own timer, so the system time does not matter, nor how rarely
// the browser wakes a hidden page.
const IDLE = 30_000;
const MOVES = ["keydown", "pointermove", "pointerdown", "wheel", "touchmove"];
const inView = () => document.visibilityState === "visible";

export class Clock {
  #since = performance.now();
  #moved = this.#since;
  #seen = inView(); // since then
  #active = 0;
  #away = 0;

  constructor() {
    for (const kind of MOVES) addEventListener(kind, () => this.#here(), { passive: true });
    // A rater who comes back to the page reads it, even without input.
    document.addEventListener("visibilitychange", () => (inView() ? this.#here() : this.#tick()));
  }

  /** Start timing a document; after an undo, the time spent before counts too. */
  start(spent = { active: 0, away: 0 }) {
    this.#here();
    this.#active = spent.active;
    this.#away = spent.away;
  }

  /** Milliseconds so far. */
  get spent() {
    this.#tick();
    return { active: this.#active, away: this.#away };
  }

  #here() {
    this.#tick();
    this.#moved = this.#since;
  }

  /** Add the time since the last call to the state that applied during it. */
  #tick() {
    const now = performance.now();
    const until = this.#seen ? Math.max(this.#since, Math.min(now, this.#moved + IDLE)) : this.#since;
    this.#active += until - this.#since;
    this.#away += now - until;
    this.#since = now;
    this.#seen = inView();
  }
}
