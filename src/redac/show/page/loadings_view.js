// Bars: one panel for each component.

import { cut, html, label, loadingNumber, number, picture, room, svg, widthOf } from "./elements.js";
import { linear } from "./axes.js";
import { component, emphasis, name, shown } from "./state.js";

const FEW = 12;
const ROW = 20;
// Of a panel, in pixels: the gap to the next one, the least and the greatest room for names, and
// what bars and their numbers need beside them.
const GAP = 16;
const NAMES = [126, 300];
const BARS = 154;

export function drawLoadings(card) {
  const place = shown.place;
  const body = card.querySelector(".panels");
  const largest = Math.max(1, ...place.loadings.flat().map(Math.abs)) / 10000;
  const names = roomForNames(place);
  const width = panelWidth(body, place.r, names);
  const left = Math.round(Math.min(names, Math.max(width - BARS, width * 0.46)));
  const panels = place.features.map((_, i) => panel(place, i, { left, width }, largest));
  body.replaceChildren(...panels);
  const longest = Math.max(0, ...place.features.map((features) => features.length));
  const more = card.querySelector(".more");
  more.hidden = longest <= FEW;
  more.textContent = shown.all ? "Show the largest only" : "Show all loadings";
}

function keptOf(features) {
  return features.slice(0, shown.all ? features.length : FEW);
}

// What the longest name takes, within bounds.
function roomForNames(place) {
  const drawn = new Set(place.features.flatMap(keptOf));
  const longest = Math.max(0, ...[...drawn].map((feature) => widthOf(name(feature))));
  return Math.min(Math.max(longest + 8, NAMES[0]), NAMES[1]);
}

// As many panels side by side as there is room for; fewer where names are long.
function panelWidth(body, r, names) {
  const all = room(body, 4000);
  const most = Math.max(1, Math.min(r, Math.floor((all + GAP) / (names + BARS + GAP))));
  const across = Math.ceil(r / Math.ceil(r / most)); // rows of about the same length
  return Math.min(Math.floor((all - GAP * (across - 1)) / across), 640);
}

function panel(place, i, { left, width }, largest) {
  const features = place.features[i];
  const kept = keptOf(features).length;
  const right = width - 46;
  const signed = place.loadings.some((values) => values.some((value) => value < 0));
  const x = linear(signed ? -largest : 0, largest, left + 6, right - 4);
  const height = Math.max(kept, 1) * ROW + 4;
  const rows = features.slice(0, kept).map((feature, n) => {
    const value = place.loadings[i][n] / 10000;
    const y = n * ROW + 2;
    const tip = `${name(feature)}\n${component(i)}: ${loadingNumber(value, 3)}`;
    return svg(
      "g",
      { class: `bar ${emphasis(feature)}`, "data-feature": feature, "data-tip": tip },
      svg("rect", { class: "hit", x: 0, y, width, height: ROW }),
      label(left - 2, y + 14, cut(name(feature), left - 4), { class: "name", "text-anchor": "end" }),
      svg("rect", {
        class: value < 0 ? "negative" : "positive",
        x: Math.min(x(0), x(value)),
        y: y + 3,
        width: Math.abs(x(value) - x(0)),
        height: ROW - 6,
      }),
      label(width - 2, y + 14, loadingNumber(value, 2), { class: "value", "text-anchor": "end" }),
    );
  });
  const zero = svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height });
  const caption = html("figcaption", {}, html("b", {}, component(i)));
  const share = place.shares[i] === undefined ? "" : ` adds ${number(place.shares[i], 1)} %, `;
  caption.append(`${share}${features.length} ${features.length === 1 ? "feature" : "features"}`);
  const title = `Loadings of ${component(i)}`;
  const figure = html("figure", {}, caption, picture(width, height, title, ...rows, zero));
  if (kept < features.length) {
    const rest = html("p", { class: "rest" });
    rest.textContent = `and ${features.length - kept} smaller`;
    figure.append(rest);
  }
  if (features.length === 0) figure.append(html("p", { class: "rest" }, "no loading"));
  return figure;
}
