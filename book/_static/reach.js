// A displayed formula that is a little wider than its place is set smaller. One that is wider still scrolls there, and
// the keyboard can reach it.
const SMALLEST = 0.75;
function reach() {
  document.querySelectorAll("mjx-container").forEach((formula) => {
    if (formula.getAttribute("display") === "true" && formula.clientWidth) fit(formula);
    if (formula.scrollWidth > formula.clientWidth + 1) formula.tabIndex = 0;
    else formula.removeAttribute("tabindex");
  });
  // The theme does this for tables too, but not when formulas have made one wider.
  document.querySelectorAll(".pst-scrollable-table-container").forEach((table) => {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
  });
}
function fit(formula) {
  formula.dataset.size ??= formula.style.fontSize || "100%";
  formula.style.fontSize = formula.dataset.size;
  const share = formula.clientWidth / formula.scrollWidth;
  if (share < 1) formula.style.fontSize = `${parseFloat(formula.dataset.size) * Math.max(SMALLEST, 0.98 * share)}%`;
}
addEventListener("load", () => window.MathJax?.startup?.promise?.then(reach));
addEventListener("resize", () => requestAnimationFrame(reach));

// A formula that was folded away is measured when it comes into sight.
addEventListener("toggle", () => requestAnimationFrame(reach), true); // of a fold: it does not bubble

// A link to a card opens it, and so does one to a place within a fold. A card's older address, on its chapter's page,
// leads on: the page has a link to it.
function arrive() {
  const place = document.getElementById(location.hash.slice(1)); // before the browser has found its target
  if (place?.matches(".claim-card")) place.querySelector("details").open = true;
  for (let fold = place?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (!place && location.hash.startsWith("#claim-")) {
    const leads = (link) => link.hash === location.hash && link.pathname.endsWith("-claims.html");
    const card = [...document.links].find(leads);
    if (card) location.replace(card.href);
  }
}
addEventListener("DOMContentLoaded", arrive);
addEventListener("hashchange", arrive);
