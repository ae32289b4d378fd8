// The search: suggestions while someone types into the field of any page, and the search page. What is found are sections,
// claims, works cited and names of the library, in sections.js, which is loaded with the first letter typed, from a folder too.
(() => {
const KINDS = { chapter: 1, claim: 0.7, "ledger and errata": 0.5, "library reference": 0.25 }; // and what each is worth
const FIELDS = [[8, 0.6], [3, 0.6], [1, 0.6]]; // heading, page and text: what a word in each is worth, and how length counts
const SATURATION = 6, ALIKE = 0.5, NAMED = 2, ALL = 1.5; // of a word's count; a synonym's or a word's begun; a heading that has the query; a page with all words
const CLAIM = "claim", SHARED = 5; // pages at most that have a heading which says what they are about
const MOST = 6, AT_ONCE = 10, PAUSE = 150, LONG = 180; // suggestions, results; milliseconds; letters of a snippet
const STOP = new Set(("a about all am an and any are as at be been between but by can could did difference do does for from get had has have how i if in "
  + "into is it its me my no not of on one or our s should so some such than that the their them then there these they "
  + "this to too us was we were what when where which who why will with would you your").split(" "));
const SYNONYMS = [
  "poisoned corrupted contaminated perturbed perturbation attacked attack adversarial adversary malicious",
  "order placement placed position", "choose choosing chosen choice pick select selection", "end last final", "best better beat win improve help",
  "record row person people individual patient user", "prove proof derivation derive", "mistake slip erratum errata correction wrong",
  "speed fast time", "publish release publication", "safe protect protected protection private", "install setup pip", "feature covariate predictor column variable", "category categories categorical",
  "response label target outcome", "guarantee promise", "need required enough", "epsilon budget", "cite citation bibtex", "twice several repeated", "centre center", "licence license",
];

const root = new URL("../", document.currentScript.src);
const element = (tag, properties = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

const GREEK = { α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", ζ: "zeta", η: "eta", θ: "theta", κ: "kappa", λ: "lambda",
  μ: "mu", ρ: "rho", σ: "sigma", τ: "tau" };
const known = new Map();
/** A word without its ending, British or American: "clipping" and "clipped" are "clip", "normalize" is "normalis". */
function stem(word) {
  if (!known.has(word)) known.set(word, GREEK[word] ?? word.replace(/([iy])z/g, "$1s").replace(/(?<=..)our/g, "or").replace(/(?<=..)ies$/, "y")
    .replace(/(?<=...)(?:(?<=is)ations?|(?<=is)er|ing|ed|es|(?<!s)s|e)$/, "").replace(/([bdglmnprt])\1$/, "$1"));
  return known.get(word);
}
/** The words of a text that count; "4.2", "A.6" and "private_bounds" are words, too; "do not hold" is "fail". */
const words = (text) => (text.toLowerCase().replace(/\b(?:do|does|did) not hold\b/g, "fail").match(/[\p{L}\p{N}_]+(?:\.\p{N}+)*/gu) ?? []).filter((word) => !STOP.has(word)).map(stem);

const alike = new Map();
for (const group of SYNONYMS.map(words)) for (const word of group) alike.set(word, [...(alike.get(word) ?? []), ...group]);

/** The entries, with the words' counts in each: for each word a map from the entry's number to its counts by field. */
function prepared(pages) {
  const entries = [], postings = new Map(), sums = FIELDS.map(() => 0), shared = new Map();
  for (const [, , ...sections] of pages) for (const [, heading] of sections) shared.set(heading, (shared.get(heading) ?? 0) + 1);
  for (const [address, kind, ...sections] of pages) for (const [anchor, heading, text, verdict, style] of sections) {
    const page = heading === sections[0][1] ? "" : sections[0][1];
    const fields = [shared.get(heading) > SHARED ? "" : heading, page, `${text} ${verdict ?? ""}`].map(words);
    fields.forEach((field, number) => {
      sums[number] += field.length;
      for (const word of field) {
        if (!postings.has(word)) postings.set(word, new Map());
        const counts = postings.get(word);
        if (!counts.has(entries.length)) counts.set(entries.length, FIELDS.map(() => 0));
        counts.get(entries.length)[number]++;
      }
    });
    entries.push({ address: `${address}#${anchor}`, kind: verdict ? CLAIM : kind, heading, page, text, verdict, style,
      lengths: fields.map((field) => field.length), named: ` ${fields[0].join(" ")} ` });
  }
  return { entries, postings, means: sums.map((sum) => sum / entries.length) };
}

/** The entries that answer a query, best first: BM25 over the fields, times the part of the query that is there. */
function ranked({ entries, postings, means }, query, kind) {
  const terms = words(query), phrase = ` ${terms.join(" ")} `, scores = new Map(), pages = new Map();
  let total = 0;
  for (const term of terms) {
    const begun = postings.has(term) ? [] : [...postings.keys()].filter((word) => word.startsWith(term));
    const forms = new Map([...begun, ...(alike.get(term) ?? [])].map((word) => [word, ALIKE])).set(term, 1), found = new Map();
    for (const [word, worth] of forms) for (const [entry, counts] of postings.get(word) ?? []) {
      const count = counts.reduce((sum, each, field) => sum + (FIELDS[field][0] * each)
        / (1 - FIELDS[field][1] + (FIELDS[field][1] * entries[entry].lengths[field]) / means[field]), 0);
      found.set(entry, Math.max(found.get(entry) ?? 0, (worth * count) / (SATURATION + count)));
    }
    const rarity = Math.log(1 + entries.length / (1 + (postings.get(term)?.size ?? found.size)));
    total += rarity;
    for (const [entry, worth] of found) {
      const [score, part] = scores.get(entry) ?? [0, 0];
      scores.set(entry, [score + rarity * worth, part + rarity]);
      const page = entries[entry].address.split("#")[0];
      pages.set(page, (pages.get(page) ?? new Set()).add(term));
    }
  }
  const whole = new Set(terms).size, all = (address) => (pages.get(address.split("#")[0]).size === whole ? ALL : 1);
  return [...scores].map(([number, [score, part]]) => ({ ...entries[number], score: score * (part / total) * all(entries[number].address)
    * KINDS[entries[number].kind] * (entries[number].named.includes(phrase) ? NAMED : 1) }))
    .filter((entry) => !kind || entry.kind === kind).sort((one, other) => other.score - one.score);
}

/** A piece of a text in which most of the words stand that were asked for, these marked. */
function snippet(text, query, headline) {
  const asked = new Set(words(query).flatMap((term) => [term, ...(alike.get(term) ?? [])]));
  const hits = [...text.matchAll(/[\p{L}\p{N}_.]*[\p{L}\p{N}_]/gu)].filter(([word]) => words(word).some((each) => asked.has(each)));
  const near = (at) => new Set(hits.filter(({ index }) => index >= at && index < at + LONG).flatMap(([word]) => words(word))).size;
  const best = headline ? 0 : hits.reduce((at, { index }) => (near(index) > near(at) ? index : at), 0);
  const stop = text.lastIndexOf(". ", best), start = stop < 0 ? 0 : stop + 2, from = best - start < LONG / 2 ? start : best;
  const to = text.length - from > LONG * 1.3 ? text.lastIndexOf(" ", from + LONG) : text.length, pieces = [from ? "… " : ""];
  let at = from;
  for (const { 0: word, index } of hits.filter((hit) => hit.index >= at && hit.index < to)) {
    pieces.push(text.slice(at, index), element("mark", { textContent: word }));
    at = index + word.length;
  }
  return [...pieces, text.slice(at, to), to < text.length ? " …" : ""];
}

/** A result as an item of a list: the heading, where it stands, and a snippet; of a claim its verdict and headline. */
function item({ address, heading, page, kind, text, verdict, style }, query) {
  const link = element("a", { href: new URL(address, root).href, textContent: heading });
  const first = element("p", { className: "found-title" }, link, " ", element("span", { className: "found-place", textContent: page || kind }));
  if (verdict) first.prepend(element("span", { className: style, textContent: verdict }), " ");
  return element("li", { className: "found-item" }, first, element("p", { className: "found-excerpt" }, ...snippet(text, query, verdict)));
}

let index;
const loaded = () => index ??= new Promise((resolve, reject) => {
  document.head.append(element("link", { rel: "stylesheet", href: new URL("_static/find.css", root).href }),
    element("script", { src: new URL("_static/sections.js", root).href, onerror: reject, onload: () => resolve(prepared(window.bookSections)) }));
});

/** Results below a form while someone types: a few as suggestions, or on the search page as many as are asked for. */
function attach(form, most, choice) {
  const field = form.querySelector("input[name=q]"), list = element("ol", { className: "found" });
  const told = element("p", { className: "found-count", role: "status" });
  const more = element("button", { type: "button", className: "found-more", textContent: "More results", hidden: true });
  let results = [], waiting;
  const extend = () => {
    const at = list.children.length;
    list.append(...results.slice(at, at + most).map((one) => item(one, field.value)));
    more.hidden = !choice || list.children.length === results.length;
    if (at) list.children[at].querySelector("a").focus();
  };
  const answer = async () => {
    const index = await loaded(), query = field.value.trim();
    results = ranked(index, query, choice?.value);
    list.replaceChildren();
    extend();
    told.textContent = !query ? "" : !results.length ? `Nothing was found for “${query}”.`
      : choice ? `${results.length} result${results.length === 1 ? "" : "s"} for “${query}”.` : "Enter shows all results.";
    if (choice) history.replaceState(null, "", `?${new URLSearchParams({ q: query, ...(choice.value && { kind: choice.value }) })}`);
    list.dataset.query = query;
  };
  const soon = () => answer().catch(() => { told.textContent = "The search could not be loaded."; });
  more.addEventListener("click", extend);
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(soon, PAUSE);
  });
  form.parentElement.addEventListener("keydown", (event) => {
    const stops = [field, ...list.querySelectorAll("a")], at = stops.indexOf(document.activeElement);
    if (!["ArrowDown", "ArrowUp"].includes(event.key) || at < 0 || stops.length < 2) return;
    event.preventDefault();
    stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length].focus();
  });
  if (!choice) return form.after(list, told);
  form.after(element("label", { className: "found-chooser" }, "Search in ", choice), told, list, more);
  form.addEventListener("submit", (event) => { event.preventDefault(); soon(); });
  choice.addEventListener("change", soon);
  const asked = new URLSearchParams(location.search);
  field.value = asked.get("q") ?? "";
  choice.value = asked.get("kind") ?? "";
  return soon();
}

window.bookSearch = async (query) => ranked(await loaded(), query); // for the console, and for tests
const page = document.querySelector(".bd-search-container form.bd-search"), dialog = document.querySelector("#pst-search-dialog form");
if (dialog) attach(dialog, MOST);
if (page) attach(page, AT_ONCE, element("select", { className: "found-choice" },
  ...["", ...Object.keys(KINDS)].map((value) => element("option", { value, textContent: value || "everything" }))));
})();
