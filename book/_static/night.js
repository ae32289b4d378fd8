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
// Paper is light, and says where the page is from.
let shown = "";
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  turnPictures();
  const address = location.protocol === "file:" ? "" : location.href.split("#")[0];
  const said = ["The Cost of Privacy", document.querySelector(".edition")?.textContent.trim(), address].filter(Boolean).join(" · ");
  const sheet = Object.assign(document.createElement("p"), { className: "sheet", textContent: said });
  document.querySelector("#jb-print-docs-body h1")?.after(sheet);
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
  document.querySelectorAll(".sheet").forEach((sheet) => sheet.remove());
});
if (document.readyState === "loading") addEventListener("DOMContentLoaded", turnPictures);
else turnPictures();
