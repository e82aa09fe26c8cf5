// Which documents lie ready? Those fetched ahead, the one on the screen, and those that were answered here and may come back.
import { Backoff, NoLine, post, whenBack } from "./line.js";

const LOW = 8; // so few left: more are fetched
const AFTER = 60; // milliseconds: a frame has gone by
const STALE = 10 * 60_000; // after so long a hand of leased documents is looked at again
const ENDS = [403, 404, 410]; // paused or no longer asked, no longer a member, closed

function nodes(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return [...document.adoptNode(holder.content).childNodes];
}

/** Its two parts are made ready to be put on the screen: of the next ones ahead of their time, and of one after the other,
 *  so that a batch that arrives never stands in the way of a key. */
function prepare(card) {
  if (card.ready) return card;
  return Object.assign(card, { ask: nodes(card.ask), document: nodes(card.document), ready: true });
}

export class Deck extends EventTarget {
  #data;
  #outbox;
  #fetching = null;
  #backoff = new Backoff();
  #asked = performance.now();
  #preparing;
  ahead = [];
  current = null;
  given = [];
  /** Why nothing lies ready: "" (it is being fetched), "done", "line", "login", or words of the server. */
  empty = "";
  /** The server hands this rater nothing more: the round was closed, or a lead asked them to wait or took them out. */
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

  /** The next one is on the screen; the one before, with what was answered, can come back. */
  advance(answered) {
    if (answered) this.given.push({ card: this.current, ...answered });
    const next = this.ahead.shift();
    this.current = next ? prepare(next) : null;
    if (this.#stale || this.ahead.length < LOW) this.refill();
    this.#preload();
  }

  /** The last answered one comes back, and the one on the screen waits behind it. Answers what was answered. */
  back() {
    const last = this.given.pop();
    if (!last) return null;
    // One that was put off may have been handed out anew meanwhile: it stands here once.
    this.ahead = [this.current, ...this.ahead].filter((card) => card && card.pair !== last.card.pair);
    this.current = last.card;
    this.current.undos += 1;
    return last;
  }

  /** Somebody else has it by now, or another tab answered it. Answers whether it was on the screen. */
  remove(pair) {
    this.ahead = this.ahead.filter((card) => card.pair !== pair);
    return this.current?.pair === pair;
  }

  /** Nothing more may be graded: what lies ready is put away, and the server's words stand in its place. */
  stop(message) {
    this.stopped = true;
    this.current = null;
    this.ahead = [];
    this.given = [];
    this.empty = message;
    this.#changed();
  }

  /** What an answer was refused with may mean that nothing more is taken; of a pair alone only the server knows. */
  refused(status, message) {
    if (status === 404) this.refill();
    else if (ENDS.includes(status)) this.stop(message);
  }

  get #stale() {
    return performance.now() - this.#asked > STALE;
  }

  refill() {
    this.#fetching ??= this.#fetch().finally(() => { this.#fetching = null; });
    return this.#fetching;
  }

  async #fetch() {
    if (this.#data.alone) { // one answer was looked at again: nothing comes after it
      this.empty = "done";
      return this.#changed();
    }
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
    // Whoever asked, and why: a retry that was due long ago may come before the word that somebody is back.
    const stale = this.#stale;
    this.#asked = performance.now();
    this.#backoff.reset();
    // Whatever was answered while the line was busy is not asked for a second time.
    const known = new Set([this.current?.pair, ...this.ahead.map((card) => card.pair), ...await this.#outbox.unsent()]);
    const came = cards.filter((card) => !known.has(card.pair));
    this.ahead.push(...came.map((card) => ({ ...card, undos: 0 })));
    this.empty = cards.length ? "" : "done";
    this.stopped = false;
    if (stale) for (const pair of gone) this.#lost(pair);
    this.#preload();
    this.#changed();
  }

  /** Whatever was taken back here waits for its turn to be said to the server, which still counts it as answered. */
  #lost(pair) {
    if (this.current?.pair === pair && this.current.undos) return;
    this.ahead = this.ahead.filter((card) => card.pair !== pair || card.undos);
    if (this.current?.pair === pair) this.dispatchEvent(new Event("lost"));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** The next two are made ready and their pictures fetched, once what is on the screen has been painted. */
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
