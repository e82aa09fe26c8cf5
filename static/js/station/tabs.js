// Messages between the tabs of one rater: which document was answered or undone, so that another tab does not show it
// again, and that the stored answers changed.
export class Tabs extends EventTarget {
  #channel = typeof BroadcastChannel === "undefined" ? null : true;

  constructor(data) {
    super();
    if (!this.#channel) return;
    this.#channel = new BroadcastChannel(`assay-station-${data.user}-${data.round}`);
    this.#channel.onmessage = ({ data: { kind, pair, answer } }) => {
      this.dispatchEvent(new CustomEvent(kind, { detail: { pair, answer } }));
    };
  }

  tell(kind, pair, answer = null) {
    this.#channel?.postMessage({ kind, pair, answer });
  }
}
