// Swipes on the document: left means "later", right undoes the last answer. A swipe never grades, so that raters look at
// the button that they press.
const FAR = 90;
const SLOPE = 2.5; // minimum ratio of horizontal to vertical movement; otherwise it is scrolling
const QUICK = 700;
const EDGE = 28; // the browser's own gesture starts here

export function swipes(element, { left, right }) {
  let from = null;
  element.addEventListener("touchstart", (event) => {
    const [touch] = event.touches;
    const own = event.touches.length > 1 || touch.clientX < EDGE || touch.clientX > innerWidth - EDGE || scrolls(event.target);
    from = own ? null : { x: touch.clientX, y: touch.clientY, at: event.timeStamp };
  }, { passive: true });
  // Lifting a moving finger starts a fling, which is invisible if nothing scrolls horizontally. The browser then uses the next
  // tap to stop the fling, and no button receives that tap. So this handler prevents the fling.
  element.addEventListener("touchmove", (event) => {
    if (goesAcross(event) && event.cancelable) event.preventDefault();
  }, { passive: false });
  element.addEventListener("touchend", (event) => {
    const across = goesAcross(event) ? event.changedTouches[0].clientX - from.x : 0;
    from = null;
    if (Math.abs(across) >= FAR) (across < 0 ? left : right)();
  }, { passive: true });
  element.addEventListener("touchcancel", () => { from = null; }, { passive: true });

  function goesAcross({ changedTouches: [touch], timeStamp }) {
    if (!from || timeStamp - from.at > QUICK || !getSelection().isCollapsed) return false;
    return Math.abs(touch.clientX - from.x) >= SLOPE * Math.abs(touch.clientY - from.y);
  }

  /** Wide tables scroll horizontally with the same gesture. */
  function scrolls(target) {
    for (let one = target; one && one !== element; one = one.parentElement) {
      if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible") return true;
    }
    return false;
  }
}
