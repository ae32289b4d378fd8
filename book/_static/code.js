// One switch for the folded code of a page. Without this script each cell has a fold of its own, as it still has in the
// page's source; cells whose code is always in sight have none, and a leading figure's keeps its own: the switch is not about them.
function offerCode() {
  const folds = [...document.querySelectorAll("article.bd-article div.cell:not(.tag_figure-first) details.hide.above-input")];
  const title = document.querySelector("article.bd-article h1");
  if (!folds.length || !title) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-switch";
  button.dataset.cells = folds.length;
  const turn = (shown) => {
    folds.forEach((fold) => { fold.open = shown; });
    document.documentElement.classList.toggle("code-folded", !shown);
    button.setAttribute("aria-pressed", String(shown));
  };
  button.textContent = "Show code";
  button.title = folds.length === 1 ? "One cell of this page" : `The ${folds.length} folded cells of this page`;
  button.addEventListener("click", () => turn(button.getAttribute("aria-pressed") !== "true"));
  title.after(button);
  turn(false);
  // Who follows a link into folded code, or finds a word in it, has it opened by the browser: then its fold is there.
  folds.forEach((fold) => fold.addEventListener("toggle", () => {
    if (fold.open) fold.closest("div.cell").classList.add("code-opened");
    else fold.closest("div.cell").classList.remove("code-opened");
  }));
}
// Above the first code that is always in sight: what it needs to run elsewhere. Pages that say so themselves import no companion.
function sayWhatItNeeds() {
  const cells = [...document.querySelectorAll("article.bd-article div.cell.tag_shown-input:not(.tag_figure-first)")];
  const said = document.querySelector("article.bd-article").textContent.includes("pip install -e");
  if (said || !cells.some((cell) => /^from companion/m.test(cell.textContent))) return;
  const note = Object.assign(document.createElement("p"), { className: "code-needs", textContent: "To run this page’s code elsewhere, clone the project and type " });
  note.append(Object.assign(document.createElement("code"), { className: "literal", textContent: 'pip install -e ".[book]"' }), " in its folder.");
  cells[0].before(note);
}
const prepare = () => { offerCode(); sayWhatItNeeds(); };
if (document.readyState === "loading") addEventListener("DOMContentLoaded", prepare);
else prepare();
