// What does the rater see of what this browser still keeps? How many answers are unsent and why, and those that the server
// did not take, each with what to do.
const AT_ONCE = 2500; // what is on its way for less than this is nobody's concern

const WORDS = {
  "": () => "on the way.",
  line: (they) => `no connection. ${they} kept in this browser, and sent without your doing when the line is back.`,
  login: (they, name) => `your session has ended. ${they} kept in this browser, and sent once you have logged in again as ${name}.`,
  server: (they) => `the server does not answer. ${they} kept in this browser, and sent as soon as it does.`,
  page: (they) => `this page is out of date. ${they} kept in this browser: load the page again, and all is sent.`,
};

export class Kept {
  #box = document.querySelector("#kept");
  #list = document.querySelector("#refused-box [data-list]");
  #row = document.querySelector("#refused-box template");
  #since = 0;
  #timer;
  #leaving = false;
  waiting = 0;

  constructor(outbox, data) {
    this.outbox = outbox;
    this.data = data;
    outbox.addEventListener("change", () => this.look());
    this.#part("retry").addEventListener("click", () => outbox.flush());
    this.#part("login").addEventListener("click", () => { this.#leaving = true; });
    addEventListener("beforeunload", (event) => {
      if (this.waiting && this.outbox.trouble && !this.#leaving) event.preventDefault();
    });
    this.look();
  }

  /** Leave the page on purpose: what is kept stays kept, and needs no warning. */
  leave(address) {
    this.#leaving = true;
    location.assign(address);
  }

  async look() {
    const rows = await this.outbox.rows();
    const refused = rows.filter((row) => row.refused);
    const waiting = rows.filter((row) => !row.refused);
    const undone = new Set(waiting.filter((row) => row.kind === "undo").map((row) => row.client_id));
    // An answer and what takes it back are both on their way, and are no answer to the rater.
    const pairs = waiting.filter((row) => row.kind === "answer" && undone.has(row.client_id)).length;
    this.waiting = waiting.length;
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
    if (unsent) told.push(`${unsent} unsent: ${WORDS[why](unsent === 1 ? "It is" : "They are", this.data.name)}`);
    if (refused.length) told.push(`${refused.length} not taken by the server.`);
    const text = told.join(" ");
    const words = this.#part("words");
    if (words.textContent !== text) words.textContent = text;
    this.#part("login").hidden = !(unsent && why === "login");
    this.#part("retry").hidden = !(unsent && ["line", "server"].includes(why));
    this.#part("refused").hidden = !refused.length;
    this.#box.hidden = !text;
    this.#fill(refused);
  }

  #part(name) {
    return this.#box.querySelector(`[data-${name}]`);
  }

  #fill(rows) {
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
