// The code of an invitation stands behind the #, which no browser sends: no log and no referrer ever holds it.
const form = document.querySelector("form[data-invite]");

function open() {
  const code = location.hash.slice(1);
  if (!code) return;
  // Gone from the address, and so from the history, before anything else happens.
  history.replaceState(null, "", location.pathname);
  form.elements.code.value = code;
  form.requestSubmit();
}

open();
// Another link that is opened in the same tab changes only what stands behind the #.
addEventListener("hashchange", open);
