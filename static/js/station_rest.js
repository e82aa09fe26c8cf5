// A page without a document, of the station or before it: what this browser still keeps is sent from here too.
import { Kept } from "./station/kept.js";
import { Outbox } from "./station/outbox.js";

const data = JSON.parse(document.querySelector("#station-data").textContent);
const outbox = new Outbox(data);
new Kept(outbox, data);
outbox.flush();
