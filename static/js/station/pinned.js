// Do the guidelines stand beside the document? In a wide window they do, until the rater hides them: then, as in a narrow
// window, they open over the page. The choice is remembered for this rater in this browser.
const aside = document.querySelector("#pinned");
const button = document.querySelector("#open-guide");
const hide = aside.querySelector("[data-hide]");
const wide = matchMedia("(min-width: 100rem)");
const KEY = `assay-guidelines-${aside.dataset.user}`;

function remembered() {
  try { return localStorage.getItem(KEY) === "hidden"; } catch { return false; }
}

function show(hidden) {
  const { dataset } = document.documentElement;
  if (hidden) dataset.guidelines = "hidden";
  else delete dataset.guidelines;
}

function toggle(event) {
  if (!wide.matches) return;
  event.preventDefault(); // the button would open them over the page
  const hidden = !("guidelines" in document.documentElement.dataset);
  show(hidden);
  try { localStorage.setItem(KEY, hidden ? "hidden" : "beside"); } catch { /* then it holds for this page */ }
  document.querySelector("#live").textContent = hidden ? "Guidelines hidden." : "Guidelines beside the document.";
  if (hidden && aside.contains(event.target)) button.focus();
}

show(remembered());
hide.hidden = false;
hide.addEventListener("click", toggle);
button.addEventListener("click", toggle);
