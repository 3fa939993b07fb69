"use strict";
// The page's script: reads the facts beside it, and puts every text of the user's into the page as text only.
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const say = facts.say;
  const root = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const COMPONENTS = [...facts.weights.map(([name]) => name), "boost"];

  const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
  const thousands = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
  const folded = (text) => text.normalize("NFKC").toLowerCase();

  // A new element; children are elements or texts, and texts stay texts.
  function el(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  function svg(width, height, ...shapes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    made.setAttribute("viewBox", `0 0 ${width} ${height}`);
    made.setAttribute("preserveAspectRatio", "none");
    made.setAttribute("aria-hidden", "true");
    for (const [kind, x, y, w, h] of shapes) {
      const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [key, value] of Object.entries({ class: kind, x, y, width: Math.max(0, w), height: h })) rect.setAttribute(key, value);
      made.append(rect);
    }
    return made;
  }

  const announce = (text) => { $("said").textContent = text; };

  // -- colours --------------------------------------------------------------------------------------------------

  const THEMES = ["system", "light", "dark"];
  const redraws = [];
  let theme = "system";
  let printing = false;

  function kept(value) {
    try {
      if (value === undefined) return localStorage.getItem("dream-report-theme");
      localStorage.setItem("dream-report-theme", value);
    } catch { /* a browser may keep nothing for a file */ }
    return null;
  }

  function paint() {
    const wanted = printing ? "light" : theme;
    if (wanted === "system") delete root.dataset.theme;
    else root.dataset.theme = wanted;
    $("theme-now").textContent = say[`theme_${theme}`];
    redraws.forEach((redraw) => redraw());
  }

  theme = THEMES.includes(kept()) ? kept() : "system";
  $("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    kept(theme);
    paint();
  });
  dark.addEventListener("change", paint);
  matchMedia("print").addEventListener("change", (event) => { printing = event.matches; paint(); });
  addEventListener("beforeprint", () => { printing = true; paint(); });
  addEventListener("afterprint", () => { printing = false; paint(); });

  // -- nights ---------------------------------------------------------------------------------------------------

  const nights = new Map(facts.nights.map((night) => [night.date, night]));
  const gateName = (name) => say.gates[name] || name;
  const refusedAs = (name) => say.refusals[name] || name;

  function said(night) {
    const parts = [];
    if (night.state === "failed") parts.push(say.nights.said_failed);
    if (night.promoted) parts.push(filled(say.nights.said_promoted, { count: night.promoted }));
    if (night.proposed) parts.push(filled(say.nights.said_proposed, { count: night.proposed }));
    if (night.state === "refused") parts.push(filled(say.nights.said_refused, { count: night.refused }));
    if (night.state === "quiet") parts.push(say.nights.said_quiet);
    return parts.join(facts.language === "zh" ? "" : " ");
  }

  function showNight(date) {
    const night = nights.get(date);
    const panel = $("night");
    panel.replaceChildren(el("h3", {}, filled(say.nights.detail, { night: date })));
    if (!night) {
      panel.append(el("p", {}, say.state.none));
      return;
    }
    panel.append(el("p", {}, said(night)), ...phases(night), ...funnel(night), ...made(night));
  }

  function phases(night) {
    const by = {};
    for (const [name, count] of night.counts) {
      const [phase] = name.split("_");
      (by[phase] = by[phase] || []).push(`${say.count[name] || name.slice(phase.length + 1)} ${thousands(count)}`);
    }
    const rows = Object.entries(by).map(([phase, counts]) => el("div", {}, el("dt", {}, say.phase[phase] || phase), el("dd", {}, counts.join(" · "))));
    return rows.length ? [el("h4", {}, say.nights.phases), el("dl", { class: "counts" }, ...rows)] : [];
  }

  function funnel(night) {
    const through = night.promoted + night.proposed;
    const all = night.funnel.reduce((sum, [, count]) => sum + count, through);
    const heading = el("h4", { id: "h-funnel" }, say.nights.funnel);
    if (!all) return [heading, el("p", { class: "quiet" }, say.nights.funnel_none)];
    // What nobody ever asked for is most of a memory: bars of the rest would be too small beside it.
    const silent = night.funnel.reduce((sum, [name, count]) => (name === "recalled" ? sum + count : sum), 0);
    const asked = Math.max(1, all - silent);
    let left = all;
    const rows = night.funnel.map(([name, count]) => {
      const before = left;
      left -= count;
      const bar = before > asked ? el("span", { class: "quiet" }, say.nights.funnel_no_bar) : svg(asked, 10, ["gone-part", 0, 0, before, 10], ["left", 0, 0, left, 10]);
      return el("tr", {},
        el("th", { scope: "row" }, refusedAs(name)),
        el("td", { class: "wide" }, bar),
        el("td", { class: "n" }, thousands(count)),
        el("td", { class: "n" }, thousands(left)));
    });
    const head = [[say.nights.funnel_gate, ""], ["", "wide"], [say.nights.funnel_refused, "n"], [say.nights.funnel_left, "n"]];
    return [heading,
      el("p", { class: "lead" }, filled(say.nights.funnel_lead, { count: thousands(all) })),
      el("table", { class: "plain", "aria-labelledby": "h-funnel" },
        el("thead", {}, el("tr", {}, ...head.map(([text, kind]) => (text ? el("th", { scope: "col", class: kind || null }, text) : el("td", { class: kind }))))),
        el("tbody", {}, ...rows, el("tr", { class: "sum" }, el("th", { scope: "row" }, say.nights.funnel_through), el("td", { class: "wide" }, svg(asked, 10, ["left", 0, 0, through, 10])), el("td", {}), el("td", { class: "n" }, thousands(through)))))];
  }

  function made(night) {
    const found = facts.anatomies.filter((one) => one.night === night.date);
    if (!found.length) return [];
    const items = found.map((one) => {
      const link = el("a", { href: `#scores` }, el("bdi", {}, one.text));
      link.addEventListener("click", () => choose(one.key));
      return el("li", {}, link);
    });
    return [el("h4", {}, say.nights.made), el("ul", { class: "plain" }, ...items)];
  }

  function calendar() {
    const grid = $("calendar");
    const cells = new Map([...grid.querySelectorAll("td[data-day]")].map((cell) => [cell.dataset.day, cell]));
    if (!cells.size) return;
    const days = [...cells.keys()].sort();
    const last = facts.nights.length ? facts.nights[facts.nights.length - 1].date : days[days.length - 1];
    let chosen = null;

    function select(day, focus) {
      const cell = cells.get(day);
      if (!cell) return;
      if (chosen) {
        chosen.removeAttribute("aria-selected");
        chosen.tabIndex = -1;
      }
      chosen = cell;
      cell.setAttribute("aria-selected", "true");
      cell.tabIndex = 0;
      if (focus) cell.focus();
      showNight(day);
    }
    const moved = (day, by) => {
      const date = new Date(`${day}T00:00:00Z`);
      date.setUTCDate(date.getUTCDate() + by);
      return date.toISOString().slice(0, 10);
    };
    const KEYS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -7, ArrowRight: 7, PageUp: -28, PageDown: 28 };
    grid.addEventListener("click", (event) => {
      const cell = event.target.closest("td[data-day]");
      if (cell) select(cell.dataset.day, true);
    });
    grid.addEventListener("keydown", (event) => {
      const cell = event.target.closest("td[data-day]");
      if (!cell) return;
      let day = null;
      if (event.key in KEYS) day = moved(cell.dataset.day, KEYS[event.key]);
      if (event.key === "Home") [day] = days;
      if (event.key === "End") day = days[days.length - 1];
      if (day === null) return;
      event.preventDefault();
      select(day, true);
    });
    selectNight = (day) => select(day, false);
    select(cells.has(last) ? last : days[days.length - 1], false);
    const scroll = $("calendar-scroll");
    scroll.scrollLeft = scroll.scrollWidth;
  }
  let selectNight = () => {};

  // -- scores ---------------------------------------------------------------------------------------------------

  const verdict = (one) => say.verdict[one.verdict] || one.verdict;
  function outcome(one) {
    const failed = one.gates.filter(([, passed]) => !passed).map(([name]) => refusedAs(name));
    return failed.length ? `✕ ${failed.join(" · ")}` : `✓ ${verdict(one)}`;
  }

  const leastOf = (one) => one.least ?? facts.minScore;

  // Three digits, and more where three would hide that a number is below the threshold.
  function digits(number, least) {
    const short = number.toFixed(3);
    return number < least && Number(short) >= least ? number.toFixed(6) : short;
  }

  let choose = () => {};
  let narrow = () => {};
  function scores() {
    const list = $("candidates");
    if (!list) return;
    const options = facts.anatomies.map((one, n) => {
      const option = el("div", { role: "option", id: `o${n}`, class: "option", "aria-selected": "false" },
        el("span", { class: "score" }, digits(one.score, leastOf(one))),
        el("bdi", { class: "option-text", lang: one.language || null }, one.text),
        el("span", { class: "verdict" }, one.night ? `${one.night} · ${verdict(one)}` : outcome(one)));
      option.addEventListener("click", () => select(n));
      return option;
    });
    list.append(...options);
    let at = -1;

    function select(n) {
      if (n < 0 || n >= options.length) return;
      if (at >= 0) options[at].setAttribute("aria-selected", "false");
      at = n;
      options[n].setAttribute("aria-selected", "true");
      list.setAttribute("aria-activedescendant", options[n].id);
      const top = options[n].offsetTop;
      if (top < list.scrollTop) list.scrollTop = top - 6;
      if (top + options[n].offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + options[n].offsetHeight - list.clientHeight + 6;
      $("anatomy").replaceChildren(...anatomy(facts.anatomies[n]));
    }
    function step(by) {
      let n = at + by;
      while (n >= 0 && n < options.length && options[n].hidden) n += by;
      select(n);
    }
    const shown = () => options.map((option, n) => n).filter((n) => !options[n].hidden);
    list.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") step(1);
      else if (event.key === "ArrowUp") step(-1);
      else if (event.key === "Home") select(shown()[0]);
      else if (event.key === "End") select(shown().pop());
      else return;
      event.preventDefault();
    });
    choose = (key) => select(facts.anatomies.findIndex((one) => one.key === key));
    narrow = (fits) => {
      options.forEach((option, n) => { option.hidden = !fits(facts.anatomies[n]); option.style.display = option.hidden ? "none" : ""; });
    };
    select(0);
  }

  function placeOf(one) {
    if (!one.path) return el("span", { class: "place" }, say.gone);
    const [first, last] = one.lines;
    const where = `${one.path}:${first}${last === first ? "" : `-${last}`}`;
    const place = one.href ? el("a", { class: "place", href: one.href }, el("bdi", {}, where)) : el("bdi", { class: "place" }, where);
    return one.more ? el("span", {}, place, el("span", { class: "quiet" }, ` ${filled(say.places_more, { count: one.more })}`)) : place;
  }

  function anatomy(one) {
    const weights = one.weights.length ? one.weights : facts.weights.map(([, weight]) => weight);
    const least = leastOf(one);
    const shares = [...one.parts.map((part, n) => part * weights[n]), one.boost];
    const chips = [[verdict(one), "strong"], [filled(say.scores.recalls, { count: one.recalls })]];
    if (one.questions !== null) chips.push([filled(say.scores.questions, { count: one.questions })]);
    if (one.light !== null) chips.push([filled(say.scores.light, { count: one.light })], [filled(say.scores.rem, { count: one.rem })]);
    return [
      el("h3", { class: "unseen" }, say.scores.heading),
      el("p", { class: "said", lang: one.language || null, dir: "auto" }, one.text),
      el("p", {}, placeOf(one)),
      el("ul", { class: "chips" }, ...chips.map(([text, kind]) => el("li", { class: kind || null }, text))),
      one.night ? el("p", { class: "quiet" }, filled(say.scores.was, { night: one.night })) : null,
      stack(one, shares, least), parts(one, shares, weights, least), ...gates(one),
      one.days.length ? el("p", { class: "quiet" }, `${say.scores.asked_on}: ${one.days.join(", ")}`) : null,
      el("p", { class: "quiet" }, `${say.scores.explain}: `, el("code", {}, `dream explain ${one.id}`)),
    ].filter((child) => child !== null);
  }

  function stack(one, shares, least) {
    const shapes = [["room", 0, 6, 1000, 28]];
    let x = 0;
    shares.forEach((share, n) => {
      const width = Math.min(1000 - x, share * 1000);
      if (width > 0) shapes.push([`c-${COMPONENTS[n]}`, x, 6, Math.max(0.5, width - 2), 28]);
      x += width;
    });
    shapes.push(["threshold", least * 1000 - 1.5, 0, 3, 40]);
    const said = filled(say.scores.bar, { score: digits(one.score, least), threshold: least.toFixed(2) });
    return el("div", { class: "stack", role: "img", "aria-label": said }, svg(1000, 40, ...shapes),
      el("div", { class: "scale" }, el("span", {}, "0"), el("strong", {}, said), el("span", {}, "1")));
  }

  function parts(one, shares, weights, least) {
    const rows = shares.map((share, n) => {
      const name = COMPONENTS[n];
      const last = name === "boost";
      return el("tr", {},
        el("th", { scope: "row" }, el("span", { class: `swatch c-${name}`, "aria-hidden": "true" }), say.component[name], el("span", { class: "how" }, say.formula[name])),
        el("td", { class: "n" }, last ? "" : one.parts[n].toFixed(3)),
        el("td", { class: "n" }, last ? "" : `× ${weights[n].toFixed(2)}`),
        el("td", { class: "n" }, share.toFixed(3)));
    });
    const sum = shares.reduce((total, share) => total + share, 0);
    const head = [[say.scores.component], [say.scores.value, "n"], [say.scores.weight, "n"], [say.scores.share, "n"]];
    return el("table", { class: "plain" },
      el("thead", {}, el("tr", {}, ...head.map(([text, kind]) => el("th", { scope: "col", class: kind || null }, text)))),
      el("tbody", {}, ...rows, el("tr", { class: "sum" },
        el("th", { scope: "row" }, say.scores.total, sum > 1 ? el("span", { class: "how" }, say.scores.clamped) : null),
        el("td", {}), el("td", {}), el("td", { class: "n total" }, digits(one.score, least)))));
  }

  function gates(one) {
    if (!one.gates.length) return [];
    const number = (value) => (value === null ? "" : String(Math.round(value * 1e6) / 1e6));
    const rows = one.gates.map(([name, passed, value, threshold, missing]) => {
      const words = say.missing[name] ? filled(say.missing[name], { value: number(value), threshold: number(threshold) }) : missing;
      return el("tr", {},
        el("th", { scope: "row" }, gateName(name)),
        el("td", { class: "n" }, number(value)),
        el("td", { class: "n" }, value !== null && threshold === null ? say.scores.any : number(threshold)),
        el("td", { class: passed ? "ok" : "no" }, passed ? `✓ ${say.scores.passed}` : "✕ ", passed ? null : el("bdi", {}, words || say.scores.failed)));
    });
    const head = [[say.scores.gate], [say.scores.measured, "n"], [say.scores.needed, "n"], [say.scores.outcome]];
    return [el("h4", {}, say.scores.gates), el("table", { class: "plain gates" },
      el("thead", {}, el("tr", {}, ...head.map(([text, kind]) => el("th", { scope: "col", class: kind || null }, text)))),
      el("tbody", {}, ...rows))];
  }

  // -- charts ---------------------------------------------------------------------------------------------------

  const seconds = (text) => Date.parse(`${text.replace(" ", "T")}${text.length > 10 ? ":00" : "T00:00:00"}Z`) / 1000;
  const dayOf = (time) => new Date(time * 1000).toISOString().slice(0, 10);

  function chart(id, data, series, extra) {
    const box = $(id);
    if (!box) return;
    let plot = null;
    const draw = () => {
      const probe = el("span", { hidden: true });
      box.append(probe);
      const colour = (name) => {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color;
      };
      const axis = { stroke: colour("soft"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") }, font: "12px system-ui, sans-serif" };
      if (plot) plot.destroy();
      plot = new uPlot({
        width: Math.max(240, box.clientWidth - 18), height: 200, tzDate: (time) => uPlot.tzDate(new Date(time * 1e3), "Etc/UTC"),
        cursor: { drag: { x: false, y: false }, points: { show: false } }, legend: { live: true },
        scales: { x: { time: true }, y: { range: (self, low, high) => [0, Math.max(1, high * 1.1)] } },
        axes: [{ ...axis, size: 34, values: (self, splits) => splits.map((time) => dayOf(time).slice(5)), incrs: [1, 2, 7, 14, 28, 56, 91, 182, 365].map((days) => days * 86400), space: 56 },
          { ...axis, size: 58, values: (self, splits) => splits.map((value) => (Number.isInteger(value) ? thousands(value) : "")) }],
        series: [{ label: say.day, value: (self, time) => (time === null ? "—" : dayOf(time)) }, ...series(colour)], ...extra,
      }, data, box);
      probe.remove();
    };
    redraws.push(draw);
    let width = box.clientWidth;
    new ResizeObserver(() => { if (box.clientWidth !== width) { width = box.clientWidth; draw(); } }).observe(box);
  }

  function charts() {
    const value = (self, count) => (count === null ? "—" : thousands(count));
    if (facts.asked.length) {
      const by = new Map(facts.asked.map(([day, ...counts]) => [seconds(day), counts]));
      const first = seconds(facts.asked[0][0]);
      const times = [];
      for (let time = first; time <= seconds(facts.today); time += 86400) times.push(time);
      const of = (n) => times.map((time) => (by.has(time) ? by.get(time)[n] : 0));
      chart("chart-asked", [times, of(0), of(1)], (colour) => [
        { label: say.asked.questions, value, fill: colour("accent"), stroke: colour("accent"), width: 0, paths: uPlot.paths.bars({ size: [0.7, 22] }), points: { show: false } },
        { label: say.asked.answers, value, stroke: colour("recency"), width: 1.5, points: { show: times.length < 40, size: 5 } },
      ]);
    }
    const versions = facts.memory.versions;
    if (versions.length) {
      const end = seconds(facts.today) + 86400;
      const points = versions.map((one) => [seconds(one.at), one.chars]);
      points.push([Math.max(end, points[points.length - 1][0] + 86400), versions[versions.length - 1].chars]);
      // Two changes at one time: the later one is what stood.
      const unique = points.filter(([time], n) => n === points.length - 1 || points[n + 1][0] > time);
      chart("chart-budget", [unique.map(([time]) => time), unique.map(([, chars]) => chars), unique.map(() => facts.memory.budget)], (colour) => [
        { label: say.budget.chars, value, stroke: colour("accent"), fill: colour("wash"), width: 2, paths: uPlot.paths.stepped({ align: 1 }), points: { show: unique.length < 80, size: 6 } },
        { label: say.budget.limit, value, stroke: colour("limit"), width: 1.5, dash: [6, 5], points: { show: false } },
      ]);
    }
  }

  // -- history of MEMORY.md -------------------------------------------------------------------------------------

  const versions = facts.memory.versions;
  const texts = new Map();
  function textOf(n) {
    if (n < 0) return [];
    // From the nearest text that is known, so that no call goes deep.
    let known = n;
    while (known >= 0 && !texts.has(known)) known -= 1;
    let lines = known < 0 ? [] : texts.get(known);
    for (let at = known + 1; at <= n; at += 1) {
      lines = edited(lines, versions[at].edits);
      texts.set(at, lines);
    }
    return lines;
  }
  function edited(before, edits) {
    const lines = [];
    let done = 0;
    for (const [at, cut, put] of edits) {
      for (let n = done; n < at; n += 1) lines.push(before[n]);
      for (const line of put) lines.push(line);
      done = at + cut;
    }
    for (let n = done; n < before.length; n += 1) lines.push(before[n]);
    return lines;
  }

  let showVersion = () => {};
  function history() {
    const slider = $("moment");
    if (!slider) return;
    const LIMIT = 3000;
    const show = () => {
      const n = Number(slider.value);
      const one = versions[n];
      const edits = n === 0 ? [] : one.edits;
      const added = edits.reduce((sum, [, , put]) => sum + put.length, 0);
      const removed = edits.reduce((sum, [, cut]) => sum + cut, 0);
      const parts = [one.at, say.change[one.kind] || one.reason];
      if (one.night) parts.push(filled(say.memory.night, { night: one.night }));
      if (n > 0) parts.push(filled(say.memory.lines, { added, removed }));
      parts.push(`${thousands(one.chars)} ${say.budget.chars}`);
      const words = parts.join(" · ");
      $("moment-said").textContent = words;
      slider.setAttribute("aria-valuetext", words);
      $("earlier").disabled = n === 0;
      $("later").disabled = n === versions.length - 1;
      const lines = $("mark").checked && n > 0 ? marked(textOf(n - 1), edits) : textOf(n).map((line) => ["", line]);
      $("memory-text").replaceChildren(...(lines.length ? lines.slice(0, LIMIT).map(([kind, line]) => drawn(kind, line)) : [el("div", { class: "line comment" }, say.memory.empty)]));
      const changed = $("memory-text").querySelector(".added, .removed");
      if (changed) $("memory-text").scrollTop = changed.offsetTop - 72;
      if (lines.length > LIMIT) $("memory-text").append(el("div", { class: "line comment" }, "[…]"));
    };
    showVersion = (n) => { slider.value = n; show(); };
    slider.addEventListener("input", show);
    $("mark").addEventListener("change", show);
    // The slider says by itself where it stands; the buttons do not.
    const step = (by) => {
      showVersion(Number(slider.value) + by);
      announce($("moment-said").textContent);
    };
    $("earlier").addEventListener("click", () => step(-1));
    $("later").addEventListener("click", () => step(1));
    show();
  }

  function marked(before, edits) {
    const lines = [];
    let done = 0;
    for (const [at, cut, put] of edits) {
      before.slice(done, at).forEach((line) => lines.push(["", line]));
      before.slice(at, at + cut).forEach((line) => lines.push(["removed", line]));
      put.forEach((line) => lines.push(["added", line]));
      done = at + cut;
    }
    before.slice(done).forEach((line) => lines.push(["", line]));
    return lines;
  }

  function drawn(kind, line) {
    const classes = ["line", kind];
    if (/^\s*<\x21--.*--\x3e\s*$/.test(line)) classes.push("comment");
    if (/^#{1,6} /.test(line)) classes.push("title");
    const sign = { added: "+", removed: "−" }[kind] || "";
    const shown = el(kind === "added" ? "ins" : kind === "removed" ? "del" : "div", { class: classes.filter(Boolean).join(" "), dir: "auto", "data-sign": sign }, line);
    if (kind === "added") shown.style.textDecoration = "none";
    if (kind) shown.style.display = "block";
    return shown;
  }

  // -- diary ----------------------------------------------------------------------------------------------------

  function reveal(id) {
    const target = id && document.getElementById(id);
    if (!target) return;
    const closed = target.closest("details");
    if (closed) closed.open = true;
    if (target.matches(".sources li")) {
      target.focus({ preventScroll: true });
      target.scrollIntoView({ block: "center" });
    }
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a.from");
    if (link) reveal(link.hash.slice(1));
  });

  // -- search ---------------------------------------------------------------------------------------------------

  const SHOWN = 30;
  let index = null;
  function indexed() {
    if (index) return index;
    index = [];
    const add = (kind, text, href, go) => index.push({ kind, text, plain: folded(text), href, go });
    facts.anatomies.forEach((one) => add(`${say.nav.scores} · ${one.night || verdict(one)}`, one.text, "#scores", () => choose(one.key)));
    document.querySelectorAll(".entry").forEach((entry) => {
      const title = entry.querySelector("h3").textContent.replace(/\s+/g, " ").trim();
      add(`${say.nav.diary} · ${title}`, entry.querySelector(".prose").textContent.trim(), `#${entry.id}`, null);
      entry.querySelectorAll(".sources li").forEach((item) => add(`${say.nav.diary} · ${item.querySelector(".place").textContent}`, item.querySelector("bdi").textContent, `#${item.id}`, () => reveal(item.id)));
    });
    if (versions.length) {
      const seen = new Set();
      for (let n = versions.length - 1; n >= 0; n -= 1) {
        const put = n === versions.length - 1 ? textOf(n) : versions[n].edits.flatMap(([, , lines]) => lines);
        for (const line of put) {
          if (!line.trim() || seen.has(line)) continue;
          seen.add(line);
          add(`MEMORY.md · ${versions[n].at}`, line, "#memory", () => showVersion(n));
        }
      }
    }
    document.querySelectorAll(".heat tbody th").forEach((tag) => add(say.nav.themes, tag.textContent, "#themes", null));
    facts.nights.forEach((night) => add(say.nav.nights, `${night.date} ${said(night)}`, "#nights", () => selectNight(night.date)));
    return index;
  }

  function snippet(text, query) {
    const at = folded(text).indexOf(query);
    if (at < 0) return [text.slice(0, 120)];
    const start = Math.max(0, at - 40);
    const end = Math.min(text.length, at + query.length + 80);
    return [start ? "…" : "", text.slice(start, at), el("mark", {}, text.slice(at, at + query.length)), text.slice(at + query.length, end), end < text.length ? "…" : ""];
  }

  function searching() {
    const box = $("search");
    const results = $("results");
    const entries = [...document.querySelectorAll(".entry")];

    function close() { results.hidden = true; }
    function run() {
      const typed = box.value.trim();
      const query = folded(typed);
      narrow(query ? (one) => folded(`${one.text} ${one.path} ${one.id}`).includes(query) : () => true);
      let shown = 0;
      entries.forEach((entry) => {
        const fits = !query || folded(entry.textContent).includes(query);
        entry.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      const filtered = $("filtered");
      if (filtered) {
        filtered.hidden = !query;
        filtered.textContent = query ? filled(say.diary.filtered, { shown, total: entries.length }) : "";
      }
      if (!query) { close(); announce(""); return; }
      const found = indexed().filter((one) => one.plain.includes(query));
      const words = found.length ? filled(say.found, { count: found.length }) : filled(say.found_none, { query: typed });
      const items = found.slice(0, SHOWN).map((one) => {
        const link = el("a", { href: one.href }, el("span", { class: "kind" }, one.kind), el("bdi", {}, ...snippet(one.text, query)));
        link.addEventListener("click", () => { close(); if (one.go) one.go(); });
        return el("li", {}, link);
      });
      results.replaceChildren(el("p", {}, words), el("ul", {}, ...items));
      if (found.length > SHOWN) results.append(el("p", { class: "quiet" }, filled(say.found_more, { count: found.length - SHOWN })));
      results.hidden = false;
      announce(words);
    }
    let waiting = null;
    box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(run, 120); });
    $("search-form").addEventListener("submit", (event) => {
      event.preventDefault();
      const first = results.querySelector("a");
      if (first) first.click();
    });
    $("search-form").addEventListener("keydown", (event) => {
      const links = [...results.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") {
        box.value = "";
        run();
        box.focus();
      } else if (event.key === "ArrowDown" && links.length) {
        event.preventDefault();
        links[Math.min(at + 1, links.length - 1)].focus();
      } else if (event.key === "ArrowUp" && at >= 0) {
        event.preventDefault();
        (at ? links[at - 1] : box).focus();
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, textarea")) return;
      event.preventDefault();
      box.focus();
      box.select();
    });
    document.addEventListener("click", (event) => { if (!event.target.closest("#search-form")) close(); });
  }

  calendar();
  scores();
  charts();
  history();
  searching();
  paint();
  reveal(location.hash.slice(1));
})();
