// What do two tabs of one rater tell each other? Which document was just answered, and how, or taken back, so that the other
// one does not ask for it again, and that what is kept has changed.
export class Tabs extends EventTarget {
  #channel = typeof BroadcastChannel === "undefined" ? null : true;

  constructor(data) {
    super();
    if (!this.#channel) return;
    this.#channel = new BroadcastChannel(`assay-station-${data.user}-${data.round}`);
    this.#channel.onmessage = ({ data: { kind, pair, said } }) => {
      this.dispatchEvent(new CustomEvent(kind, { detail: { pair, said } }));
    };
  }

  tell(kind, pair, said = null) {
    this.#channel?.postMessage({ kind, pair, said });
  }
}
