// Makes pages nicer; every page works without it.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  root.classList.add("js");

  // Theme: the system's, unless chosen.
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const keep = (theme) => { try { localStorage.setItem("theme", theme); } catch { /* for this page only */ } };
  const isDark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  if (kept()) root.dataset.theme = kept();

  // Choices take effect at once and keep what else is in the address.
  for (const form of all("form[data-choices]")) {
    form.addEventListener("change", () => form.requestSubmit());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const words = new URLSearchParams(location.search);
      for (const [key, value] of new FormData(form)) {
        const name = CSS.escape(key);
        if (form.hasAttribute("data-keep") || one(`select[name="${name}"], input[type="date"][name="${name}"]`, form)) {
          if (key === "period" && value) { words.delete("from"); words.delete("to"); }
          if ((key === "from" || key === "to") && words.get("period") !== "custom") continue;
          if (value) words.set(key, value); else words.delete(key);
        }
      }
      words.delete("file");
      const text = words.toString();
      location.assign(location.pathname + (text ? "?" + text : ""));
    });
  }
  for (const link of all("a[data-save]")) {
    const words = new URLSearchParams(location.search);
    words.set("file", link.dataset.save);
    link.href = location.pathname + "?" + words;
  }

  // Menu on narrow screens.
  const menu = one("[data-menu]");
  menu?.addEventListener("click", () => {
    const open = one("[data-side]").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  // Tables: sort, find, rows by keyboard.
  const valueOf = (cell) => {
    const text = cell.dataset.key || cell.textContent.trim();
    const number = Number(text.replace(/,/g, "").replace(/ %$/, ""));
    return text !== "" && !Number.isNaN(number) ? number : text.toLowerCase();
  };
  const compare = (a, b) => {
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === "number" ? 1 : -1;
  };
  for (const grid of all("[data-grid]")) {
    const body = one("tbody", grid);
    const rows = [...body.rows];
    const find = one("[data-find]", grid);
    if (rows.length > 12) {
      find.hidden = false;
      find.addEventListener("input", () => {
        const words = find.value.toLowerCase();
        for (const row of rows) row.hidden = !row.classList.contains("total") && !row.textContent.toLowerCase().includes(words);
      });
    }
    all("th", grid).forEach((head, at) => {
      head.dataset.sort = "";
      head.tabIndex = 0;
      const sort = () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const other of all("th", grid)) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const sorted = [...body.rows].filter((row) => !row.classList.contains("total"));
        sorted.sort((a, b) => compare(valueOf(a.cells[at]), valueOf(b.cells[at])) * (down ? -1 : 1));
        body.append(...[...body.rows].filter((row) => row.classList.contains("total")), ...sorted);
      };
      head.addEventListener("click", sort);
      head.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    });
    for (const row of rows) row.tabIndex = -1;
  }
  // What is folded away has a place but can't take the focus.
  const visible = (selector) => all(selector).filter((element) => element.checkVisibility());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "/") {
      const [find] = visible("[data-find]");
      if (find) { event.preventDefault(); find.focus(); }
    }
    if (event.key === "j" || event.key === "k") {
      const rows = visible("[data-grid] tbody tr");
      const at = rows.indexOf(document.activeElement.closest("tr"));
      rows[Math.min(Math.max(at + (event.key === "j" ? 1 : -1), 0), rows.length - 1)]?.focus();
    }
    if (event.key === "Enter" && event.target.matches("tr")) one("a", event.target)?.click();
  });

  // Charts: colours are names of the style, so that they follow the theme.
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const painted = (value) => {
    if (typeof value === "string") return value.replace(/^var\((--[\w-]+)\)$/, (_, name) => colour(name));
    if (Array.isArray(value)) return value.map(painted);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, painted(v)]));
    return value;
  };
  const axis = () => ({ gridcolor: colour("--border"), zerolinecolor: colour("--strong"), linecolor: colour("--border"), automargin: true });
  const draw = (place) => {
    const { data, layout } = JSON.parse(one("script[type='application/json']", place.parentElement).textContent);
    const look = {
      ...painted(layout),
      height: Number(place.dataset.height),
      margin: { l: 8, r: 8, t: 8, b: 8, pad: 4 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("--text") },
      legend: { orientation: "h", y: -0.2 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--strong"), activecolor: colour("--accent") },
      hoverlabel: { bgcolor: colour("--raised"), bordercolor: colour("--strong"), font: { color: colour("--text") } },
    };
    look.xaxis = { ...painted(layout.xaxis || {}), ...axis(), showgrid: false };
    look.yaxis = { ...painted(layout.yaxis || {}), ...axis() };
    return Plotly.react(place, painted(data), look, { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"], toImageButtonOptions: { scale: 2 } });
  };
  const drawAll = () => { if (window.Plotly) all("[data-plot]").forEach(draw); };
  drawAll();
  one("[data-theme-button]")?.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    keep(root.dataset.theme);
    drawAll();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  root.dataset.ready = "";
})();
