// The documents of the station: prefetched ones, the current one, and answered ones that undo can bring back.
import { Backoff, NoLine, post, whenBack } from "./line.js";

const LOW = 8; // fetch more when so few are left
const AFTER = 60; // milliseconds, longer than one frame
const STALE = 10 * 60_000; // check leased documents again after this time
const ENDS = [403, 404, 410]; // paused or removed from the round, no longer a member, closed

function nodes(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return [...document.adoptNode(holder.content).childNodes];
}

/** Prepare the two parts of the next documents for display, one document at a time,
 *  so that a new batch never delays a key. */
function prepare(card) {
  if (card.ready) return card;
  return Object.assign(card, { ask: nodes(card.ask), document: nodes(card.document), ready: true });
}

export class Deck extends EventTarget {
  #data;
  #outbox;
  #fetching = null;
  #backoff = new Backoff();
  #loadedAt = performance.now();
  #preparing;
  /** Pairs answered in other tabs since the request for the batch that has not arrived. */
  #told = new Set();
  ahead = [];
  current = null;
  given = [];
  /** Why no document is ready: "" (loading), "done", "line", "login", or a message of the server. */
  empty = "";
  /** The server has no more documents for this rater: the round closed, or a lead paused or removed the rater. */
  stopped = false;

  constructor(data, outbox, current) {
    super();
    this.#data = data;
    this.#outbox = outbox;
    this.current = { ...current, ready: true };
    whenBack(() => {
      if (this.#stale || (this.ahead.length < LOW && !(this.empty === "done" && this.current))) this.refill();
    });
  }

  /** Show the next document; undo can bring back the previous one with its answer. */
  advance(answered) {
    if (answered) this.given.push({ card: this.current, ...answered });
    const next = this.ahead.shift();
    this.current = next ? prepare(next) : null;
    if (this.#stale || this.ahead.length < LOW) this.refill();
    this.#preload();
  }

  /** Bring back the last answered document before the current one. Returns its answer. */
  back() {
    const last = this.given.pop();
    if (!last) return null;
    // A deferred document may have been assigned again in the meantime: keep it once.
    this.ahead = [this.current, ...this.ahead].filter((card) => card && card.pair !== last.card.pair);
    this.current = last.card;
    this.current.undos += 1;
    return last;
  }

  /** Remove a document that was reassigned or answered in another tab. Returns whether it was on the screen. */
  remove(pair) {
    this.#told.add(pair);
    this.ahead = this.ahead.filter((card) => card.pair !== pair);
    return this.current?.pair === pair;
  }

  /** Stop grading: drop the prefetched documents and keep the server's message. */
  stop(message) {
    this.stopped = true;
    this.current = null;
    this.ahead = [];
    this.given = [];
    this.empty = message;
    this.#changed();
  }

  /** A rejected answer may mean that the server accepts no more answers; only the server knows for a single pair. */
  refused(status, message) {
    if (status === 404) this.refill();
    else if (ENDS.includes(status)) this.stop(message);
  }

  get #stale() {
    return performance.now() - this.#loadedAt > STALE;
  }

  refill() {
    this.#fetching ??= this.#fetch().finally(() => { this.#fetching = null; });
    return this.#fetching;
  }

  async #fetch() {
    if (this.#data.alone) { // a single answer was opened again: nothing follows it
      this.empty = "done";
      return this.#changed();
    }
    this.#told.clear();
    const unsent = await this.#outbox.unsent();
    const body = new URLSearchParams();
    for (const pair of new Set([this.current?.pair, ...this.ahead.map((card) => card.pair), ...unsent])) {
      if (pair) body.append("have", pair);
    }
    try {
      const answer = await post(this.#data.next, body, this.#data.user);
      if (answer.status === 200) return await this.#take(answer.body);
      const message = answer.body?.error?.message ?? "server";
      if (ENDS.includes(answer.status)) return this.stop(message);
      this.empty = answer.status === 401 ? "login" : message;
      if (answer.status === 401 || answer.status === 429 || answer.status >= 500) this.#again();
    } catch (error) {
      if (!(error instanceof NoLine)) throw error;
      this.empty = "line";
      this.#again();
    }
    return this.#changed();
  }

  #again() {
    this.#backoff.again(() => this.refill());
  }

  async #take({ cards, gone }) {
    // A retry that was due long ago may run before the event that the rater is back.
    const stale = this.#stale;
    this.#loadedAt = performance.now();
    this.#backoff.reset();
    // Do not show documents again that were answered during the request.
    const unsent = await this.#outbox.unsent();
    const known = new Set([this.current?.pair, ...this.ahead.map((card) => card.pair), ...unsent, ...this.#told]);
    const came = cards.filter((card) => !known.has(card.pair));
    this.ahead.push(...came.map((card) => ({ ...card, undos: 0 })));
    this.empty = cards.length ? "" : "done";
    this.stopped = false;
    if (stale) for (const pair of gone) this.#lost(pair);
    this.#preload();
    this.#changed();
  }

  /** The server still counts documents as answered whose undo is not sent yet. */
  #lost(pair) {
    if (this.current?.pair === pair && this.current.undos) return;
    this.ahead = this.ahead.filter((card) => card.pair !== pair || card.undos);
    if (this.current?.pair === pair) this.dispatchEvent(new Event("lost"));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** Prepare the next two documents and fetch their pictures after the current one has been painted. */
  #preload() {
    clearTimeout(this.#preparing);
    this.#preparing = setTimeout(() => { for (const card of this.ahead.slice(0, 2)) if (!card.ready) fetchPictures(prepare(card)); }, AFTER);
  }
}

function fetchPictures(card) {
  for (const part of card.document) {
    for (const picture of part.querySelectorAll?.("img") ?? []) {
      Object.assign(new Image(), { referrerPolicy: "no-referrer", src: picture.src });
    }
  }
}
