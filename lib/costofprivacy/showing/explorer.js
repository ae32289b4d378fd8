// Each explorer of a page: draws its chart, fits it to the page, and tells in words what it shows.
// `vegaEmbed` is bundled with this file (costofprivacy.showing.explorer.script).

async function explore(element) {
  const part = (name) => element.querySelector(`.explorer-${name}`);
  const spec = JSON.parse(element.querySelector("script").textContent);
  element.hidden = false;
  const options = { mode: "vega-lite", renderer: "svg", actions: false, tooltip: false, bind: part("controls") };
  const { view, vgSpec } = await vegaEmbed(part("chart"), spec, options);
  const figure = document.querySelector(`figure#${element.dataset.instead}`); // no section of that name
  if (figure) figure.hidden = true;

  const source = told(vgSpec.marks).from.data;
  const tell = () => { part("told").textContent = view.data(source)[0]?.told ?? ""; };
  view.addDataListener(source, tell);
  tell();

  const fit = async () => {
    const svg = part("chart").querySelector("svg");
    const beside = svg.getBoundingClientRect().width - view.width();
    const width = Math.max(180, Math.min(720, Math.floor(part("chart").clientWidth - beside)));
    if (Math.abs(width - view.width()) > 1) await view.width(width).runAsync();
  };
  await fit();
  new ResizeObserver(fit).observe(element);
  element.dataset.ready = "yes";
}

function told(marks) {
  for (const mark of marks ?? []) {
    if (mark.name?.startsWith("told") && mark.type === "text") return mark;
    const inner = told(mark.marks);
    if (inner) return inner;
  }
}

document.querySelectorAll(".explorer").forEach((element) => explore(element).catch((error) => {
  element.hidden = true; // the figure stays
  console.error(error);
}));
