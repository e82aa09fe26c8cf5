// Prefetches the page of the next query once every row is graded and the server has all answers, so that it appears at once.
// If an answer changes in the meantime, the page is fetched again.
const PATIENCE = 20_000;
const STALE = 10 * 60_000; // check leased documents again after this time

export class NextList {
  #data;
  #page = null;
  #loadedAt = 0;
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
      this.#loadedAt = performance.now();
    } catch { /* no connection: the page is requested when it is needed */ }
  }

  /** Return the page if it is a list for this rater; another user may have logged in meanwhile. */
  #read(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    if (!page.querySelector("#list > li")) return null;
    return JSON.parse(page.querySelector("#station-data").textContent).user === this.#data.user ? page : null;
  }

  /** Return the prefetched parts that change between queries, once; null if there are none. */
  take() {
    const page = performance.now() - this.#loadedAt > STALE ? null : this.#page;
    this.forget();
    return page && {
      title: page.title,
      ask: [...document.adoptNode(page.querySelector("#ask")).childNodes],
      list: [...document.adoptNode(page.querySelector("#list")).childNodes],
    };
  }
}
