// A page without a document: sends the answers stored in this browser, too.
import { Kept } from "./station/kept.js";
import { Outbox } from "./station/outbox.js";

const data = JSON.parse(document.querySelector("#station-data").textContent);
const outbox = new Outbox(data);
new Kept(outbox, data);
outbox.flush();
