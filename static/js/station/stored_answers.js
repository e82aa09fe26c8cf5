// The notice about answers stored in this browser: how many are unsent and why, and the rejected ones with their
// actions.
import { reachable } from "./line.js";
import { toast } from "./notices.js";
import { fleeting } from "./store.js";

const AT_ONCE = 2500; // do not mention answers that are being sent for less than this

const WORDS = {
  "": () => "sending.",
  line: (they) => `no connection. ${they} and will be sent automatically when you are online again.`,
  login: (they, { name }) => `your session has ended. ${they} and will be sent after you log in again as ${name}.`,
  server: (they) => `the server does not respond. ${they} and will be sent when it does.`,
  page: (they, { fleeting }) => `this page is out of date. ${they}. To send all answers, ${fleeting ? "also open the page in another tab" : "reload the page"}.`,
};

export class StoredAnswers {
  #box = document.querySelector("#stored");
  #list = document.querySelector("#refused-box [data-list]");
  #row = document.querySelector("#refused-box template");
  #since = 0;
  #timer;
  #leaving = false;
  waiting = 0;
  /** Whether closing the page loses answers, because the browser refuses to store them. */
  fleeting = false;
  /** The page is about to change, so later notices could disappear with it. */
  left = false;

  constructor(outbox, data) {
    this.outbox = outbox;
    this.data = data;
    outbox.addEventListener("change", () => this.look());
    this.#part("retry").addEventListener("click", () => outbox.flush());
    this.#part("login").addEventListener("click", () => { this.#leaving = true; });
    addEventListener("beforeunload", (event) => {
      if (this.fleeting || (this.waiting && this.outbox.trouble && !this.#leaving)) event.preventDefault();
    });
    this.look();
  }

  get place() {
    return this.fleeting ? "while this page is open" : "in this browser";
  }

  /** Leave the page on purpose: stored answers stay stored, so no warning is needed. */
  async leave(address) {
    this.#leave();
    await this.look(); // answers in memory may have been sent in the meantime
    location.assign(address);
  }

  /** Ask raters who would lose answers whether they want to leave. */
  #leave() {
    this.#leaving = true;
    this.left = !this.fleeting;
    if (this.left) delete document.documentElement.dataset.ready;
  }

  /** Stop for now: send the answers, then release open pairs so that others get them at once. */
  async stop(form, held = true) {
    const flushed = await this.outbox.flush() && await reachable(form.dataset.back);
    if (!flushed) return toast("No connection. Your answers are stored here and will be sent when you are online again. Open documents go to other raters after 30 minutes.");
    if (!held) return this.leave(form.dataset.back);
    this.#leave();
    return form.submit();
  }

  /** Undo the last answer from before this page was opened; only the server has it. */
  async undo(form) {
    const flushed = await this.outbox.flush() && await reachable(this.data.page);
    if (!flushed) return toast("That answer was sent already. You can undo it when you are online again.");
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "undo", value: "1" }));
    this.#leave();
    return form.submit();
  }

  /** Open the page of the last answers after the server has all of them. */
  async toLast(event) {
    event.preventDefault();
    const { href } = event.currentTarget;
    if (await this.outbox.flush() && await reachable(this.data.page)) this.leave(href);
    else toast("You can see your last answers when you are online again. Undo works offline.");
  }

  async look() {
    const rows = await this.outbox.rows();
    const refused = rows.filter((row) => row.refused);
    const waiting = rows.filter((row) => !row.refused);
    const undone = new Set(waiting.filter((row) => row.kind === "undo").map((row) => row.client_id));
    // An unsent answer with its unsent undo is no answer for the rater.
    const pairs = waiting.filter((row) => row.kind === "answer" && undone.has(row.client_id)).length;
    this.waiting = waiting.length;
    this.fleeting = rows.some(fleeting);
    const now = performance.now();
    this.#since = this.waiting ? this.#since || now : 0;
    const late = this.waiting && (this.outbox.trouble || now - this.#since > AT_ONCE);
    clearTimeout(this.#timer);
    if (this.waiting && !late) this.#timer = setTimeout(() => this.look(), AT_ONCE);
    this.#say(late ? this.waiting - 2 * pairs : 0, refused);
  }

  #say(unsent, refused) {
    const why = this.outbox.trouble;
    const parts = [];
    const they = `${unsent === 1 ? "It is" : "They are"} stored ${this.place}`;
    if (unsent) parts.push(`${unsent} unsent: ${WORDS[why](they, { name: this.data.name, fleeting: this.fleeting })}`);
    if (refused.length) parts.push(`${refused.length} rejected by the server.`);
    const text = parts.join(" ");
    const words = this.#part("words");
    if (words.textContent !== text) words.textContent = text;
    this.#part("login").hidden = !(unsent && why === "login");
    this.#part("login").target = this.fleeting ? "_blank" : ""; // keep the page that holds them open
    this.#part("retry").hidden = !(unsent && ["line", "server"].includes(why));
    this.#part("refused").hidden = !refused.length;
    this.#box.hidden = !text;
    this.#fill(refused);
  }

  #part(name) {
    return this.#box.querySelector(`[data-${name}]`);
  }

  #fill(rows) {
    document.querySelector("#refused-box [data-place]").textContent = this.place;
    this.#list.replaceChildren(...rows.map((row) => {
      const item = this.#row.content.cloneNode(true);
      const put = (name, text) => { item.querySelector(`[data-${name}]`).textContent = text; };
      put("answer", row.kind === "undo" ? "Undo" : row.about.answer);
      put("title", row.about?.title ?? "an earlier answer");
      put("query", row.about?.query ?? "");
      put("why", row.refused.message || `The server responded with status ${row.refused.status}.`);
      item.querySelector("[data-again]").addEventListener("click", () => this.outbox.again(row.n));
      item.querySelector("[data-drop]").addEventListener("click", () => this.outbox.drop(row.n));
      return item;
    }));
    if (!rows.length) document.querySelector("#refused-box:popover-open")?.hidePopover();
  }
}
