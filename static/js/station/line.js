// How does the station talk to the server? One way to post, with who is asking in it, and an end to the waiting.
const PATIENCE = 20_000;
const SMALL = 30_000; // a browser lets so many bytes outlive their page

/** What went wrong on the way: no answer came, or none that the server would give. */
export class NoLine extends Error {}

const cookie = (name) => document.cookie.split("; ").find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);

/** The token is read anew each time: after somebody logged in in another tab it is another one. */
const token = () => cookie("csrftoken") ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

/** Post JSON, or a form where `body` is one; answers status and body. Throws NoLine where nobody answered. */
export async function post(address, body, user) {
  const form = body instanceof URLSearchParams;
  const text = form ? body : JSON.stringify(body);
  const headers = { "X-CSRFToken": token(), "X-Assay-Rater": user, Accept: "application/json" };
  if (!form) headers["Content-Type"] = "application/json";
  try {
    const answer = await fetch(address, {
      method: "POST", body: text, headers, credentials: "same-origin", redirect: "error",
      keepalive: String(text).length < SMALL, signal: AbortSignal.timeout(PATIENCE),
    });
    // Whatever stands between us and the server may answer with a page of its own: that is no answer. That the server is out
    // for a while is one all the same.
    const out = answer.status === 429 || answer.status >= 500;
    return { status: answer.status, body: out || answer.status === 204 ? null : await answer.json() };
  } catch (error) {
    throw new NoLine(error.message);
  }
}

/** Whether the server would answer with this page now: a page that one leaves for nothing is gone. */
export async function reachable(address) {
  try {
    const asked = { method: "HEAD", redirect: "manual", credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE / 2) };
    return navigator.onLine && (await fetch(address, asked)).ok;
  } catch {
    return false;
  }
}

/** Waits that grow: 1, 2, 4 ... 30 seconds, a little apart, so that a server that comes back is not met by all at once. */
export class Backoff {
  #times = 0;
  #timer;

  again(work) {
    clearTimeout(this.#timer);
    const wait = Math.min(2 ** this.#times, 30) * (0.75 + Math.random() / 2);
    this.#times += 1;
    this.#timer = setTimeout(work, wait * 1000);
  }

  reset() {
    clearTimeout(this.#timer);
    this.#times = 0;
  }
}

/** Call when the line may be back: the browser says so, or somebody looks at the page again. */
export function whenBack(work) {
  addEventListener("online", work);
  addEventListener("pageshow", work);
  addEventListener("focus", work);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") work(); });
}
