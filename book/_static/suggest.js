// The field of the search shows the best pages and claims while someone types; Enter leads to all of them. Nothing is loaded
// before. Pages that are opened as files have no suggestions: browsers fetch nothing for those.
(() => {
const MOST = 6, SHORTEST = 2, PAUSE = 150; // milliseconds without a key
const folder = new URL(".", document.currentScript.src);

const loaded = () => new Promise((resolve, reject) => {
  if (window.bookSearch) return resolve(window.bookSearch);
  const script = Object.assign(document.createElement("script"), { src: new URL("find.js", folder).href, onerror: reject });
  script.onload = () => resolve(window.bookSearch);
  document.head.append(script);
});

function suggestion({ meta }, root) {
  const item = document.createElement("li"), link = document.createElement("a"), kind = document.createElement("span");
  Object.assign(link, { href: new URL(meta.address, root).href, textContent: meta.title });
  Object.assign(kind, { className: "suggested-kind", textContent: meta.verdict ? `claim: ${meta.verdict}` : meta.kind });
  item.append(link, " ", kind);
  return item;
}

function suggest() {
  const form = document.querySelector("#pst-search-dialog form"), field = form?.querySelector("input[name=q]");
  if (!field || location.protocol === "file:") return;
  const list = document.createElement("ul"), told = document.createElement("p");
  Object.assign(list, { className: "suggested", ariaLabel: "The best results; Enter shows all" });
  Object.assign(told, { className: "suggested-count", role: "status" });
  form.after(list, told);
  let last = 0, waiting;
  const answer = async () => {
    const query = field.value.trim(), number = ++last;
    if (query.length < SHORTEST) {
      list.replaceChildren();
      told.textContent = "";
      return;
    }
    const { best, root } = await loaded();
    const found = await best(query, MOST);
    if (number !== last) return; // someone has typed on
    list.replaceChildren(...found.map((one) => suggestion(one, root)));
    told.textContent = found.length ? "Enter shows all results." : "Nothing was found.";
    list.dataset.query = query;
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => answer().catch((reason) => console.info(`no suggestions: ${reason}`)), PAUSE);
  });
  form.parentElement.addEventListener("keydown", (event) => {
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    const stops = [field, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
    if (at < 0 || stops.length < 2) return;
    event.preventDefault();
    stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length].focus();
  });
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", suggest);
else suggest();
})();
