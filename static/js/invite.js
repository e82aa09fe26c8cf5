// The code of an invitation is in the URL fragment, which browsers never send, so that no log and no referrer contains it.
const form = document.querySelector("form[data-invite]");

function open() {
  const code = location.hash.slice(1);
  if (!code) return;
  // Remove the code from the address, and so from the history, before anything else happens.
  history.replaceState(null, "", location.pathname);
  form.elements.code.value = code;
  form.requestSubmit();
}

open();
// Opening another link in the same tab changes only the fragment.
addEventListener("hashchange", open);
