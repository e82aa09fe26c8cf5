// Keys of the page that compares two lists: the arrows choose a list or neither, z takes the last answer back.

const KEYS = { ArrowLeft: "left", ArrowRight: "right", ArrowDown: "same" };

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
  const side = KEYS[event.key];
  const selector = side ? `#lists [name=side][value=${side}]` : event.key === "z" ? "[name=undo]" : "";
  const button = selector && document.querySelector(selector);
  if (!button) return;
  event.preventDefault();
  button.click();
});
