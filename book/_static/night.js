// Pictures have a palette for the dark in their own files (costofprivacy.book.night): their addresses say which to show.
function turnPictures() {
  const end = document.documentElement.dataset.theme === "dark" ? "#night" : "";
  document.querySelectorAll('.bd-article :is(img[src*="_images/"], source[srcset*="_images/"])').forEach((picture) => {
    const name = picture.localName === "img" ? "src" : "srcset";
    const [plain] = picture.getAttribute(name).split("#");
    if (plain.endsWith(".svg") && picture.getAttribute(name) !== plain + end) picture.setAttribute(name, plain + end);
  });
}
new MutationObserver(turnPictures).observe(document.documentElement, { attributeFilter: ["data-theme"] });
// Paper is light.
let shown = "";
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  turnPictures();
});
addEventListener("afterprint", () => { document.documentElement.dataset.theme = shown; });
if (document.readyState === "loading") addEventListener("DOMContentLoaded", turnPictures);
else turnPictures();
