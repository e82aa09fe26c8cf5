// Requests of the station to the server: one way to post, with the user in the request, and a timeout.
const PATIENCE = 20_000;
const SMALL = 30_000; // browsers let a request of this size outlive the page

/** The request failed: no response, or a response that does not come from the server. */
export class NoLine extends Error {}

const cookie = (name) => document.cookie.split("; ").find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);

/** Read the token each time, because it changes when a user logs in in another tab. */
const token = () => cookie("csrftoken") ?? document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";

/** Post JSON, or a form if `body` is one; returns status and body. Throws NoLine without a response. */
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
    // A proxy may respond with its own page, which is not a response of the server. A server that is unavailable for a while
    // still counts as one.
    const out = answer.status === 429 || answer.status >= 500;
    return { status: answer.status, body: out || answer.status === 204 ? null : await answer.json() };
  } catch (error) {
    throw new NoLine(error.message);
  }
}

/** Whether the server would serve this page now, so that leaving does not end on an error page. */
export async function reachable(address) {
  try {
    const options = { method: "HEAD", redirect: "manual", credentials: "same-origin", signal: AbortSignal.timeout(PATIENCE / 2) };
    return navigator.onLine && (await fetch(address, options)).ok;
  } catch {
    return false;
  }
}

/** Growing waits: 1, 2, 4 ... 30 seconds with jitter, so that not all clients hit a restarted server at once. */
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

/** Call when the connection may be back: the browser reports it, or the page becomes visible again. */
export function whenBack(work) {
  addEventListener("online", work);
  addEventListener("pageshow", work);
  addEventListener("focus", work);
  document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") work(); });
}
