// What a symbol, a word or an equation's number means, where a reader points at it, tabs to it or taps it
// (companion.build.staging, companion.build.equations).
const PAUSE = 150; // milliseconds that a pointer rests before something is said
const NOWHERE = "a, code, pre, h1, h2, h3, h4, button, summary, table, figure, dfn, mjx-container, .claim-card, .hover-note";

function tokensOf(tex) {
  const words = /\\(?:text|mathrm|operatorname|begin|end|label|tag)\s*\*?\{[^{}]*\}/g;
  const kept = tex.includes("C_{\\mathrm{clip}}") ? tex : tex.replace(words, " ");
  return kept.match(/\\[A-Za-z]+|[A-Za-z]|\d+|[^\s{}]/g) || [];
}

// Where the tokens of a symbol stand together; a letter with an index of its own is another thing.
function placesOf(symbol, tokens) {
  const found = [];
  for (let at = 0; at + symbol.length <= tokens.length; at++) {
    if (symbol.every((token, k) => tokens[at + k] === token) && tokens[at + symbol.length] !== "_") found.push(at);
  }
  return found;
}

function definedIn(tex, symbols) {
  const tokens = tokensOf(tex);
  const taken = new Array(tokens.length).fill(false);
  const said = [];
  for (const symbol of symbols) { // the longest first
    const places = placesOf(symbol.tokens, tokens).filter((at) => !symbol.tokens.some((_, k) => taken[at + k]));
    places.forEach((at) => symbol.tokens.forEach((_, k) => { taken[at + k] = true; }));
    if (places.length) said.push({ symbol, at: places[0] });
  }
  return said.sort((one, other) => one.at - other.at).map((one) => one.symbol);
}

function offerDefinitions() {
  const article = document.querySelector("article.bd-article");
  if (!article || !globalThis.DEFINED) return;
  const here = location.pathname;
  const paper = ["noisyhead", "dpgd"].find((name) => here.includes(`/${name}/`) || here.includes(`/${name}-in-ten`));
  const meant = new Map(); // a page of neither paper has what a letter means in each
  DEFINED.symbols.filter((symbol) => !paper || symbol.paper === paper).forEach((symbol) => {
    const other = meant.get(symbol.tex);
    const both = other && other.meaning !== symbol.meaning;
    meant.set(symbol.tex, both ? { ...symbol, meaning: `${other.meaning} ${symbol.meaning}` } : symbol);
  });
  const symbols = [...meant.values()]
    .map((symbol) => ({ ...symbol, tokens: tokensOf(symbol.tex) }))
    .sort((one, other) => other.tokens.length - one.tokens.length);

  const note = document.createElement("div");
  note.className = "hover-note";
  note.id = "hover-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;
  document.body.append(note);
  let shownFor = null;
  let waiting = 0;

  function say(where, lines) {
    if (!lines.length) return;
    note.replaceChildren(...lines.map(([name, meaning]) => {
      const line = document.createElement("p");
      const bold = document.createElement("b");
      bold.append(...[name].flat());
      line.append(bold, ` ${meaning}`);
      return line;
    }));
    show(where);
  }
  function show(where) {
    note.hidden = false;
    note.classList.toggle("wide", where.matches("a.equation"));
    shownFor = where;
    where.setAttribute("aria-describedby", note.id);
    const box = where.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - note.offsetWidth - 8));
    const above = box.top > note.offsetHeight + 12;
    note.style.left = `${left + scrollX}px`;
    note.style.top = `${scrollY + (above ? box.top - note.offsetHeight - 6 : box.bottom + 6)}px`;
  }
  // The equation behind a number: the display's own TeX.
  function display(link) {
    const math = document.createElement("div");
    math.className = "math";
    math.textContent = `\\[${link.dataset.tex}\\]`;
    globalThis.MathJax?.typesetClear?.([note]);
    note.replaceChildren(math);
    show(link);
    globalThis.MathJax?.typesetPromise?.([math]).then(() => { if (shownFor === link) show(link); });
  }
  function hide() { clearTimeout(waiting); note.hidden = true; shownFor = null; }

  const texOf = (container) => globalThis.MathJax?.startup?.document?.getMathItemsWithin?.(container)?.[0]?.math
    ?? [...(globalThis.MathJax?.startup?.document?.math || [])].find((item) => item.typesetRoot === container)?.math;
  function speak(target) {
    const term = target.closest?.("dfn.term");
    if (term) { say(term, [[term.dataset.term, term.dataset.meaning]]); return; }
    const badge = target.closest?.(".verdict"), meant = badge && DEFINED.terms.find(({ word }) => word === badge.textContent);
    if (meant) { say(badge, [[meant.term, meant.meaning]]); return; }
    const number = target.closest?.("a.equation");
    if (number) { display(number); return; }
    const formula = target.closest?.("article mjx-container");
    if (!formula || formula.getAttribute("display") === "true" && formula.offsetWidth > 900) return;
    const tex = texOf(formula);
    if (tex) {
      say(formula, definedIn(tex, symbols).slice(0, 6).map((symbol) => {
        const unit = symbol.unit ? ` (${symbol.unit})` : "";
        return [plain(symbol.tex), symbol.meaning.replace(/\.$/, "") + unit + "."];
      }));
    }
  }
  const LETTERS = { varepsilon: "ε", delta: "δ", rho: "ρ", gamma: "γ", Gamma: "Γ", lambda: "λ", Sigma: "Σ", sigma: "σ",
    theta: "θ", tau: "τ", zeta: "ζ", phi: "φ", psi: "ψ", kappa: "κ", mu: "μ", nu: "ν", eta: "η", alpha: "α", mathcal: "",
    mathrm: "", tilde: "" };
  function plain(tex) {
    const text = tex.replace(/\\tilde\s*\\eta/g, "η̃").replace(/\\([A-Za-z]+)\s*/g, (_, name) => LETTERS[name] ?? name).replace(/[{}]/g, "");
    return [...text.matchAll(/([_^])(\w|\*)(?:(?<=[_^]\w)(\w*))?|[^_^]+/g)].map(([all, kind, first, rest]) => {
      if (!kind) return all;
      const small = document.createElement(kind === "_" ? "sub" : "sup");
      small.textContent = first + (rest || "");
      return small;
    });
  }

  markTerms(article);
  article.addEventListener("pointerover", (event) => {
    clearTimeout(waiting);
    if (event.pointerType !== "touch") waiting = setTimeout(() => speak(event.target), PAUSE);
  });
  article.addEventListener("pointerout", (event) => { if (event.pointerType !== "touch") hide(); });
  article.addEventListener("focusin", (event) => speak(event.target));
  article.addEventListener("focusout", hide);
  let before = null; // what was shown when a finger came down: its first tap shows an equation, the second follows the link
  article.addEventListener("pointerdown", () => { before = shownFor; });
  article.addEventListener("click", (event) => {
    const target = event.target.closest?.("a.equation, dfn.term, .verdict, mjx-container");
    if (target?.matches("a.equation")) {
      if (event.pointerType !== "touch" || target === before) return;
      event.preventDefault();
      speak(target);
    } else if (target && target === shownFor) hide();
    else if (target) speak(target);
    else hide();
  });
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}

// The first place of each word, in running text.
function markTerms(article) {
  const left = new Map();
  DEFINED.terms.forEach((form) => { if (!left.has(form.term)) left.set(form.term, []); left.get(form.term).push(form); });
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const own = walker.currentNode.parentElement;
    if (own.closest("p, li, dd") && !own.closest(NOWHERE) && !own.closest("details:not([open])")) texts.push(walker.currentNode);
  }
  texts.forEach((text) => {
    let node = text;
    for (;;) {
      const forms = [...left.values()].flat();
      const found = forms.map((form) => ({ form, at: wordAt(node.data, form.word) })).filter((one) => one.at >= 0)
        .sort((one, other) => one.at - other.at || other.form.word.length - one.form.word.length)[0];
      if (!found) return;
      const rest = node.splitText(found.at);
      node = rest.splitText(found.form.word.length);
      const mark = document.createElement("dfn");
      mark.className = "term";
      mark.tabIndex = 0;
      mark.setAttribute("aria-describedby", "hover-note");
      Object.assign(mark.dataset, { term: found.form.term, meaning: found.form.meaning });
      rest.replaceWith(mark);
      mark.append(rest);
      left.delete(found.form.term);
    }
  });
}

function wordAt(text, word) {
  const lower = text.toLowerCase();
  const wanted = word.toLowerCase();
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const before = at === 0 || !/[\w-]/.test(text[at - 1]);
    const after = !/[\w-]/.test(text[at + word.length] || " ");
    if (before && after) return at;
  }
  return -1;
}
if (document.readyState === "loading") addEventListener("DOMContentLoaded", offerDefinitions);
else offerDefinitions();
