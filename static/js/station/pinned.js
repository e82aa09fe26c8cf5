// The guidelines next to the document. In a wide window they are shown until the rater hides them; otherwise they open in
// a dialog. The choice is stored for this rater in this browser.
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
  event.preventDefault(); // the button would open the dialog
  const hidden = !("guidelines" in document.documentElement.dataset);
  show(hidden);
  try { localStorage.setItem(KEY, hidden ? "hidden" : "beside"); } catch { /* then the choice applies to this page only */ }
  document.querySelector("#live").textContent = hidden ? "Guidelines hidden." : "Guidelines shown next to the document.";
  if (hidden && aside.contains(event.target)) button.focus();
}

show(remembered());
hide.hidden = false;
hide.addEventListener("click", toggle);
button.addEventListener("click", toggle);
