// Is what the list shows still the rater's? Asked when somebody comes back to a page that lay idle, and with the first grade
// after that: the round may have been closed, the rater asked to wait or taken out, a document handed to somebody else.
import { NoLine, post, whenBack } from "./line.js";

const STALE = 10 * 60_000; // as long as documents of the station lie ready before they are looked at again
const ENDS = [403, 404, 410]; // paused or no longer asked, no longer a member, closed

export class Looking {
  #data;
  #held;
  #stop;
  #lost;
  #asked = performance.now();

  /** `held` answers the pairs that are open here, `stop` is told the words of a server that takes nothing more, and `lost`
   *  the pairs that went to somebody else. */
  constructor(data, { held, stop, lost }) {
    this.#data = data;
    this.#held = held;
    this.#stop = stop;
    this.#lost = lost;
    whenBack(() => this.look());
  }

  /** The server has just been heard: a list came from it. */
  heard() {
    this.#asked = performance.now();
  }

  async look() {
    if (performance.now() - this.#asked < STALE) return;
    const before = this.#asked;
    this.heard();
    const body = new URLSearchParams({ looks: "1" });
    for (const pair of this.#held()) body.append("have", pair);
    try {
      const { status, body: told } = await post(this.#data.next, body, this.#data.user);
      if (ENDS.includes(status)) this.#stop(told?.error?.message ?? "");
      else if (status === 200) this.#lost(told.gone);
      else this.#asked = before; // asked again when somebody comes back
    } catch (error) {
      if (!(error instanceof NoLine)) throw error;
      this.#asked = before;
    }
  }
}
