// The action of a key press; none while the rater types, holds a key down or uses a modifier.
//
// A digit gives the grade of that value, on the top row and on the numeric keypad. Layouts differ: the top row of a French
// keyboard types symbols, and a Greek one has other letters. So the typed character is checked first, then the key position.
const TYPED = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const WAIT = 1000; // milliseconds to wait for the second digit of a two-digit grade

export const typing = (element) => Boolean(element?.closest?.(TYPED));

/** The intended digit, or null. With the shift key, a key of the top row is a symbol, not a digit. */
function digitOf(event, grades) {
  if (/^\d$/.test(event.key)) return event.key;
  const place = event.code.match(/^(?:Numpad|Digit)(\d)$/)?.[1];
  // A symbol of the top row with its own action triggers that action, unless the scale has a grade there.
  return place && !event.shiftKey && (event.code.startsWith("Numpad") || grades.has(place)) ? place : null;
}

/** The name of the key in the table of shortcuts. */
function nameOf(event) {
  const latin = event.key.length > 1 || /^[\x20-\x7e]$/.test(event.key);
  return (latin ? event.key : event.code.match(/^Key([A-Z])$/)?.[1] ?? event.key).toLowerCase();
}

/** The action of a key press as {digit} or {act}, or null if it has none. */
export function actOf(event, table, grades) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return null;
  const digit = digitOf(event, grades);
  if (digit !== null) return { digit };
  const act = table[event.key.toLowerCase()] ?? table[nameOf(event)];
  if (act?.startsWith("grade-")) return { digit: act.slice(6) };
  return act ? { act } : null;
}

/** Digits become grades: at once if no two-digit grade starts with the digit, otherwise after the second digit, after a
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

  /** Use the typed digit; returns whether there was one. */
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
