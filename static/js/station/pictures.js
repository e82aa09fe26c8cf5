// What of a document's picture? One that does not come says so in words, where a browser would draw a broken sign, and is asked
// for again when the line is back. And what does the key for more of a document open: the whole text, the picture in full?
const unseen = new WeakMap(); // the words, and the picture that they stand for

function fails(image) {
  const picture = image.closest?.(".picture");
  if (!picture?.isConnected) return;
  const words = document.createElement("p");
  words.className = `${picture.className} picture--none`;
  words.textContent = "The picture does not load.";
  unseen.set(words, picture);
  picture.replaceWith(words);
}

// What happened to a picture does not rise from it; on its way down it is seen.
addEventListener("error", ({ target }) => fails(target), { capture: true });
addEventListener("online", () => {
  for (const words of document.querySelectorAll(".picture--none")) {
    const picture = unseen.get(words), image = picture?.querySelector("img");
    if (!image) continue;
    words.replaceWith(picture);
    image.src = image.src; // asks anew
  }
});
for (const image of document.querySelectorAll(".picture img")) if (image.complete && !image.naturalWidth) fails(image);

/** The whole text, then the picture in full, then as it was. */
export function more(element) {
  const parts = [...element.querySelectorAll("details:not(.picture)"), ...element.querySelectorAll("details.picture")];
  const open = parts.findLastIndex((one) => one.open);
  for (const one of parts) one.open = false;
  if (parts[open + 1]) parts[open + 1].open = true;
}
