// Behavior of every page: menus close, confirmations can be closed, the current step scrolls into view, secrets can be copied.
const menus = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
  if (event.target.closest("[data-close-note]")) event.target.closest(".note").remove();
  const copy = event.target.closest("[data-copy]");
  if (copy) copyText(copy);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

async function copyText(button) {
  const text = document.querySelector(button.dataset.copy).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy it manually";
  }
}

const steps = document.querySelector(".steps");
const here = steps?.querySelector("[aria-current]");
if (here && steps.scrollWidth > steps.clientWidth) steps.scrollLeft = here.offsetLeft - 24;

for (const button of document.querySelectorAll("[data-close-note], [data-copy]")) button.hidden = false;

// A long list of checkboxes gets a filter field, and buttons that select or clear the visible boxes.
for (const tools of document.querySelectorAll("[data-narrows]")) {
  const choices = [...document.querySelector(tools.dataset.narrows).querySelectorAll(".choice")];
  const field = tools.querySelector("input");
  tools.hidden = false;
  field.addEventListener("input", () => {
    const words = field.value.trim().toLowerCase();
    for (const choice of choices) choice.hidden = !choice.textContent.toLowerCase().includes(words);
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  tools.addEventListener("click", (event) => {
    const wanted = event.target.dataset.check;
    if (wanted) for (const choice of choices) if (!choice.hidden) choice.querySelector("input").checked = wanted === "all";
  });
}

// A button adds its word to a text field.
for (const button of document.querySelectorAll("[data-adds]")) {
  const field = document.querySelector(button.dataset.to);
  button.hidden = false;
  button.addEventListener("click", () => {
    const words = field.value.split(/\s+/).filter(Boolean);
    if (!words.includes(button.dataset.adds)) field.value = [...words, button.dataset.adds].join(" ");
  });
}

// A digit chooses the grade of a form; not while the reader types, holds a modifier or holds the key down.
for (const form of document.querySelectorAll("form[data-digits]")) {
  const choices = [...form.elements[form.dataset.digits]];
  for (const hint of form.querySelectorAll("[data-digits-hint]")) hint.hidden = false;
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("textarea, select, dialog[open], input:not([type=radio], [type=checkbox])");
    if (typing || event.repeat || event.ctrlKey || event.altKey || event.metaKey || !/^[0-9]$/.test(event.key)) return;
    const wanted = choices.find((choice) => choice.value === event.key);
    if (!wanted) return;
    event.preventDefault();
    wanted.checked = true;
    wanted.focus();
    wanted.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

// The list of collections gets a filter field if it is long.
for (const field of document.querySelectorAll("[data-menu-filter]")) {
  const panel = field.parentElement;
  const links = [...panel.querySelectorAll("nav a")];
  field.hidden = false;
  panel.parentElement.addEventListener("toggle", () => {
    if (panel.parentElement.open) field.querySelector("input").focus();
  });
  field.addEventListener("input", (event) => {
    const words = event.target.value.trim().toLowerCase();
    for (const link of links) link.hidden = !link.textContent.toLowerCase().includes(words);
    panel.querySelector("[data-menu-nothing]").hidden = links.some((link) => !link.hidden);
  });
}

// A box that scrolls sideways fades at the edges beyond which it continues.
const resized = new ResizeObserver((changes) => {
  for (const { target } of changes) markEdges(target.matches(".scroll") ? target : target.parentElement);
});

function markEdges(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  const start = box.scrollLeft > 1;
  const end = box.scrollLeft < hidden - 1;
  box.dataset.more = start && end ? "both" : start ? "start" : end ? "end" : "";
}

function watchBoxes(root) {
  for (const box of root.querySelectorAll(".scroll")) {
    resized.observe(box);
    if (box.firstElementChild) resized.observe(box.firstElementChild);
    box.addEventListener("scroll", () => markEdges(box), { passive: true });
  }
}

watchBoxes(document);
document.addEventListener("htmx:load", (event) => {
  if (event.target !== document.body) watchBoxes(event.target.parentElement ?? document);
});
