// Which components say the same thing, which features are found again, and which rows stand out.

import { cut, html, label, number, picture, room, svg } from "./elements.js";
import { frame, linear, ticks } from "./axes.js";
import { component, data, emphasis, name, rowName, shown } from "./state.js";

export function drawOverlap(card) {
  const place = shown.place;
  card.hidden = place.r < 2;
  if (card.hidden) return;
  const body = card.querySelector(".body");
  const width = room(body, 520);
  const margin = 38;
  const side = Math.min((width - margin) / place.r, 58);
  const parts = [];
  for (let i = 0; i < place.r; i += 1) {
    const middle = margin + (i + 0.5) * side;
    // A name is up to 28 wide and 12 high; where there is no room every second one is left out.
    if (side > 30 || i % 2 === 0) {
      parts.push(label(middle, margin - 8, component(i), { class: "tick", "text-anchor": "middle" }));
    }
    if (side > 14 || i % 2 === 0) {
      parts.push(label(margin - 6, middle + 4, component(i), { class: "tick", "text-anchor": "end" }));
    }
    for (let j = 0; j < place.r; j += 1) if (i !== j) parts.push(...overlap(place, i, j, margin, side));
  }
  const end = margin + side * place.r + 2;
  body.replaceChildren(picture(Math.max(end, 120), end, "Overlap of components", ...parts));
}

function overlap(place, i, j, margin, side) {
  const above = j > i;
  const value = above ? place.correlations[i][j] : place.products[i][j];
  const box = { x: margin + j * side, y: margin + i * side, width: side - 1, height: side - 1 };
  const tip = `${component(i)} and ${component(j)}\ncorrelation of scores: ${number(place.correlations[i][j], 2)}` +
    `\ninner product of loadings: ${number(place.products[i][j], 2)}`;
  const attributes = {
    class: value < 0 ? "negative" : "positive",
    "fill-opacity": Math.min(1, Math.abs(value)).toFixed(3),
    "data-tip": tip,
    "data-pair": `${Math.min(i, j)} ${Math.max(i, j)}`,
  };
  const found = [svg("rect", { ...box, ...attributes })];
  if (side >= 30) {
    const dark = Math.abs(value) > 0.55 && value > 0 ? "on-dark" : "on-light";
    const at = { class: `cell ${dark}`, "text-anchor": "middle" };
    found.push(label(box.x + side / 2, box.y + side / 2 + 4, number(value, 2), at));
  }
  return found;
}

// ------------------------------------------------------------ stability

const MOST = 30;

export function drawStability(card) {
  const steady = shown.place.stability;
  card.hidden = !steady;
  if (card.hidden) return;
  const body = card.querySelector(".body");
  const width = room(body, 620);
  const r = shown.place.r;
  const left = Math.min(190, width * 0.42);
  const side = Math.min((width - left) / r, 52);
  const rows = steady.features.slice(0, MOST);
  const parts = [];
  for (let i = 0; i < r; i += 1) {
    if (side > 24 || i % 2 === 0) {
      parts.push(label(left + (i + 0.5) * side, 14, component(i), { class: "tick", "text-anchor": "middle" }));
    }
  }
  rows.forEach((feature, n) => {
    const y = 20 + n * 20;
    const cells = steady.frequencies[n].map((percent, i) => {
      const used = shown.place.features[i].includes(feature);
      return svg("rect", {
        class: `positive ${used ? "framed" : ""}`,
        "fill-opacity": (percent / 100).toFixed(2),
        x: left + i * side + 1, y: y + 1, width: side - 2, height: 18,
        "data-tip": `${name(feature)}\n${component(i)}: in ${percent} % of ${steady.resamples} half-samples`,
      });
    });
    parts.push(svg("g", { class: `bar ${emphasis(feature)}`, "data-feature": feature },
      label(left - 6, y + 14, cut(name(feature), left - 8), { class: "name", "text-anchor": "end" }), ...cells));
  });
  body.replaceChildren(picture(width, 24 + rows.length * 20, "Stability", ...parts));
  const rest = steady.features.length - rows.length;
  card.querySelector(".reading").textContent =
    `How often ${steady.resamples} half-samples use a feature; framed: used in all rows. ` +
    `Stability ${number(steady.index, 2)} (1: always the same, 0: as if drawn at random).` +
    (rest > 0 ? ` And ${rest} features that were chosen less often.` : "");
}

// ------------------------------------------------------------ outliers

export function drawOutliers(card) {
  const found = shown.place.outliers;
  card.hidden = !found;
  if (card.hidden) return;
  const body = card.querySelector(".body");
  const width = room(body, 640);
  const height = 320;
  const box = { left: 52, right: width - 12, top: 10, bottom: height - 44 };
  const [far, wide] = found.cutoffs;
  const x = linear(0, 1.08 * Math.max(...found.score, wide), box.left, box.right);
  const y = linear(0, 1.08 * Math.max(...found.orthogonal, far), box.bottom, box.top);
  const axes = frame(
    box, x, y, ticks(0, 1.08 * Math.max(...found.score, wide)),
    ticks(0, 1.08 * Math.max(...found.orthogonal, far)), "score distance", "orthogonal distance",
  );
  const wild = new Map();
  for (const [row] of found.cells) wild.set(row, (wild.get(row) || 0) + 1);
  const points = found.score.map((distance, row) => {
    const lost = found.lost.includes(row);
    const kind = lost ? "negative" : "positive";
    const look = `outlier ${kind} ${wild.has(row) ? "wild" : ""} ${row === shown.row ? "strong" : ""}`;
    return svg("circle", { class: look, cx: x(distance), cy: y(found.orthogonal[row]), r: lost ? 5 : 3.5, "data-row": row });
  });
  const limits = [
    svg("line", { class: "limit", x1: box.left, x2: box.right, y1: y(far), y2: y(far) }),
    svg("line", { class: "limit", x1: x(wide), x2: x(wide), y1: box.top, y2: box.bottom }),
  ];
  body.replaceChildren(picture(width, height, "Outlier map", axes, ...limits, svg("g", {}, ...points)));
  card.querySelector(".reading").textContent =
    `Dashed: the limits of usual rows. ${found.lost.length} rows did not count (orange); ` +
    `${found.n_cells} single cells lost their weight (rows with a ring).`;
  const rows = found.lost.map((row) => html("li", { "data-row": row }, `${rowName(row)}: the whole row`));
  for (const [row, feature, weight] of found.cells) {
    const said = `${rowName(row)}: ${name(feature)} (weight ${number(weight / 100, 2)})`;
    rows.push(html("li", { "data-row": row, "data-feature": feature }, said));
  }
  card.querySelector(".flagged").replaceChildren(...rows);
}

