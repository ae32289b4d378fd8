// A formula that is wider than its place scrolls there, and the keyboard can reach it.
function reach() {
  document.querySelectorAll("mjx-container").forEach((formula) => {
    if (formula.scrollWidth > formula.clientWidth + 1) formula.tabIndex = 0;
    else formula.removeAttribute("tabindex");
  });
}
addEventListener("load", () => window.MathJax?.startup?.promise?.then(reach));
addEventListener("resize", () => requestAnimationFrame(reach));
