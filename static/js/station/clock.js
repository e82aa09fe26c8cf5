// How long was this document looked at? Active while the page is in view and something moves or moved half a minute ago, away
// while it is not. Only differences of the page's own stopwatch are taken: what day or hour the machine believes in does not
// matter, and neither does how rarely a hidden page is woken.
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
    // Whoever comes back to the page reads it, although nothing moves yet.
    document.addEventListener("visibilitychange", () => (inView() ? this.#here() : this.#tick()));
  }

  /** A document is on the screen; what was spent on it before, if it was taken back, counts on. */
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

  /** What went by since the last look belongs to what was the case all the while. */
  #tick() {
    const now = performance.now();
    const until = this.#seen ? Math.max(this.#since, Math.min(now, this.#moved + IDLE)) : this.#since;
    this.#active += until - this.#since;
    this.#away += now - until;
    this.#since = now;
    this.#seen = inView();
  }
}
