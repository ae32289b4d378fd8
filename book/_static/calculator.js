// The calculators of the page that chooses a method: what costofprivacy.estimators.calculator.answer says of records and
// prompt_calculator.prompts of prompts, with the same numbers. The tables of forecasts, the words and the code stand in
// the page, as JSON. tests/book/test_scripts.py holds the two together.
(() => {
  "use strict";
  const HALVINGS = 200; // of an interval that holds a root

  // exp(x²) erfc(x), for x ≥ 0: the series of erf below 2, a continued fraction above.
  function scaled(x) {
    if (x < 2) {
      let term = x, sum = x;
      for (let k = 1; k < 80; k += 1) {
        term *= (2 * x * x) / (2 * k + 1);
        sum += term;
      }
      return Math.exp(x * x) - (2 / Math.sqrt(Math.PI)) * sum;
    }
    let fraction = x;
    for (let k = 120; k > 0; k -= 1) fraction = x + k / 2 / fraction;
    return 1 / (Math.sqrt(Math.PI) * fraction);
  }

  // δ at ε of μ-Gaussian DP, (6) of arXiv:1805.06530: with a = ε/μ − μ/2 and b = a + μ it is Φ(−a) − e^ε Φ(−b).
  function deltaOf(epsilon, mu) {
    const a = epsilon / mu - mu / 2, b = a + mu, density = Math.exp((-a * a) / 2);
    const beyond = (density / 2) * scaled(b / Math.SQRT2);
    if (a >= 0) return (density / 2) * scaled(a / Math.SQRT2) - beyond;
    return 1 - (density / 2) * scaled(-a / Math.SQRT2) - beyond;
  }

  // Where an increasing function of a logarithm passes 0.
  function root(above, low, high) {
    let [from, to] = [Math.log(low), Math.log(high)];
    for (let k = 0; k < HALVINGS; k += 1) {
      const middle = (from + to) / 2;
      [from, to] = above(Math.exp(middle)) ? [from, middle] : [middle, to];
    }
    return Math.exp((from + to) / 2);
  }

  const muOf = (epsilon, delta) => root((mu) => deltaOf(epsilon, mu) > delta, 1e-9, 1e5);
  const epsilonOf = (mu, delta) => root((epsilon) => deltaOf(epsilon, mu) < delta, 1e-12, 1e10);

  function decoded({ axes, methods, scale, curvature }) {
    const place = new Map([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"].map((digit, k) => [digit, k]));
    const values = Object.entries(methods).map(([name, text]) => {
      const nodes = [];
      for (let k = 0; k < text.length; k += 4) {
        const [first, second, up, down] = [...text.slice(k, k + 4)].map((digit) => place.get(digit));
        const y = scale.low + scale.step * (64 * first + second);
        nodes.push([y, y + scale.width * up, y - scale.width * down]);
      }
      return [name, nodes];
    });
    return { axes, most: scale.most, curvature, values };
  }

  // The two nodes around x with their weights; beyond the ends, the end has all the weight.
  function sides(nodes, x) {
    let k = 0;
    while (k < nodes.length - 2 && nodes[k + 1] <= x) k += 1;
    const t = Math.min(Math.max((x - nodes[k]) / (nodes[k + 1] - nodes[k]), 0), 1);
    return [[k, 1 - t], [k + 1, t]];
  }

  // Linear along each axis between the nodes around a point.
  function between(axes, nodes, point) {
    let corners = [[0, 1]];
    axes.forEach((axis, k) => {
      const around = sides(axis, point[k]);
      corners = corners.flatMap(([at, weight]) => around.map(([place, own]) => [at * axis.length + place, weight * own]));
    });
    return [0, 1, 2].map((part) => corners.reduce((sum, [at, weight]) => sum + weight * nodes[at][part], 0));
  }

  // R² of each method and its range, at a point for each.
  function lookUp(table, pointOf, r2) {
    return table.values.map(([name, nodes]) => {
      const y = between(table.axes, nodes, pointOf(name));
      const [middle, low, high] = y.map((each) => r2 * (1 - Math.min(table.most / (1 + Math.exp(-each)), 1)));
      return { name, r2: middle, low, high };
    });
  }

  function forecasts(table, { n, d, epsilon, delta, r2 }) {
    const records = Math.log10(n / (d + 1));
    const pointOf = (name) => {
      const share = table.curvature[name];
      const mu = share ? muOf((1 - share) * epsilon, delta / 2) : muOf(epsilon, delta);
      return [records, records + Math.log10(mu), Math.log(r2 / (1 - r2)), Math.log(d + 1)];
    };
    return lookUp(table, pointOf, r2);
  }

  // A number as code has it, with four digits: without an exponent from a thousandth to a million.
  function literal(value) {
    const [mantissa, exponent] = value.toExponential(3).split("e");
    const power = Number(exponent);
    return power >= -3 && power <= 5 ? String(Number(`${mantissa}e${power}`)) : `${Number(mantissa)}e${power}`;
  }

  // What is wrong with what was entered, in words; nothing if it can be answered.
  function wrong({ n, d, value, delta, r2 }, { records, features }) {
    if (!(Number.isInteger(d) && d >= 1 && d <= features)) return `The number of features must be a whole number from 1 to ${features}.`;
    const least = Math.ceil(records * (d + 1));
    if (!(Number.isInteger(n) && n >= least)) return `For ${d} features the number of records must be a whole number, ${least} or more.`;
    return wrongBudget(value, delta) || (r2 > 0 && r2 < 1 ? "" : "The expected R² must be between 0 and 1.");
  }

  function wrongBudget(value, delta) {
    if (!(value >= 1e-4 && value <= 1e4)) return "The budget must be between 0.0001 and 10000.";
    return delta >= 1e-15 && delta <= 0.1 ? "" : "δ must be between 1e-15 and 0.1.";
  }

  function wrongPrompts({ N, L, D, condition, value, delta }, { dimensions, conditions, shortest, longest, fewest, most }) {
    const whole = (x, low, high) => Number.isInteger(x) && x >= low && x <= high;
    if (!whole(D, ...dimensions)) return `The number of features must be a whole number from ${dimensions.join(" to ")}.`;
    const lengths = [Math.max(shortest, D), longest * D];
    if (!whole(L, ...lengths)) return `For ${D} features the number of labelled tokens must be a whole number from ${lengths.join(" to ")}.`;
    if (!whole(N, fewest * D, most)) return `For ${D} features the number of prompts must be a whole number from ${fewest * D} to ${most}.`;
    if (!(condition >= conditions[0] && condition <= conditions[1])) return `The condition number must be between ${conditions.join(" and ")}.`;
    return wrongBudget(value, delta);
  }

  function currencies({ budget, value, delta }) {
    const epsilon = budget === "epsilon" ? value : epsilonOf(budget === "rho" ? Math.sqrt(2 * value) : value, delta);
    const mu = muOf(epsilon, delta);
    return { epsilon, mu, rho: (mu * mu) / 2 };
  }

  const filled = (code, holes) => code.replace(/\{(\w+)\}/g, (hole, name) => holes[name] ?? hole);

  function answer(table, words, asked) {
    const { n, d, delta, r2 } = asked;
    const spent = currencies(asked), { epsilon } = spent;
    const methods = forecasts(table, { n, d, epsilon, delta, r2 });
    const best = methods.filter((each) => words.choice.includes(each.name)).reduce((first, next) => (next.r2 > first.r2 ? next : first));
    const holes = { method: words.short[best.name], epsilon: literal(epsilon), delta: literal(delta), expected_r2: literal(r2) };
    const code = filled(words.code, holes);
    const plain = r2 - ((d + 1) / n) * (1 - r2);
    return { ...best, ...spent, method: best.name, without_privacy: plain, useful: best.r2 >= words.useless, delta, code, methods };
  }

  // Test errors of heads for prompts. The eigenvalues of the features' covariance are in geometric progression.
  function prompts(table, words, asked) {
    const { N, L, D, delta, condition, tasks } = asked;
    const spent = currencies(asked);
    const raw = Array.from({ length: D }, (_, k) => condition ** (-k / (D - 1)));
    const sum = (term) => raw.reduce((total, each) => total + term(each), 0);
    const all = sum((each) => each), over = (term) => sum((each) => term(each / all));
    const least = 1 - over((x) => (L * x * x) / ((L + 1) * x + 1));
    const square = over((x) => x * x), scale = square / over((x) => (1 + 1 / L) * x ** 3 + (x * x) / L);
    const point = [Math.log10((N * spent.mu) / D ** 2), Math.log(L / D), Math.log(condition), Math.log(D)];
    const learned = lookUp(table, () => point, 1 - least).map(({ name, r2, low, high }) => {
      const error = (share) => Math.min(1 - share + (least * (name === words.private ? D + 2 : 1)) / N, 1);
      return { name, error: error(r2), low: error(high), high: error(low) };
    });
    const known = [[words.none, 1 - scale * square], [words.best, least], [words.zero, 1]];
    const ends = known.map(([name, error]) => ({ name, error, low: error, high: error }));
    const methods = [...learned, ...ends].map((each) => ({ ...each, loss: each.error / least - 1 }));
    const allowed = [words.none, words.private, ...(tasks === words.isotropic ? [words.covariance] : [])];
    const best = allowed.map((name) => methods.find((each) => each.name === name)).reduce((first, next) => (next.error < first.error ? next : first));
    const code = filled(words.code[best.name], { epsilon: literal(spent.epsilon), delta: literal(delta), scale: literal(scale) });
    return { ...best, ...spent, method: best.name, without_privacy: least, useful: best.name !== words.none, delta, code, methods };
  }

  if (typeof document === "undefined") {
    module.exports = { answer, decoded, deltaOf, epsilonOf, literal, muOf, prompts, scaled, wrong, wrongPrompts };
    return;
  }

  const short = (value) => String(Number(value.toPrecision(3)));
  const share = (value) => (Math.abs(value) < 0.005 ? "0" : value.toFixed(2));
  const three = (value) => value.toPrecision(3);
  const percent = (value) => `${short(100 * Math.max(value, 0))} %`;

  const recordsTold = (told) => told.useful
    ? `Use ${told.method}. Its expected R² on new records is ${share(told.r2)}, with a range from ${share(told.low)} to ${share(told.high)}. Without privacy, least squares would reach ${share(told.without_privacy)}. Predicting the mean has an R² of 0.`
    : `No private method is expected to do better than predicting the mean, which has an R² of 0. Without privacy, least squares would reach ${share(told.without_privacy)}. You need more records, fewer features or a larger budget.`;
  const promptsTold = (told) => {
    const range = told.useful ? `, with a range from ${three(told.low)} to ${three(told.high)}` : "";
    const why = told.useful ? "." : ": no private head is expected to have a smaller test error.";
    return `Use the ${told.method}${why} Its expected test error is ${three(told.error)} of a response's variance${range}. This is ${percent(told.loss)} more than the best head without privacy has, ${three(told.without_privacy)}.`;
  };
  // By kind: the controls, what is wrong with them, the answer, and its words and rows.
  const KINDS = {
    records: {
      names: ["n", "d", "budget", "value", "delta", "r2"], wrong, answer, told: recordsTold, count: "n",
      row: (each) => [share(each.r2), `${share(each.low)} to ${share(each.high)}`],
    },
    prompts: {
      names: ["N", "L", "D", "condition", "tasks", "budget", "value", "delta"], wrong: wrongPrompts, answer: prompts, told: promptsTold, count: "N",
      row: (each) => [three(each.error), percent(each.loss), each.low === each.high ? "" : `${three(each.low)} to ${three(each.high)}`],
    },
  };

  function calculate(element) {
    const kind = KINDS[element.dataset.kind], NAMES = kind.names;
    const place = (name) => (kind === KINDS.records ? name : `${element.dataset.kind}-${name}`); // in the address
    const part = (name) => element.querySelector(`.calculator-${name}`);
    const { table: text, words } = JSON.parse(element.querySelector("script").textContent);
    const table = decoded(text);
    const inputs = Object.fromEntries(NAMES.map((name) => [name, element.querySelector(`[name="${name}"]`)]));
    const numbers = () => Object.fromEntries(NAMES.map((name) => [name, inputs[name].matches("select") ? inputs[name].value : Number(inputs[name].value || NaN)]));
    let budget = inputs.budget.value;
    let held = { text: "", mu: NaN }; // what was converted last, in full

    const show = () => {
      const asked = numbers(), fault = kind.wrong(asked, words);
      part("fault").textContent = fault;
      part("answer").hidden = Boolean(fault);
      if (fault) return;
      const told = kind.answer(table, words, asked);
      part("told").textContent = kind.told(told);
      part("budget").textContent = `The budget is ε = ${short(told.epsilon)} at δ = ${literal(told.delta)}. A Gaussian mechanism with this budget has μ = ${short(told.mu)} and ρ = ${short(told.rho)}.`;
      part("warning").textContent = asked.delta * asked[kind.count] >= 1 ? `δ is 1/${kind.count} or more, which permits the publication of one random ${words.record}. Choose a δ far below 1/${kind.count}.` : "";
      const rows = told.methods.map((each) => {
        const row = document.createElement("tr"), name = document.createElement("th");
        name.scope = "row";
        name.textContent = each.name;
        if (each.name === told.method && told.useful) name.className = "calculator-best";
        row.append(name, ...kind.row(each).map((words_) => Object.assign(document.createElement("td"), { textContent: words_ })));
        return row;
      });
      part("methods").replaceChildren(...rows);
      part("code").textContent = told.code;
    };

    // Another currency for the same budget: the number is converted.
    const convert = () => {
      const { value, delta } = numbers(), now = inputs.budget.value;
      if (value > 0 && delta > 0 && delta < 1 && now !== budget) {
        const entered = budget === "epsilon" ? muOf(value, delta) : budget === "rho" ? Math.sqrt(2 * value) : value;
        const mu = held.text === `${inputs.value.value} ${delta}` ? held.mu : entered;
        inputs.value.value = Number((now === "epsilon" ? epsilonOf(mu, delta) : now === "rho" ? (mu * mu) / 2 : mu).toPrecision(6));
        held = { text: `${inputs.value.value} ${delta}`, mu };
      }
      budget = now;
      show();
    };

    const said = new URLSearchParams(location.hash.slice(1));
    if (NAMES.some((name) => said.has(place(name)))) {
      NAMES.forEach((name) => { if (said.has(place(name))) inputs[name].value = said.get(place(name)); });
      if (!inputs.budget.value) inputs.budget.value = "epsilon";
      budget = inputs.budget.value;
    }
    const settle = () => {
      try { history.replaceState(history.state, "", `#${NAMES.map((name) => `${place(name)}=${encodeURIComponent(inputs[name].value)}`).join("&")}`); } catch { /* some browsers refuse it for files */ }
    };
    element.addEventListener("input", ({ target }) => (target === inputs.budget ? convert() : show()));
    element.addEventListener("change", settle);
    element.hidden = false;
    show();
    element.dataset.ready = "yes";
  }

  document.querySelectorAll(".calculator:not([data-ready])").forEach(calculate);
})();
