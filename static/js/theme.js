// The reader's light or dark theme. Runs before the first paint, so that pages never flash.
(() => {
  const key = "assay-theme";
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem(key); } catch { return null; } };
  const keep = (theme) => {
    try {
      if (theme) localStorage.setItem(key, theme);
      else localStorage.removeItem(key);
    } catch { /* a browser without storage keeps the choice for this page only */ }
  };
  const show = (theme) => {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
  };
  show(stored());

  document.addEventListener("DOMContentLoaded", () => {
    const group = document.querySelector("[data-theme-switch]");
    if (!group) return;
    const mark = () => group.querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.value === (root.dataset.theme ?? "")));
    });
    group.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      keep(button.value);
      show(button.value);
      mark();
    });
    group.hidden = false;
    mark();
  });
})();
