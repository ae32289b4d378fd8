// Each explorer of a page: draws its chart, fits it to the page, and tells in words what it shows. The state of the
// controls, the place of the chosen option for each, stands in the page's address; the last state stays as a ghost.
// `vegaEmbed` is bundled with this file (companion.showing.explorer.script).
const PAUSE = 1200; // milliseconds: changes of one control that follow each other faster are one change
const SETTLED = 250; // milliseconds until the address follows: browsers refuse to have it changed too often

// The state that an address asks for; none where it names no control. A value that cannot be chosen is as if unsaid.
function stateOf(controls, { search, hash }) {
  const said = new Map([...new URLSearchParams(search), ...new URLSearchParams(hash.slice(1))]);
  if (!controls.some((control) => said.has(control.name))) return null;
  return controls.map((control) => {
    const found = said.has(control.name) ? placeOf(control, said.get(control.name).trim().toLowerCase()) : -1;
    return found < 0 ? control.start : found;
  });
}

// What an address asks for and cannot have, in words.
function refused(controls, { search, hash }) {
  const said = new Map([...new URLSearchParams(search), ...new URLSearchParams(hash.slice(1))]);
  return controls.filter((control) => said.has(control.name) && placeOf(control, said.get(control.name).trim().toLowerCase()) < 0)
    .map((control) => `The address asks for ${control.name} = ${said.get(control.name)}, which cannot be chosen. Known are ${listed(control.tokens)}.`)
    .join(" ");
}

const listed = (tokens) => (tokens.length > 8 ? `${tokens[0]}, ${tokens[1]}, …, ${tokens.at(-1)}` : tokens.join(", "));

function placeOf({ tokens }, text) {
  const found = tokens.indexOf(text);
  return found >= 0 || text === "" ? found : tokens.findIndex((token) => token !== "" && Number(token) === Number(text));
}

const hashOf = (controls, state) => `#${controls.map((control, k) => `${control.name}=${control.tokens[state[k]]}`).join("&")}`;

const inWords = (controls, state, kept = () => true) => controls
  .map((control, k) => (kept(k) ? `${control.label}: ${control.labels[state[k]]}` : "")).filter(Boolean).join("; ");

function told(marks) {
  for (const mark of marks ?? []) {
    if (mark.name?.startsWith("told") && mark.type === "text") return mark;
    const inner = told(mark.marks);
    if (inner) return inner;
  }
}

async function explore(element) {
  const part = (name) => element.querySelector(`.explorer-${name}`);
  const { spec, controls } = JSON.parse(element.querySelector("script").textContent);
  const inputs = controls.map((control) => element.querySelector(`[name="${control.name}"]`));
  let state = stateOf(controls, location) ?? controls.map((control) => control.start);
  let before = null;
  let unknown = refused(controls, location);
  for (const parameter of spec.params) {
    const k = controls.findIndex((control) => control.name === parameter.name);
    if (k >= 0) parameter.value = controls[k].options[state[k]];
  }
  element.hidden = false;
  const options = { mode: "vega-lite", renderer: "svg", actions: false, tooltip: false };
  const { view, vgSpec } = await vegaEmbed(part("chart"), spec, options);
  const figure = document.querySelector(`figure#${element.dataset.instead}`); // no section of that name
  if (figure) figure.hidden = true;

  const source = told(vgSpec.marks).from.data;
  const tell = () => { part("told").textContent = view.data(source)[0]?.told ?? ""; };
  view.addDataListener(source, tell);
  tell();

  const show = () => {
    inputs.forEach((input, k) => {
      const words = controls[k].labels[state[k]];
      input.value = state[k];
      if (input.type !== "range") return;
      input.setAttribute("aria-valuetext", words);
      input.parentElement.querySelector(".explorer-value").textContent = words;
    });
    const changed = before !== null && before.some((place, k) => place !== state[k]);
    part("settings").textContent = `${inWords(controls, state)}.`; // on paper, where controls are none
    part("was").textContent = unknown || !changed ? unknown : `Pale line: the last setting (${inWords(controls, before, (k) => before[k] !== state[k])})`;
    return changed;
  };
  const draw = () => {
    const changed = show();
    controls.forEach(({ name, options: choices }, k) => {
      view.signal(name, choices[state[k]]).signal(`${name}_before`, changed ? choices[before[k]] : null);
    });
    if (view.signal("ghost") !== changed) view.signal("ghost", changed).resize(); // its legend has a line more or less
    return view.runAsync();
  };

  let last = { control: -1, at: -Infinity, held: false };
  let settling;
  const settle = () => {
    try { history.replaceState(history.state, "", hashOf(controls, state)); } catch { /* the link can still be copied */ }
  };
  inputs.forEach((input, k) => {
    input.addEventListener("input", () => {
      const at = performance.now();
      if (k !== last.control || (!last.held && at - last.at > PAUSE)) before = state;
      last = { control: k, at, held: true };
      unknown = "";
      state = state.map((place, other) => (other === k ? Number(input.value) : place));
      draw();
      clearTimeout(settling);
      settling = setTimeout(settle, SETTLED);
    });
    input.addEventListener("change", () => { last.held = false; });
  });
  addEventListener("hashchange", () => {
    const asked = stateOf(controls, { search: "", hash: location.hash });
    if (!asked) return; // a place on the page
    unknown = refused(controls, { search: "", hash: location.hash });
    [before, state] = [state, asked];
    draw();
    element.scrollIntoView({ block: "start" });
  });

  const button = part("link").querySelector("button");
  const name = button.textContent;
  button.addEventListener("click", async () => {
    const link = location.href.split("#")[0] + hashOf(controls, state);
    try {
      await navigator.clipboard.writeText(link);
      button.textContent = "Link copied";
      setTimeout(() => { button.textContent = name; }, 2000);
    } catch { // not allowed here: the link stands there, marked, to be copied by hand
      const field = part("link").querySelector("input") ?? document.createElement("input");
      Object.assign(field, { value: link, readOnly: true, ariaLabel: "Link to this setting" });
      button.after(field);
      field.select();
    }
  });

  const fit = async () => {
    const svg = part("chart").querySelector("svg");
    const beside = svg.getBoundingClientRect().width - view.width();
    const width = Math.max(180, Math.min(720, Math.floor(part("chart").clientWidth - beside)));
    if (Math.abs(width - view.width()) > 1) await view.width(width).runAsync();
  };
  show();
  await fit();
  new ResizeObserver(fit).observe(element);
  if (stateOf(controls, location) && parent === window) element.scrollIntoView({ block: "start" });
  element.dataset.ready = "yes";
}

document.querySelectorAll(".explorer").forEach((element) => explore(element).catch((error) => {
  element.hidden = true; // the figure stays
  console.error(error);
}));
