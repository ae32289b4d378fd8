// The search page: Pagefind's index where pages come from a server, Sphinx's own search where they are opened as files,
// since browsers fetch nothing for those. Chapters and claims come first; the library's reference when it is asked for.
// On other pages suggest.js loads this when someone types into the field, and takes from `bookSearch` what it shows.
(() => {
const KINDS = ["chapter", "claim", "ledger and errata", "library reference"];
const PREFERENCE = { chapter: 1, claim: 0.6, "ledger and errata": 0.35, "library reference": 0.1 };
const USUAL = KINDS.slice(0, 3), LAST = KINDS[3];
const CHOICES = {
  "": "chapters, claims and the ledger", chapter: "chapters", claim: "claims",
  "ledger and errata": "ledger and errata", "library reference": "library reference",
};
const RANKING = { metaWeights: { title: 12, address: 0, kind: 0, chapter: 0, verdict: 0, headline: 1 }, pageLength: 0.3, termFrequency: 0.8 };
const AT_ONCE = 10, SECTIONS = 3;
const LOOKED_AT = 24, NAMED = 12; // results whose titles are compared with the query, and what a title is worth that is the query

const root = new URL("../", document.currentScript.src);
const element = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

/** Words with one blank around each: "Theorem 3, (5.25)" has " theorem 3 ", and "Theorem 3.1" has not. */
const plain = (text) => ` ${(text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.-][\p{L}\p{N}]+)*/gu) ?? []).join(" ")} `;

/** Results of some kinds, best first; Pagefind knows no preference among pages, so that each kind is asked by itself. */
async function ask(pagefind, query, kinds) {
  const each = [];
  for (const kind of kinds) {
    const { results } = await pagefind.search(query, { filters: { kind } });
    each.push(results.map((result) => ({ ...result, score: result.score * PREFERENCE[kind] })));
  }
  const results = each.flat().sort((one, other) => other.score - one.score);
  const top = await Promise.all(results.slice(0, LOOKED_AT).map(async (result) => {
    const title = plain((await result.data())?.meta.title ?? ""), words = plain(query); // no title where the network failed
    return { ...result, score: result.score * (title.includes(words) ? 1 + (NAMED * words.length) / title.length : 1) };
  }));
  return [...top.sort((one, other) => other.score - one.score), ...results.slice(LOOKED_AT)];
}

/** A result as an item of the list: a card with its verdict and headline, a page with its best sections. */
function item(found) {
  const { title, kind, address, verdict, headline, chapter } = found.meta;
  const link = element("a", { href: new URL(address, root).href, textContent: title });
  const first = element("p", { className: "found-title" }, link);
  if (verdict) {
    const slug = { "holds with a correction": "holds-corrected", "holds under an extra condition": "holds-narrower",
      "does not hold": "fails", "cannot be tested": "untestable" }[verdict] ?? verdict.replaceAll(/\W+/g, "-");
    first.prepend(element("span", { className: `verdict verdict-${slug}`, textContent: verdict }), " ");
  }
  first.append(" ", element("span", { className: "found-kind", textContent: chapter ? `claim, in ${chapter}` : kind }));
  const body = element("p", { className: "found-excerpt" });
  if (headline) body.textContent = headline;
  else body.innerHTML = found.excerpt; // Pagefind escapes it, but for its own marks
  const list = element("li", { className: "found-item" }, first, body);
  const sections = (found.sub_results ?? []).filter((section) => section.anchor && section.anchor.element !== "h1");
  if (kind !== "claim" && sections.length) {
    const links = sections.slice(0, SECTIONS).map((section) =>
      element("li", {}, element("a", { href: new URL(`${address}#${section.anchor.id}`, root).href,
        textContent: section.title.replace(/#$/, "") })));
    list.append(element("ul", { className: "found-sections" }, ...links));
  }
  return list;
}

async function show(pagefind, place, query, kind) {
  place.setAttribute("aria-busy", "true");
  let results = query ? await ask(pagefind, query, kind ? [kind] : USUAL) : [];
  const beyond = query && !kind ? await ask(pagefind, query, [LAST]) : [];
  if (!results.length && !kind) results = beyond;
  const count = query ? `${results.length || "No"} result${results.length === 1 ? "" : "s"} for “${query}”.` : "";
  const list = element("ol", { className: "found" });
  let shown = 0;
  const more = element("button", { type: "button", className: "found-more", textContent: "More results" });
  const extend = async () => {
    const at = list.children.length;
    const next = await Promise.all(results.slice(shown, shown + AT_ONCE).map((result) => result.data()));
    shown += AT_ONCE;
    list.append(...next.filter(Boolean).map(item));
    more.hidden = shown >= results.length;
    if (at) list.children[at]?.querySelector("a").focus();
  };
  more.addEventListener("click", extend);
  await extend();
  place.replaceChildren(element("p", { className: "found-count", textContent: count, role: "status" }), list, more);
  if (beyond.length && results !== beyond) {
    const address = `?${new URLSearchParams({ q: query, kind: LAST })}`;
    const said = `${beyond.length} in the library reference`;
    place.append(element("p", { className: "found-beyond" }, element("a", { href: address, textContent: said })));
  }
  place.removeAttribute("aria-busy");
  place.dataset.query = `${query}|${kind}`;
}

function start(pagefind) {
  const asked = new URLSearchParams(location.search);
  const form = document.querySelector(".bd-search-container form.bd-search");
  const place = document.getElementById("search-results");
  const field = form.querySelector("input[name=q]");
  const choice = element("select", { name: "kind", ariaLabel: "Search in", className: "found-choice" },
    ...Object.entries(CHOICES).map(([value, textContent]) => element("option", { value, textContent })));
  field.value = asked.get("q") ?? "";
  choice.value = KINDS.includes(asked.get("kind")) ? asked.get("kind") : "";
  form.after(element("label", { className: "found-chooser" }, "Search in ", choice));
  const again = () => {
    const query = field.value.trim(), state = new URLSearchParams({ q: query, ...(choice.value && { kind: choice.value }) });
    history.replaceState(null, "", `?${state}`);
    return show(pagefind, place, query, choice.value);
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); again(); });
  choice.addEventListener("change", again);
  return again();
}

/** Sphinx's own search, whose scripts wait in the page. */
function fallBack() {
  for (const waiting of document.querySelectorAll("script[data-own-search]"))
    document.head.append(element("script", { src: waiting.getAttribute("src"), async: false }));
  document.getElementById("search-results").before(element("p", { className: "found-note",
    textContent: location.protocol === "file:"
      ? "This copy of the book is read from a folder. There a simpler search answers, which ranks less well."
      : "The usual search could not be loaded. A simpler one answers, which ranks less well." }));
}

async function load() {
  if (location.protocol === "file:") throw new Error("nothing is fetched for files");
  const pagefind = await import(new URL("pagefind/pagefind.js", root).href);
  await pagefind.options({ ranking: RANKING, excerptLength: 30, noWorker: true });
  await pagefind.init();
  return pagefind;
}

/** The best results of the usual kinds, what is known of each. */
async function best(query, most) {
  engine ??= load();
  const results = await ask(await engine, query, USUAL);
  return (await Promise.all(results.slice(0, most).map((result) => result.data()))).filter(Boolean);
}

let engine;
window.bookSearch = { best, root };
if (document.getElementById("search-results")) {
  load().then(start).catch((reason) => {
    console.info(`Pagefind does not answer: ${reason?.stack ?? reason}`);
    fallBack();
  });
}
})();
