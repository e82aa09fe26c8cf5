// Checks with the server whether the documents on the list page still belong to the rater: after the rater returns to an idle
// page, and before the next grade. The round may have closed, the rater may be paused or removed, or a document reassigned.
import { NoLine, post, whenBack } from "./line.js";

const STALE = 10 * 60_000; // check leased documents again after this time
const ENDS = [403, 404, 410]; // paused or removed from the round, no longer a member, closed

export class Looking {
  #data;
  #held;
  #stop;
  #lost;
  #checkedAt = performance.now();

  /** `held` returns the open pairs of this page, `stop` gets the server's message when it accepts no more answers, and `lost`
   *  gets the pairs that were reassigned. */
  constructor(data, { held, stop, lost }) {
    this.#data = data;
    this.#held = held;
    this.#stop = stop;
    this.#lost = lost;
    whenBack(() => this.look());
  }

  /** Restart the interval, because the server just sent a list. */
  heard() {
    this.#checkedAt = performance.now();
  }

  async look() {
    if (performance.now() - this.#checkedAt < STALE) return;
    const before = this.#checkedAt;
    this.heard();
    const body = new URLSearchParams({ looks: "1" });
    for (const pair of this.#held()) body.append("have", pair);
    try {
      const { status, body: answer } = await post(this.#data.next, body, this.#data.user);
      if (ENDS.includes(status)) this.#stop(answer?.error?.message ?? "");
      else if (status === 200) this.#lost(answer.gone);
      else this.#checkedAt = before; // check again when the rater returns
    } catch (error) {
      if (!(error instanceof NoLine)) throw error;
      this.#checkedAt = before;
    }
  }
}
