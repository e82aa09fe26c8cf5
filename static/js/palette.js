// The command palette: Ctrl K or the button in the bar opens it, arrows choose a result, Enter opens it.

const dialog = document.querySelector("#palette");
if (dialog) start(dialog);

function start(dialog) {
  const field = dialog.querySelector("input");
  const list = dialog.querySelector("[role=listbox]");
  const status = dialog.querySelector("[role=status]");
  const opener = document.querySelector("[data-palette]");
  const mac = /Mac|iP(hone|ad)/.test(navigator.platform);
  let options = [];
  let chosen = -1;
  let request = null;
  let timer = 0;

  if (opener) {
    opener.setAttribute("role", "button");
    opener.setAttribute("aria-haspopup", "dialog");
    opener.setAttribute("aria-keyshortcuts", mac ? "Meta+K" : "Control+K");
    const hint = opener.querySelector("kbd");
    hint.textContent = mac ? "⌘ K" : "Ctrl K";
    hint.hidden = false;
    opener.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open();
    });
    opener.addEventListener("keydown", (event) => {
      if (event.key !== " ") return;
      event.preventDefault();
      open();
    });
  }

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (dialog.open) dialog.close();
    else open();
  });

  function open() {
    dialog.showModal();
    field.focus();
    field.select();
    search();
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, 120);
  });

  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const last = options.length - 1;
    const steps = { ArrowDown: chosen < last ? chosen + 1 : 0, ArrowUp: chosen > 0 ? chosen - 1 : last };
    if (event.key in steps && options.length) {
      event.preventDefault();
      choose(steps[event.key]);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (chosen >= 0) options[chosen].click();
    }
  });

  // A click on the veil around the dialog closes it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => request?.abort());

  async function search() {
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    const asked = new URLSearchParams({ format: "json", q: field.value, in: dialog.dataset.in });
    try {
      const answer = await fetch(`${dialog.dataset.url}?${asked}`, { signal });
      if (answer.redirected) return fail("You are logged out. Reload the page to log in.");
      if (!answer.ok) return fail("The search failed. Try again.");
      show((await answer.json()).groups);
    } catch {
      if (!signal.aborted) fail("The server can’t be reached. Try again.");
    }
  }

  function fail(words) {
    show([]);
    status.textContent = words;
  }

  function show(groups) {
    options = [];
    list.replaceChildren(...groups.map(group));
    field.setAttribute("aria-expanded", String(options.length > 0));
    const some = `${options.length} result${options.length === 1 ? "" : "s"}`;
    status.textContent = options.length ? some : "Nothing matches. Search for an id, a name, or the first words of a query.";
    choose(options.length ? 0 : -1);
  }

  function group({ name, hits }, number) {
    const box = document.createElement("div");
    const title = document.createElement("p");
    title.textContent = name;
    title.id = `palette-group-${number}`;
    title.className = "label";
    title.setAttribute("role", "presentation");
    box.setAttribute("role", "group");
    box.setAttribute("aria-labelledby", title.id);
    box.append(title, ...hits.map(option));
    return box;
  }

  function option({ title, note, url }) {
    const link = document.createElement("a");
    const words = document.createElement("span");
    link.href = url;
    link.id = `palette-option-${options.length}`;
    link.tabIndex = -1;
    link.setAttribute("role", "option");
    words.textContent = title;
    words.dir = "auto";
    link.append(words);
    if (note) {
      const beside = document.createElement("span");
      beside.textContent = note;
      beside.className = "small muted";
      link.append(" ", beside);
    }
    options.push(link);
    return link;
  }

  function choose(place) {
    chosen = place;
    options.forEach((one, number) => one.setAttribute("aria-selected", String(number === place)));
    if (place < 0) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", options[place].id);
    options[place].scrollIntoView({ block: "nearest" });
  }
}
