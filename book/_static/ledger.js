/* The ledger's table: it is searched by words, sorted by its headers and filtered by four choices. The address keeps
   what was chosen (#verdict=fails&q=ridge), so that it survives a reload and can be linked. A row's own address shows
   that row. */
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.searchable");
  const body = table.tBodies[0];
  const box = table.closest(".table-scroll");
  const names = ["paper", "verdict", "consequence", "chapter"];
  const heads = [...table.tHead.rows[0].cells];
  const column = (name) => heads.findIndex((cell) => cell.textContent.toLowerCase() === name);
  const rows = [...body.rows];
  const simple = (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  // Formulas are still their source here: MathJax comes later.
  const words = new Map(rows.map((row) => [row, simple(
    [...row.cells].map((cell) => cell.dataset.search ?? cell.textContent).join(" "))]));

  const bar = document.createElement("div");
  bar.className = "ledger-filters";
  const search = Object.assign(document.createElement("input"), { type: "search" });
  const searched = document.createElement("label");
  searched.append("search", search);
  bar.append(searched);
  const choices = Object.fromEntries(names.map((name) => {
    const label = document.createElement("label");
    const select = document.createElement("select");
    const rank = (row) => Number(row.cells[column(name)].dataset.order ?? -1);
    const values = new Set([...rows].sort((a, b) => rank(a) - rank(b)).map((row) => row.dataset[name]).filter(Boolean));
    const labelOf = (value) => {
      const cell = rows.find((row) => row.dataset[name] === value).cells[column(name)];
      return (cell.querySelector(".verdict") ?? cell).textContent;
    };
    select.append(new Option("any", ""), ...[...values].map((value) => new Option(labelOf(value), value)));
    label.append(name, select);
    bar.append(label);
    return [name, select];
  }));
  const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Show all" });
  bar.append(reset);
  box.before(bar);
  const count = Object.assign(document.createElement("p"), { className: "ledger-count" });
  count.setAttribute("role", "status");
  bar.after(count);

  let order = null; // [column, "asc" or "desc"]; without one the rows stand as in the papers
  const value = (row, at) => row.cells[at].dataset.order ?? simple(row.cells[at].textContent);
  const inOrder = new Intl.Collator("en", { numeric: true });
  const sorted = () => {
    if (!order) return rows;
    const [at, way] = order;
    return [...rows].sort((a, b) => (way === "desc" ? -1 : 1) * inOrder.compare(value(a, at), value(b, at)));
  };
  const draw = () => {
    const wanted = simple(search.value).split(/\s+/).filter(Boolean);
    const chosen = sorted().filter((row) => names.every((name) => !choices[name].value || row.dataset[name] === choices[name].value));
    const hits = new Map(chosen.map((row) => [row, wanted.filter((word) => words.get(row).includes(word)).length]));
    const most = Math.max(...hits.values()); // of the words; where no row has them all, those with most of them are shown
    const found = chosen.filter((row) => hits.get(row) === most && (most || !wanted.length));
    body.replaceChildren(...found);
    heads.forEach((head, at) => {
      if (order?.[0] === at) head.setAttribute("aria-sort", order[1] === "asc" ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    count.textContent = found.length
      ? `${found.length} of ${rows.length} claims${most < wanted.length ? `, with ${most} of the ${wanted.length} words` : ""}`
      : `0 of ${rows.length} claims: none is like that, choose less`;
  };
  const keep = () => {
    const chosen = new URLSearchParams(names.filter((name) => choices[name].value).map((name) => [name, choices[name].value]));
    if (search.value) chosen.set("q", search.value);
    if (order) chosen.set("sort", order.join(" "));
    history.replaceState(null, "", `#${chosen}`);
  };
  const read = () => {
    const hash = location.hash.slice(1);
    const chosen = new URLSearchParams(hash.includes("=") ? hash : "");
    names.forEach((name) => { choices[name].value = chosen.get(name) ?? ""; });
    search.value = chosen.get("q") ?? "";
    const [at, way] = (chosen.get("sort") ?? "").split(" ");
    order = heads[Number(at)] && ["asc", "desc"].includes(way) ? [Number(at), way] : null;
    draw();
    if (hash && !hash.includes("=")) location.replace(location.hash); // the row may have been away until now
  };

  heads.forEach((head, at) => { // a header sorts upwards, then downwards, then no longer
    const button = document.createElement("span");
    button.className = "ledger-order";
    button.tabIndex = 0;
    button.setAttribute("role", "button");
    button.append(...head.childNodes);
    head.append(button);
    const turn = () => {
      const way = order?.[0] === at ? { asc: "desc", desc: null }[order[1]] : "asc";
      order = way ? [at, way] : null;
      draw();
      keep();
    };
    button.addEventListener("click", turn);
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      turn();
    });
  });
  bar.addEventListener("input", () => { draw(); keep(); });
  reset.addEventListener("click", () => { history.replaceState(null, "", "#"); read(); });
  window.addEventListener("hashchange", read);
  read();
});
