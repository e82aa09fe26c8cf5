// What does the rater see of what this browser still keeps? How many answers are unsent and why, and those that the server
// did not take, each with what to do.
import { reachable } from "./line.js";
import { toast } from "./said.js";
import { fleeting } from "./store.js";

const AT_ONCE = 2500; // what is on its way for less than this is nobody's concern

const WORDS = {
  "": () => "on the way.",
  line: (they) => `no connection. ${they}, and sent without your doing when the line is back.`,
  login: (they, { name }) => `your session has ended. ${they}, and sent once you have logged in again as ${name}.`,
  server: (they) => `the server does not answer. ${they}, and sent as soon as it does.`,
  page: (they, { fleeting }) => `this page is out of date. ${they}: load ${fleeting ? "it in another tab too" : "the page again"}, and all is sent.`,
};

export class Kept {
  #box = document.querySelector("#kept");
  #list = document.querySelector("#refused-box [data-list]");
  #row = document.querySelector("#refused-box template");
  #since = 0;
  #timer;
  #leaving = false;
  waiting = 0;
  /** Something is held that goes with the page: the browser refuses to keep it. */
  fleeting = false;
  /** The page is on its way to another one: what is said from here on might go with it. */
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

  /** Leave the page on purpose: what is kept stays kept, and needs no warning. */
  async leave(address) {
    this.#leave();
    await this.look(); // what was held a moment ago may be sent
    location.assign(address);
  }

  /** Whoever would lose something by it is asked, and may stay. */
  #leave() {
    this.#leaving = true;
    this.left = !this.fleeting;
    if (this.left) delete document.documentElement.dataset.ready;
  }

  /** Stop for now: what was answered is sent, then what is open goes back, so that others get it at once. */
  async stop(form, held = true) {
    const sent = await this.outbox.flush() && await reachable(form.dataset.back);
    if (!sent) return toast("There is no connection. What you answered is kept here, and is sent when it is back; what you hold goes to others after 30 minutes.");
    if (!held) return this.leave(form.dataset.back);
    this.#leave();
    return form.submit();
  }

  /** Take the last answer back that was given before this page was opened: that is the server's. */
  async undo(form) {
    const sent = await this.outbox.flush() && await reachable(this.data.page);
    if (!sent) return toast("That was sent before; taking it back waits until there is a connection.");
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "undo", value: "1" }));
    this.#leave();
    return form.submit();
  }

  /** To the last answers, once the server has them all. */
  async toLast(event) {
    event.preventDefault();
    const { href } = event.currentTarget;
    if (await this.outbox.flush() && await reachable(this.data.page)) this.leave(href);
    else toast("Your last answers are shown once there is a connection. Undo works all the same.");
  }

  async look() {
    const rows = await this.outbox.rows();
    const refused = rows.filter((row) => row.refused);
    const waiting = rows.filter((row) => !row.refused);
    const undone = new Set(waiting.filter((row) => row.kind === "undo").map((row) => row.client_id));
    // An answer and what takes it back are both on their way, and are no answer to the rater.
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
    const told = [];
    const they = `${unsent === 1 ? "It is" : "They are"} kept ${this.place}`;
    if (unsent) told.push(`${unsent} unsent: ${WORDS[why](they, { name: this.data.name, fleeting: this.fleeting })}`);
    if (refused.length) told.push(`${refused.length} not taken by the server.`);
    const text = told.join(" ");
    const words = this.#part("words");
    if (words.textContent !== text) words.textContent = text;
    this.#part("login").hidden = !(unsent && why === "login");
    this.#part("login").target = this.fleeting ? "_blank" : ""; // beside the page that holds them
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
      put("answer", row.kind === "undo" ? "Taking the answer back" : row.about.answer);
      put("title", row.about?.title ?? "an earlier answer");
      put("query", row.about?.query ?? "");
      put("why", row.refused.message || `The server answered ${row.refused.status}.`);
      item.querySelector("[data-again]").addEventListener("click", () => this.outbox.again(row.n));
      item.querySelector("[data-drop]").addEventListener("click", () => this.outbox.drop(row.n));
      return item;
    }));
    if (!rows.length) document.querySelector("#refused-box:popover-open")?.hidePopover();
  }
}
