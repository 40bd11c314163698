// What a page lacks: language, heading, names for fields, buttons and pictures, tables of charts, its own server alone.
const faults = [];
const all = (selector) => [...document.querySelectorAll(selector)];
const say = (what, element) => faults.push(what + ": " + element.outerHTML.slice(0, 160));
if (document.documentElement.lang !== "en") faults.push("no language");
if (all("h1").length !== 1) faults.push(all("h1").length + " h1");
for (const field of all("input:not([type=hidden]), select, textarea")) {
  const name = field.getAttribute("aria-label") || [...field.labels].map((label) => label.textContent.trim()).join("");
  if (!name) say("a field without a label", field);
}
for (const button of all("button, summary, a[href]")) {
  if (!(button.textContent.trim() || button.getAttribute("aria-label"))) say("nothing to read", button);
}
for (const picture of all("img:not([alt])")) say("a picture without words", picture);
for (const picture of all("main svg:not(figure svg):not([aria-hidden])")) {
  if (!picture.closest("[role=img], figure") && !picture.getAttribute("aria-label")) say("a drawing without words", picture);
}
for (const chart of all("figure.chart")) {
  if (!chart.querySelector("details table tbody tr")) say("a chart without its numbers", chart);
}
const ids = all("[id]").map((element) => element.id).filter((id) => !id.includes("plotly"));
for (const id of ids) if (ids.filter((other) => other === id).length > 1) faults.push("twice: #" + id);
for (const asked of performance.getEntriesByType("resource")) {
  if (new URL(asked.name).origin !== location.origin) faults.push("asks elsewhere: " + asked.name);
}
return faults;
