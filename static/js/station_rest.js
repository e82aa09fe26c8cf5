// A page without a document: sends the answers stored in this browser, too.
import { StoredAnswers } from "./station/stored_answers.js";
import { Outbox } from "./station/outbox.js";

const data = JSON.parse(document.querySelector("#station-data").textContent);
const outbox = new Outbox(data);
new StoredAnswers(outbox, data);
outbox.flush();
