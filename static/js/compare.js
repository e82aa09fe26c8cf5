// The bars of a chart are one stop of the Tab key, and arrow keys go from bar to bar. Without scripts each bar is a separate link.
for (const chart of document.querySelectorAll(".differences svg")) {
  const links = [...chart.querySelectorAll("a.hit")];
  const here = Math.max(0, links.findIndex((link) => link.hasAttribute("aria-current")));
  const stopAt = (place) => links.forEach((link, at) => link.setAttribute("tabindex", at === place ? "0" : "-1"));
  if (links.length) stopAt(here);

  chart.addEventListener("keydown", (event) => {
    const at = links.indexOf(document.activeElement);
    const last = links.length - 1;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
    if (at < 0 || to === undefined || to < 0 || to > last || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stopAt(to);
    links[to].focus();
  });
}
