// Scores as points, and with arrows as a biplot.

import { cut, html, label, number, picture, room, svg, widthOf } from "./elements.js";
import { frame, linear, ticks } from "./axes.js";
import { component, data, emphasis, name, rowName, shown } from "./state.js";

const SHAPES = ["circle", "triangle", "square", "diamond", "down", "plus", "cross"];
const GROUPS = SHAPES.length;

export function drawScores(card) {
  const place = shown.place;
  const body = card.querySelector(".body");
  if (!place.scores) {
    body.replaceChildren(html("p", { class: "rest" }, "There are no rows: no scores to draw."));
    card.querySelector(".legend").replaceChildren();
    return;
  }
  const width = room(body, 760);
  const height = Math.round(Math.min(Math.max(width * 0.72, 300), 520));
  body.replaceChildren(shown.biplot ? biplot(place, width, height) : plain(place, width, height));
  card.querySelector(".legend").replaceChildren(...legend());
  card.querySelector(".reading").textContent = reading(place);
}

function reading(place) {
  const parts = [];
  if (shown.biplot) {
    const circle = place.r > 1 ? "; the circle is 1." : ".";
    parts.push(
      `Points: scores divided by ${number(largestScore(place), 2)}. Arrows: correlations of ` +
        `features with the scores${circle}`,
    );
  }
  const { total, shown: rows } = data.rows;
  if (rows && rows.length < total) parts.push(`${rows.length} of ${total} rows are drawn.`);
  return parts.join(" ");
}

function score(place, i, row) {
  return (place.scores[i][row] / 2000) * place.score_units[i];
}

function largestScore(place) {
  const sizes = shown.pair.map((i) => Math.max(...place.scores[i].map(Math.abs)) / 2000 * place.score_units[i]);
  return Math.max(...sizes) || 1;
}

function ends(values) {
  const [low, high] = [Math.min(...values, 0), Math.max(...values, 0)];
  const margin = 0.05 * (high - low || 1);
  return [low - margin, high + margin];
}

function title(place, i) {
  return `${component(i)} (${number(place.shares[i], 1)} %)`;
}

function plain(place, width, height) {
  const box = { left: 52, right: width - 12, top: 10, bottom: height - 44 };
  const [a, b] = shown.pair;
  const rows = place.scores[0].map((_, row) => row);
  const single = place.r === 1;
  const xs = rows.map((row) => score(place, a, row));
  const ys = single ? rows : rows.map((row) => score(place, b, row));
  const x = linear(...ends(xs), box.left, box.right);
  const y = single
    ? linear(-1, rows.length, box.top, box.bottom)
    : linear(...ends(ys), box.bottom, box.top);
  const yTicks = single ? [] : ticks(...ends(ys));
  const axes = frame(
    box, x, y, ticks(...ends(xs)), yTicks, title(place, a), single ? "rows" : title(place, b),
  );
  const lines = [svg("line", { class: "zero", x1: x(0), x2: x(0), y1: box.top, y2: box.bottom })];
  if (!single) {
    lines.push(svg("line", { class: "zero", x1: box.left, x2: box.right, y1: y(0), y2: y(0) }));
  }
  const points = rows.map((row) => point(place, row, x(xs[row]), y(ys[row])));
  return picture(width, height, "Scores", axes, ...lines, svg("g", {}, ...points));
}

function biplot(place, width, height) {
  const [a, b] = shown.pair;
  const single = place.r === 1;
  const half = Math.min(width - 66, height - 56) / 2;
  const middle = [52 + (width - 64) / 2, 10 + half];
  const box = { left: middle[0] - half, right: middle[0] + half, top: 10, bottom: 10 + 2 * half };
  const x = linear(-1.12, 1.12, box.left, box.right);
  const y = linear(-1.12, 1.12, box.bottom, box.top);
  const steps = [-1, -0.5, 0, 0.5, 1];
  const axes = frame(
    box, x, y, steps, single ? [] : steps, title(place, a), single ? "rows" : title(place, b),
  );
  const unit = largestScore(place);
  const n = place.scores[0].length;
  const points = place.scores[0].map((_, row) => {
    const height = single ? 1 - (2 * row) / Math.max(n - 1, 1) : score(place, b, row) / unit;
    return point(place, row, x(score(place, a, row) / unit), y(height));
  });
  const circle = svg("circle", { class: "unit", cx: x(0), cy: y(0), r: x(1) - x(0) });
  return picture(
    width, height, "Biplot", axes, single ? null : circle, svg("g", {}, ...points),
    ...arrows(place, x, y, [box.left + 2, width - 4]),
  );
}

// Names stand at the tips, within the ends that there are.
function arrows(place, x, y, ends) {
  const [a, b] = shown.pair;
  const single = place.r === 1;
  const own = place.arrows.features
    .map((feature, n) => ({ feature, values: place.arrows.values[n] }))
    .filter(({ feature }) => place.features[a].includes(feature) || place.features[b].includes(feature));
  const drawn = own.map(({ feature, values }, n) => {
    const height = single ? 0.9 - (1.8 * n) / Math.max(own.length - 1, 1) : values[b] / 1000;
    const tip = [x(values[a] / 1000), y(height)];
    const from = [x(0), y(single ? height : 0)];
    return { feature, tip, from, values, ...nameAt(name(feature), tip, from, ends) };
  });
  spread(drawn);
  return drawn.map(({ feature, tip, from, values, said, left, at }) => {
    const numbers = single
      ? number(values[a] / 1000, 2)
      : `${component(a)} ${number(values[a] / 1000, 2)}, ${component(b)} ${number(values[b] / 1000, 2)}`;
    const tips = `${name(feature)}\ncorrelations: ${numbers}`;
    return svg(
      "g",
      { class: `arrow ${emphasis(feature)}`, "data-feature": feature, "data-tip": tips },
      svg("line", { x1: from[0], y1: from[1], x2: tip[0], y2: tip[1] }),
      svg("path", { d: head(from, tip) }),
      label(left, at + 4, said),
    );
  });
}

// Beside the tip; where the name would not end within the picture it is moved in, and off its arrow.
function nameAt(text, tip, from, [low, high]) {
  const space = tip[0] >= from[0] ? high - tip[0] - 5 : tip[0] - 5 - low;
  const said = cut(text, Math.min(150, space >= 100 ? space : Math.max(95, (high - low) * 0.3)), 11);
  const width = widthOf(said, 11);
  const beside = tip[0] >= from[0] ? tip[0] + 5 : tip[0] - 5 - width;
  const left = Math.max(low, Math.min(beside, high - width));
  const off = Math.abs(left - beside) < 6 ? 0 : tip[1] > from[1] ? 13 : -13;
  return { said, left, at: tip[1] + off };
}

function head(from, tip) {
  const angle = Math.atan2(tip[1] - from[1], tip[0] - from[0]);
  const wing = (turn) => {
    const at = angle + turn;
    return `${tip[0] - 8 * Math.cos(at)},${tip[1] - 8 * Math.sin(at)}`;
  };
  return `M${tip[0]},${tip[1]} L${wing(0.4)} L${wing(-0.4)} Z`;
}

// Heights of names, moved apart where they would cover each other.
function spread(drawn) {
  const order = [...drawn].sort((one, other) => one.at - other.at);
  for (let round = 0; round < 60; round += 1) {
    for (let i = 1; i < order.length; i += 1) {
      const lack = 13 - (order[i].at - order[i - 1].at);
      if (lack > 0) {
        order[i].at += lack / 2;
        order[i - 1].at -= lack / 2;
      }
    }
  }
}

// ------------------------------------------------------------ points

function groupOf(row) {
  const label = data.labels[shown.label];
  if (!label || label.kind !== "group") return 0;
  return Math.min(label.values[row], GROUPS - 1);
}

function point(place, row, x, y) {
  const label = data.labels[shown.label];
  const group = groupOf(row);
  const lost = place.outliers && place.outliers.lost.includes(row);
  const attributes = {
    class: `point s${group} ${row === shown.row ? "strong" : ""} ${lost ? "lost" : ""}`,
    "data-row": row,
  };
  if (label && label.kind === "number") {
    attributes.class = `point ${row === shown.row ? "strong" : ""} ${lost ? "lost" : ""}`;
    attributes.fill = shade(label, row);
  }
  return svg("path", { ...attributes, d: shape(SHAPES[group], x, y) });
}

// From dark blue over green to yellow, as viridis does; told apart in grey, too.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function shade(label, row) {
  const value = label.values[row];
  if (value === null) return "none";
  const at = ((value - label.low) / (label.high - label.low || 1)) * (STOPS.length - 1);
  const i = Math.min(Math.floor(at), STOPS.length - 2);
  const mixed = STOPS[i].map((from, n) => Math.round(from + (at - i) * (STOPS[i + 1][n] - from)));
  return `rgb(${mixed.join(",")})`;
}

export function shape(kind, x, y, r = 3.6) {
  switch (kind) {
    case "circle":
      return `M${x - r},${y} a${r},${r} 0 1 0 ${2 * r},0 a${r},${r} 0 1 0 ${-2 * r},0`;
    case "triangle":
      return `M${x},${y - r - 1} l${r + 1},${2 * r} h${-2 * r - 2} Z`;
    case "down":
      return `M${x},${y + r + 1} l${r + 1},${-2 * r} h${-2 * r - 2} Z`;
    case "square":
      return `M${x - r},${y - r} h${2 * r} v${2 * r} h${-2 * r} Z`;
    case "diamond":
      return `M${x},${y - r - 1} l${r + 1},${r + 1} l${-r - 1},${r + 1} l${-r - 1},${-r - 1} Z`;
    case "plus":
      return `M${x - r},${y - 1.3} h${r - 1.3} v${1.3 - r} h2.6 v${r - 1.3} h${r - 1.3} v2.6 h${1.3 - r} v${r - 1.3} h-2.6 v${1.3 - r} h${1.3 - r} Z`;
    default:
      return `M${x - r},${y - r} h2 l${r - 2},${r - 1.4} l${r - 2},${1.4 - r} h2 l${1 - r},${r} l${r - 1},${r} h-2 l${2 - r},${1.4 - r} l${2 - r},${r - 1.4} h-2 l${r - 1},${-r} Z`;
  }
}

export function aboutRow(row) {
  const place = shown.place;
  const said = [rowName(row)];
  for (const label of data.labels) {
    const value = label.values[row];
    said.push(`${label.name}: ${label.kind === "group" ? label.groups[value] : number(value, 3)}`);
  }
  if (place.scores) {
    for (const i of new Set(shown.pair)) {
      said.push(`${component(i)}: ${number(score(place, i, row), 2)}`);
    }
  }
  return said.join("\n");
}

function legend() {
  const label = data.labels[shown.label];
  if (!label) return [];
  if (label.kind === "number") {
    return [html("li", {}, `${label.name}: dark ${number(label.low, 2)}, light ${number(label.high, 2)}`)];
  }
  const names = label.groups.slice(0, GROUPS);
  if (label.groups.length > GROUPS) names[GROUPS - 1] = "others";
  return names.map((each, group) => {
    const sign = svg("svg", { width: 14, height: 14, "aria-hidden": "true" });
    sign.append(svg("path", { class: `point s${group}`, d: shape(SHAPES[group], 7, 7) }));
    return html("li", {}, sign, each);
  });
}
