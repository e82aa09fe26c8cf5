// What does a thumb do on the document? To the left is "later", to the right takes the last answer back. A swipe never
// grades: a grade is a button that one looks at.
const FAR = 90;
const SLOPE = 2.5; // so much more across than down, else it is scrolling
const QUICK = 700;
const EDGE = 28; // the browser's own gesture begins here

export function swipes(element, { left, right }) {
  let from = null;
  element.addEventListener("touchstart", (event) => {
    const [touch] = event.touches;
    const own = event.touches.length > 1 || touch.clientX < EDGE || touch.clientX > innerWidth - EDGE || scrolls(event.target);
    from = own ? null : { x: touch.clientX, y: touch.clientY, at: event.timeStamp };
  }, { passive: true });
  element.addEventListener("touchend", (event) => {
    if (!from || event.timeStamp - from.at > QUICK || !getSelection().isCollapsed) return;
    const [touch] = event.changedTouches;
    const across = touch.clientX - from.x, down = Math.abs(touch.clientY - from.y);
    from = null;
    if (Math.abs(across) < FAR || Math.abs(across) < SLOPE * down) return;
    (across < 0 ? left : right)();
  }, { passive: true });
  element.addEventListener("touchcancel", () => { from = null; }, { passive: true });

  /** A wide table is moved across by the same gesture, and keeps it. */
  function scrolls(target) {
    for (let one = target; one && one !== element; one = one.parentElement) {
      if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible") return true;
    }
    return false;
  }
}
