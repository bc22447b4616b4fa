// The tables of the page, brought up to date: they are there without scripts, too.

import { html, loadingNumber } from "./elements.js";
import { component, data, loadings, name, rowName, shown } from "./state.js";

export function drawTables(root) {
  const open = root.querySelector("#loadings-table");
  if (open.open) open.querySelector(".scroll").replaceChildren(loadingsTable());
  const variance = root.querySelector("#variance-table .scroll");
  variance.replaceChildren(varianceTable());
}

export function loadingRows() {
  const place = shown.place;
  const found = loadings(place);
  const head = ["feature", ...place.features.map((_, i) => component(i))];
  const rows = [...found].map(([feature, values]) => [
    name(feature), ...place.features.map((_, i) => values[i] ?? null),
  ]);
  return [head, ...rows];
}

function loadingsTable() {
  const [head, ...rows] = loadingRows();
  const table = html("table", { class: "loadings" }, html("thead", {}, row(head, "th")), html("tbody"));
  for (const cells of rows) {
    const line = html("tr", {}, html("th", {}, cells[0]));
    for (const value of cells.slice(1)) {
      const level = value === null ? null : Math.max(1, Math.min(10, Math.round(10 * Math.abs(value))));
      const look = value === null ? null : `${value < 0 ? "n" : "p"}${level}`;
      line.append(html("td", { class: look }, value === null ? "" : loadingNumber(value, 3)));
    }
    table.tBodies[0].append(line);
  }
  return table;
}

export function varianceRows() {
  const place = shown.place;
  let sum = 0;
  const rows = place.shares.map((share, i) => {
    sum += share;
    return [component(i), place.features[i].length, share.toFixed(2), sum.toFixed(2)];
  });
  return [["component", "features", "variance %", "cumulative %"], ...rows];
}

function varianceTable() {
  const [head, ...rows] = varianceRows();
  const body = html("tbody", {}, ...rows.map(([first, ...rest]) => {
    const line = row(rest, "td");
    line.prepend(html("th", {}, first));
    return line;
  }));
  return html("table", {}, html("thead", {}, row(head, "th")), body);
}

export function scoreRows() {
  const place = shown.place;
  const head = ["sample", ...data.labels.map((label) => label.name), ...place.features.map((_, i) => component(i))];
  if (!place.scores) return [head];
  const rows = place.scores[0].map((_, n) => [
    rowName(n),
    ...data.labels.map((label) => (label.kind === "group" ? label.groups[label.values[n]] : label.values[n])),
    ...place.scores.map((scores, i) => ((scores[n] / 2000) * place.score_units[i]).toPrecision(4)),
  ]);
  return [head, ...rows];
}

function row(cells, tag) {
  return html("tr", {}, ...cells.map((cell) => html(tag, {}, String(cell))));
}
