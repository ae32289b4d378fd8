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
// An address that ends in #handout shows a chapter's exercises without their solutions: a sheet for students.
if (location.hash === "#handout") {
  const exercises = document.getElementById("exercises"), title = document.querySelector("article h1");
  exercises?.querySelectorAll("details, script").forEach((solution) => solution.remove());
  if (exercises) document.querySelector("article").replaceChildren(title, exercises);
}
