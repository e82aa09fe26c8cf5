// Storage of unsent answers: rows in IndexedDB in the order in which they were added. They survive a reload, a crash and
// a closed tab. Browsers that refuse IndexedDB keep them only while the page is open.
const NAME = "assay-station";
const TABLE = "outbox";
let opening;

function database() {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(TABLE, { keyPath: "n", autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}

const memory = new Map();
let last = 0;

async function transacted(mode, work) {
  const table = (await database()).transaction(TABLE, mode).objectStore(TABLE);
  return new Promise((resolve, reject) => {
    let answer;
    work(table, (value) => { answer = value; });
    table.transaction.oncomplete = () => resolve(answer);
    table.transaction.onabort = table.transaction.onerror = () => reject(table.transaction.error);
  });
}

/** Whether the row is lost when the page closes. */
export const fleeting = (row) => row.n < 0;

/** Store a row; returns its number when it is safe. */
export async function add(row) {
  try {
    return await transacted("readwrite", (table, done) => {
      table.add(row).onsuccess = (event) => done(event.target.result);
    });
  } catch {
    last -= 1; // numbers of rows in memory are negative and never match those in the database
    memory.set(last, { ...row, n: last });
    return last;
  }
}

/** Every row, the oldest first. */
export async function all() {
  const held = [...memory.values()].sort((one, other) => other.n - one.n);
  try {
    return [...await transacted("readonly", (table, done) => {
      table.getAll().onsuccess = (event) => done(event.target.result);
    }), ...held];
  } catch {
    return held;
  }
}

/** Change a row in one step: `decide` gets the row and returns the new one, null to remove it, or undefined to
 *  keep it. Returns the old row, or nothing if there is none. */
export async function change(n, decide) {
  if (memory.has(n)) {
    const row = memory.get(n), wanted = decide(row);
    if (wanted === null) memory.delete(n);
    else if (wanted) memory.set(n, wanted);
    return row;
  }
  try {
    return await transacted("readwrite", (table, done) => {
      table.get(n).onsuccess = (event) => {
        const row = event.target.result, wanted = row && decide(row);
        if (wanted === null) table.delete(n);
        else if (wanted) table.put(wanted);
        done(row);
      };
    });
  } catch {
    return undefined;
  }
}
