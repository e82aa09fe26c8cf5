// Which documents come after this list? The page of the next query is fetched once every row is graded and the server has it
// all, so that it stands there at once. Where anything is said otherwise meanwhile, it is fetched anew.
const PATIENCE = 20_000;
const STALE = 10 * 60_000; // as long as documents of the station lie ready before they are looked at again

export class NextList {
  #data;
  #page = null;
  #asked = 0;
  #turn = 0;

  constructor(data) {
    this.#data = data;
  }

  forget() {
    this.#turn += 1;
    this.#page = null;
  }

  async fetch() {
    this.forget();
    const turn = this.#turn;
    try {
      const options = { credentials: "same-origin", redirect: "error", signal: AbortSignal.timeout(PATIENCE) };
      const answer = await fetch(this.#data.page, options);
      const page = answer.ok ? this.#read(await answer.text()) : null;
      if (turn !== this.#turn) return;
      this.#page = page;
      this.#asked = performance.now();
    } catch { /* no line: the page is asked for when it is wanted */ }
  }

  /** The page, if a list comes next and it is this rater's: somebody else may have logged in meanwhile. */
  #read(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    if (!page.querySelector("#list > li")) return null;
    return JSON.parse(page.querySelector("#station-data").textContent).user === this.#data.user ? page : null;
  }

  /** What lies ready, once: the parts that change from query to query; nothing where none does. */
  take() {
    const page = performance.now() - this.#asked > STALE ? null : this.#page;
    this.forget();
    return page && {
      title: page.title,
      ask: [...document.adoptNode(page.querySelector("#ask")).childNodes],
      list: [...document.adoptNode(page.querySelector("#list")).childNodes],
    };
  }
}
