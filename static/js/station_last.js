// The page of the last answers: sends the answers stored in this browser, then shows them.
import { StoredAnswers } from "./station/stored_answers.js";
import { Outbox } from "./station/outbox.js";

const data = JSON.parse(document.querySelector("#station-data").textContent);
const outbox = new Outbox(data);
new StoredAnswers(outbox, data);
const waited = (await outbox.rows()).some((row) => !row.refused);
if (await outbox.flush() && waited) location.reload();
