// Below each figure: the figure as SVG and as PNG (made here, in twice its size), its table as CSV, and how to cite it.
const PNG_SCALE = 2;

function pngOf(image) {
  return new Promise((resolve, reject) => {
    const copy = new Image();
    copy.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = PNG_SCALE * copy.naturalWidth;
      canvas.height = PNG_SCALE * copy.naturalHeight;
      const paper = canvas.getContext("2d");
      paper.fillStyle = "white";
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(copy, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
    };
    copy.onerror = reject;
    copy.src = image.src;
  });
}

function take(address, name) {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

function citation(figure) {
  const caption = figure.querySelector("figcaption .caption-text");
  const title = (caption?.querySelector("strong") || caption)?.textContent.trim().split(". ")[0].replace(/[.,:]$/, "");
  const chapter = document.querySelector("article h1")?.firstChild.textContent.trim();
  const edition = document.querySelector(".edition")?.textContent.trim().toLowerCase();
  const address = location.protocol === "file:" ? "" : ` ${location.href.split("#")[0]}#${figure.id}`;
  return `The Cost of Privacy contributors: “${title || "Figure"}”, in “${chapter}”, The Cost of Privacy: an executable companion${edition ? `, ${edition}` : ""}.${address}`;
}

function button(words, told, action) {
  const made = document.createElement("button");
  Object.assign(made, { type: "button", textContent: words, title: told });
  made.addEventListener("click", () => action(made));
  return made;
}

function link(words, told, address, name) {
  const made = document.createElement("a");
  Object.assign(made, { textContent: words, title: told, href: address });
  if (name) made.download = name;
  return made;
}

function offerFigures() {
  const tables = [...document.querySelectorAll('article a.download[href$=".csv"]')];
  document.querySelectorAll("article figure[id]").forEach((figure) => {
    const image = figure.querySelector('img[src*="_images/"]');
    const words = figure.querySelector("figcaption");
    if (!image || !words || !image.getAttribute("src").endsWith(".svg")) return;
    const name = figure.id;
    const tools = document.createElement("p");
    tools.className = "figure-tools";
    tools.append(link("SVG", "The figure as vector graphics", image.getAttribute("src"), `${name}.svg`));
    if (location.protocol !== "file:") {
      tools.append(button("PNG", "The figure as pixels", async () => {
        const address = URL.createObjectURL(await pngOf(image));
        take(address, `${name}.png`);
        setTimeout(() => URL.revokeObjectURL(address), 10000);
      }));
    }
    const table = tables.find((one) => name.endsWith(decodeURI(one.href).split("/").pop().replace(/\.csv$/, "")));
    if (table) tools.append(link("CSV", "The figure's numbers", table.href, `${name}.csv`));
    else if (tables.length) tools.append(link("data", "The tables of this page", `#${tables[0].closest("section").id}`));
    tools.append(button("cite", "Copies a reference to this figure", async (made) => {
      try {
        await navigator.clipboard.writeText(citation(figure));
        made.textContent = "copied";
        setTimeout(() => { made.textContent = "cite"; }, 2000);
      } catch {
        window.prompt("A reference to this figure:", citation(figure));
      }
    }));
    words.append(tools);
  });
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", offerFigures);
else offerFigures();
