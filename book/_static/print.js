// Paper is light, and says where the page is from.
let shown = "";
addEventListener("beforeprint", () => {
  shown = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
  const address = location.protocol === "file:" ? "" : location.href.split("#")[0];
  const said = ["The Cost of Privacy", document.querySelector(".edition")?.textContent.trim(), address].filter(Boolean).join(" · ");
  const sheet = Object.assign(document.createElement("p"), { className: "sheet", textContent: said });
  document.querySelector("#jb-print-docs-body h1")?.after(sheet);
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = shown;
  document.querySelectorAll(".sheet").forEach((sheet) => sheet.remove());
});
// An address that ends in #handout shows a chapter's exercises without their solutions, and the equations that they cite,
// beside a contents list of these alone: a sheet for students.
if (location.hash === "#handout") {
  const exercises = document.getElementById("exercises"), title = document.querySelector("article h1");
  exercises?.querySelectorAll("details, script").forEach((solution) => solution.remove());
  const links = [...exercises?.querySelectorAll('a[href^="#"]:not(.headerlink)') ?? []];
  const cited = new Set(links.map((link) => document.getElementById(link.hash.slice(1))).filter((one) => one?.matches("div.math")));
  const chapter = Object.assign(document.createElement("a"), { href: `${location.pathname}?`, textContent: "the chapter" });
  const told = document.createElement("p");
  told.append("Steps, runs and symbols that the exercises name are in ", chapter, cited.size ? ". They cite:" : ".");
  if (exercises) document.querySelector("article").replaceChildren(title, exercises, told, ...cited);
  links.filter((link) => !document.getElementById(link.hash.slice(1))).forEach((link) => { link.href = chapter.href + link.hash; });
  if (exercises) document.querySelectorAll(".page-toc li").forEach((entry) => entry.querySelector('a[href="#exercises"]') || entry.remove());
}
