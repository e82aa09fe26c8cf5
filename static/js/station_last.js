// The page of the last answers: what this browser still keeps is sent, and then the page shows it too.
import { Kept } from "./station/kept.js";
import { Outbox } from "./station/outbox.js";

const data = JSON.parse(document.querySelector("#station-data").textContent);
const outbox = new Outbox(data);
new Kept(outbox, data);
const waited = (await outbox.rows()).some((row) => !row.refused);
if (await outbox.flush() && waited) location.reload();
