// The queue of answers: each answer is stored, sent in the background in order, retried until the server has it, and
// deleted only then. Rejected answers are stored too, for the rater to see.
//
// Every answer has its own id, so the server records it once even if it is sent twice. After any failure it is sent again.
import * as store from "./store.js";
import { Backoff, NoLine, post, whenBack } from "./line.js";

const MOST = 50;

/** An id for an answer. A page without TLS has no crypto.randomUUID, but it has random bytes. */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

/** One tab sends at a time. In browsers without locks two tabs may; the server still records each answer once. */
const alone = (name, work) => (navigator.locks ? navigator.locks.request(name, work) : work());

export class Outbox extends EventTarget {
  #data;
  #backoff = new Backoff();
  #sending = null;
  #more = false;
  #adding = Promise.resolve();
  /** Why rows wait: "" (sending), "line", "login", "server", "page". */
  trouble = "";

  constructor(data) {
    super();
    this.#data = data;
    whenBack(() => this.flush());
  }

  /** The user's own rows of this queue: answers of raters, or resolutions of leads. Rows of another user of this browser
   *  are never sent. */
  async rows() {
    const queue = this.#data.queue ?? "";
    return (await store.all()).filter((row) => row.user === this.#data.user && (row.queue ?? "") === queue);
  }

  /** Pairs of this round with an answer that the server does not have yet. */
  async unsent() {
    const rows = (await this.rows()).filter((row) => row.round === this.#data.round && !row.refused);
    return rows.filter((row) => row.kind === "answer").map((row) => row.body.pair);
  }

  /** Store an answer and send it. `about` describes it to the rater if the server rejects it. */
  put(body, about) {
    return this.#noted(this.#add({ kind: "answer", client_id: body.client_id, body, about }));
  }

  /** Undo an answer: locally if it cannot have been sent, otherwise on the server, in order. */
  takeBack(clientId) {
    return this.#noted(this.#takeBack(clientId));
  }

  async #takeBack(clientId) {
    for (const row of await this.rows()) {
      if (row.kind !== "answer" || row.client_id !== clientId) continue;
      const was = await store.change(row.n, (now) => (now.tried && !now.refused ? undefined : null));
      if (was && (!was.tried || was.refused)) return this.#notify();
    }
    return this.#add({ kind: "undo", client_id: clientId });
  }

  /** Send waiting rows; returns whether none is left. */
  async flush() {
    this.#backoff.reset();
    this.#send();
    await this.#adding; // the newest answer may not be stored yet
    await this.#send();
    return !(await this.rows()).some((row) => !row.refused);
  }

  /** Callers that need everything sent wait until the newest row is stored. */
  #noted(work) {
    this.#adding = Promise.allSettled([this.#adding, work]);
    return work;
  }

  async again(n) {
    await store.change(n, (row) => ({ ...row, refused: null }));
    return this.flush();
  }

  async drop(n) {
    await store.change(n, () => null);
    this.#notify();
  }

  async #add(row) {
    const { user, round, queue = "" } = this.#data;
    await store.add({ ...row, user, round, queue, tried: false, refused: null });
    this.#notify();
    this.#send();
  }

  #notify() {
    this.dispatchEvent(new Event("change"));
  }

  #send() {
    this.#more = true;
    this.#sending ??= alone(`assay-outbox-${this.#data.user}`, () => this.#all())
      .catch(() => { /* the lock was taken away: the next answer requests it again */ })
      .finally(() => {
        this.#sending = null;
        if (this.#more) this.#send(); // added since the last check
      });
    return this.#sending;
  }

  async #all() {
    while (this.#more) {
      this.#more = false;
      let went = true;
      while (went) went = await this.#step();
    }
  }

  /** Send the oldest answers or the oldest undo; returns whether to continue. */
  async #step() {
    const waiting = (await this.rows()).filter((row) => !row.refused);
    if (!waiting.length) return this.#trouble("");
    // Offline, nothing is tried, so that an answer can still be undone locally, as if it had never been given.
    if (!navigator.onLine) return this.#later("line");
    const [first] = waiting;
    const other = waiting.findIndex((row) => row.kind !== first.kind || row.round !== first.round);
    const rows = first.kind === "undo" ? [first] : waiting.slice(0, other < 0 ? MOST : Math.min(other, MOST));
    const claimed = [];
    for (const row of rows) if (await store.change(row.n, (now) => ({ ...now, tried: true }))) claimed.push(row);
    if (!claimed.length) return true;
    try {
      return await (first.kind === "undo" ? this.#undo(first) : this.#answers(claimed));
    } catch (error) {
      if (!(error instanceof NoLine)) throw error;
      return this.#later("line");
    }
  }

  async #answers(rows) {
    const answer = await post(this.#address(rows[0]), rows.map((row) => row.body), this.#data.user);
    if (answer.status !== 200) return this.#refusedAsAWhole(answer, rows);
    const results = new Map(answer.body.results.map((result) => [result.client_id, result]));
    let later = false;
    for (const row of rows) {
      const result = results.get(row.client_id);
      if (!result || result.status === 429 || result.status >= 500) later = true;
      else await this.#settled(row, result.status, result.error?.message, result.surplus);
    }
    return later ? this.#later("server") : this.#trouble("", true);
  }

  async #undo(row) {
    const answer = await post(`${this.#address(row)}${row.client_id}/undo/`, {}, this.#data.user);
    // The answer does not exist or a newer one replaced it: there is nothing to undo.
    if ([404, 409].includes(answer.status)) await store.change(row.n, () => null);
    else if (answer.status !== 200) return this.#refusedAsAWhole(answer, [row]);
    else await this.#settled(row, 200);
    this.#notify();
    return this.#trouble("", true);
  }

  #address(row) {
    return this.#data.judgments.replace("ROUND", row.round);
  }

  async #refusedAsAWhole({ status, body }, rows) {
    const message = body?.error?.message ?? "";
    if (status === 401) return this.#later("login");
    if (status === 403 && message.startsWith("CSRF")) return this.#later("page");
    if (status === 429 || status >= 500) return this.#later("server");
    for (const row of rows) await this.#settled(row, status, message);
    return this.#trouble("", true);
  }

  async #settled(row, status, message = "", surplus = false) {
    const taken = status === 200 || status === 201;
    await store.change(row.n, (now) => (taken ? null : { ...now, refused: { status, message } }));
    this.dispatchEvent(new CustomEvent("settled", { detail: { row, status, message, surplus, taken } }));
    this.#notify();
  }

  #later(why) {
    this.#trouble(why);
    this.#backoff.again(() => this.#send());
    return false;
  }

  #trouble(why, goOn = false) {
    if (!why) this.#backoff.reset();
    if (this.trouble !== why) {
      this.trouble = why;
      this.#notify();
    }
    return goOn;
  }
}
