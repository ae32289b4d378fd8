/* The ledger's table: DataTables searches and sorts it, four choices filter it, and the address keeps what was chosen
   (#verdict=fails&q=ridge), so that it survives a reload and can be linked. A row's own address shows that row. */
document.addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.searchable");
  const box = table.closest(".table-scroll");
  const names = ["paper", "verdict", "consequence", "chapter"];
  const column = (name) => [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.toLowerCase() === name);
  const rows = [...table.tBodies[0].rows];

  const bar = document.createElement("div");
  bar.className = "ledger-filters";
  const choices = Object.fromEntries(names.map((name) => {
    const label = document.createElement("label");
    const select = document.createElement("select");
    const rank = (row) => Number(row.cells[column(name)].dataset.order ?? -1);
    const values = new Set([...rows].sort((a, b) => rank(a) - rank(b)).map((row) => row.dataset[name]).filter(Boolean));
    select.append(new Option("any", ""), ...[...values].map((value) => new Option(value)));
    label.append(name, select);
    bar.append(label);
    return [name, select];
  }));
  const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Show all" });
  bar.append(reset);
  box.before(bar);

  const data = new window.DataTable(table, {
    paging: false,
    autoWidth: false,
    order: [],
    layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
    language: { zeroRecords: "No claim is like that. Choose less." },
  });
  const search = Object.assign(document.createElement("input"), { type: "search" });
  const searched = document.createElement("label");
  searched.append("search", search);
  bar.prepend(searched);
  const count = Object.assign(document.createElement("p"), { className: "ledger-count" });
  count.setAttribute("role", "status");
  bar.after(count);
  data.search.fixed("chosen", (_, __, index) => {
    const own = data.row(index).node().dataset;
    return names.every((name) => !choices[name].value || own[name] === choices[name].value);
  });

  const draw = () => {
    data.search(search.value).draw();
    count.textContent = `${data.rows({ search: "applied" }).count()} of ${rows.length} claims`;
  };
  const keep = () => {
    const chosen = new URLSearchParams(names.filter((name) => choices[name].value).map((name) => [name, choices[name].value]));
    if (search.value) chosen.set("q", search.value);
    const [order] = data.order();
    if (order?.[1]) chosen.set("sort", order.join(" "));
    history.replaceState(null, "", `#${chosen}`);
  };
  let reading = false;
  const read = () => {
    reading = true;
    const hash = location.hash.slice(1);
    const chosen = new URLSearchParams(hash.includes("=") ? hash : "");
    names.forEach((name) => { choices[name].value = chosen.get(name) ?? ""; });
    search.value = chosen.get("q") ?? "";
    const [at, way] = (chosen.get("sort") ?? "").split(" ");
    data.order(way ? [[Number(at), way]] : []);
    draw();
    if (hash && !hash.includes("=")) location.replace(location.hash); // the row may have been away until now
    reading = false;
  };

  bar.addEventListener("input", () => { draw(); keep(); });
  reset.addEventListener("click", () => { history.replaceState(null, "", "#"); read(); });
  window.addEventListener("hashchange", read);
  read();
  data.on("order", () => { if (!reading) keep(); });
});
