// Pictures of documents: a picture that fails to load is replaced by a notice and requested again when the browser is
// online. Also the key that shows more of a document: the full text, then the large picture.
const unseen = new WeakMap(); // the notice, and the picture that it replaces

function fails(image) {
  const picture = image.closest?.(".picture");
  if (!picture?.isConnected) return;
  const words = document.createElement("p");
  words.className = `${picture.className} picture--none`;
  words.textContent = "The picture can’t be loaded.";
  unseen.set(words, picture);
  picture.replaceWith(words);
}

// Load events of pictures do not bubble, so listen in the capture phase.
addEventListener("error", ({ target }) => fails(target), { capture: true });
addEventListener("online", () => {
  for (const words of document.querySelectorAll(".picture--none")) {
    const picture = unseen.get(words), image = picture?.querySelector("img");
    if (!image) continue;
    words.replaceWith(picture);
    image.src = image.src; // requests it again
  }
});
for (const image of document.querySelectorAll(".picture img")) if (image.complete && !image.naturalWidth) fails(image);

/** Show the full text, then the large picture, then the original state. */
export function more(element) {
  const parts = [...element.querySelectorAll("details:not(.picture)"), ...element.querySelectorAll("details.picture")];
  const open = parts.findLastIndex((one) => one.open);
  for (const one of parts) one.open = false;
  if (parts[open + 1]) parts[open + 1].open = true;
}
