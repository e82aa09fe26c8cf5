// Which act is a key press? None while one types, holds a key down or uses a modifier.
//
// A digit is the grade of that value, in the top row and on the numeric pad. Keyboards differ: on a French one the top row
// types signs, on a Greek one the letters are others. So the sign that was typed is asked first, then the place of the key.
const TYPED = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const WAIT = 1000; // a digit that could become a grade of two digits waits so long for the second

export const typing = (element) => Boolean(element?.closest?.(TYPED));

/** The digit that was meant, or null. With the shift key a place in the top row is no digit, but a sign. */
function digitOf(event, grades) {
  if (/^\d$/.test(event.key)) return event.key;
  const place = event.code.match(/^(?:Numpad|Digit)(\d)$/)?.[1];
  // A sign of the top row that has an act of its own is that act, unless the scale has a grade there.
  return place && !event.shiftKey && (event.code.startsWith("Numpad") || grades.has(place)) ? place : null;
}

/** What the key is called in the table of keys. */
function nameOf(event) {
  const latin = event.key.length > 1 || /^[\x20-\x7e]$/.test(event.key);
  return (latin ? event.key : event.code.match(/^Key([A-Z])$/)?.[1] ?? event.key).toLowerCase();
}

/** The act of a key press as {digit} or {act}, or null where it is none. */
export function actOf(event, table, grades) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return null;
  const digit = digitOf(event, grades);
  if (digit !== null) return { digit };
  const act = table[event.key.toLowerCase()] ?? table[nameOf(event)];
  if (act?.startsWith("grade-")) return { digit: act.slice(6) };
  return act ? { act } : null;
}

/** Digits become grades: at once where the scale has no longer one that begins so, else after the second digit, after a
 *  second, or with Enter. */
export class Digits {
  #typed = "";
  #timer;

  constructor(grades, give, waiting) {
    this.grades = [...grades];
    this.give = give;
    this.waiting = waiting;
  }

  press(digit) {
    clearTimeout(this.#timer);
    const typed = this.#typed + digit;
    if (!this.grades.some((grade) => grade.startsWith(typed))) return this.clear();
    this.#typed = typed;
    if (!this.grades.some((grade) => grade.startsWith(typed) && grade !== typed)) return this.enter();
    this.waiting(typed);
    this.#timer = setTimeout(() => this.enter(), WAIT);
    return undefined;
  }

  /** Take what was typed; answers whether there was something. */
  enter() {
    const typed = this.#typed;
    this.clear();
    if (!this.grades.includes(typed)) return false;
    this.give(typed);
    return true;
  }

  clear() {
    clearTimeout(this.#timer);
    this.#typed = "";
    this.waiting("");
  }
}
