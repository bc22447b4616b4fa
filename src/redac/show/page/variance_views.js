// What components explain: one after the other, and along the path.

import { html, label, number, picture, room, svg } from "./elements.js";
import { frame, linear, logarithmic, powerTicks, ticks } from "./axes.js";
import { component, counts, data, places, show, shown } from "./state.js";

export function drawScree(card) {
  const place = shown.place;
  const body = card.querySelector(".body");
  const width = room(body, 640);
  const height = 270;
  const box = { left: 46, right: width - 10, top: 10, bottom: height - 40 };
  const sums = place.shares.map(((sum) => (share) => (sum += share))(0));
  const top = Math.max(...sums, ...place.pca.filter((value) => value !== null), place.bound || 0, 1);
  const y = linear(0, Math.min(100, top * 1.06) || 1, box.bottom, box.top);
  const x = linear(0.4, place.r + 0.6, box.left, box.right);
  const step = Math.max(1, Math.ceil((place.r * 34) / (box.right - box.left)));
  const numbers = place.shares.map((_, i) => i + 1);
  const axes = frame(box, x, y, [], ticks(0, Math.min(100, top * 1.06)), "component", "explained variance, %");
  const wide = (box.right - box.left) / (place.r + 0.2) * 0.68;
  const bars = place.shares.map((share, i) =>
    svg("rect", {
      class: `positive ${shown.pair.includes(i) ? "strong" : ""}`,
      x: x(i + 1) - wide / 2,
      y: y(Math.max(share, 0)),
      width: wide,
      height: Math.max(0, y(0) - y(share)),
      "data-component": i,
      "data-tip": `${component(i)} adds ${number(share, 2)} %\ntogether ${number(sums[i], 2)} %` +
        (place.pca[i] === null ? "" : `\nPCA with as many: ${number(place.pca[i], 2)} %`),
    }),
  );
  const names = numbers.filter((i) => (i - 1) % step === 0).map((i) =>
    label(x(i), box.bottom + 15, String(i), { class: "tick", "text-anchor": "middle" }));
  const pca = place.pca.map((value, i) => [i, value]).filter(([, value]) => value !== null);
  const parts = [axes, ...bars, ...names, line(sums.map((value, i) => [x(i + 1), y(value)]), "together")];
  parts.push(line(pca.map(([i, value]) => [x(i + 1), y(value)]), "pca"));
  for (const [i, value] of pca) {
    parts.push(svg("rect", { class: "pca-dot", x: x(i + 1) - 3, y: y(value) - 3, width: 6, height: 6 }));
  }
  sums.forEach((value, i) => parts.push(svg("circle", { class: "dot", cx: x(i + 1), cy: y(value), r: 3 })));
  if (place.bound) {
    const end = { x1: x(place.r - 0.45), x2: x(place.r + 0.45), y1: y(place.bound), y2: y(place.bound) };
    parts.push(svg("line", { class: "bound", ...end, "data-tip": `proved bound ${number(place.bound, 2)} %` }));
  }
  body.replaceChildren(picture(width, height, "Explained variance", ...parts));
  const signs = [html("li", { class: "key-together" }, "together (PEV)")];
  if (pca.length) signs.push(html("li", { class: "key-pca" }, "PCA, as many"));
  if (place.bound) signs.push(html("li", { class: "key-bound" }, "proved bound"));
  card.querySelector(".legend").replaceChildren(html("li", { class: "key-adds" }, "each adds"), ...signs);
}

function line(points, kind) {
  return svg("polyline", { class: kind, points: points.map((at) => at.join(",")).join(" ") });
}

// ------------------------------------------------------------ trade-off

export function drawTradeOff(card) {
  card.hidden = data.places.length < 2;
  if (card.hidden) return;
  const body = card.querySelector(".body");
  const width = room(body, 640);
  const height = 300;
  const box = { left: 46, right: width - 24, top: 18, bottom: height - 40 };
  const hasQ2 = data.places.some((place) => place.q2 !== undefined);
  const sizes = data.places.map((place) => Math.max(place.nonzeros, 1));
  const values = data.places.flatMap((place) =>
    place.q2 === undefined ? [place.pev] : [place.pev, 100 * (place.q2 - place.q2_se)]);
  const low = Math.max(Math.min(0, ...values), -20);
  const high = Math.max(...values, 1) * 1.04;
  const [least, most] = [Math.min(...sizes) * 0.9, Math.max(...sizes) * 1.1];
  const x = logarithmic(least, most, box.left, box.right);
  const y = linear(low, high, box.bottom, box.top);
  const axes = frame(box, x, y, powerTicks(least, most), ticks(low, high), "non-zero loadings", "share of the variance, %");
  const parts = [];
  const all = counts();
  for (const r of all) parts.push(curve(r, all, x, y, hasQ2, low));
  parts.push(...curveNames(all, x, y));
  const here = shown.place;
  const ring = { class: "ring", cx: x(Math.max(here.nonzeros, 1)), cy: y(Math.max(measure(here, hasQ2), low)), r: 9 };
  parts.push(svg("circle", ring));
  const shot = picture(width, height, "Trade-off: the arrow keys move over the path", axes, ...parts);
  shot.setAttribute("tabindex", "0");
  const hadFocus = body.contains(document.activeElement);
  body.replaceChildren(shot);
  if (hadFocus) shot.focus({ preventScroll: true });
  card.querySelector(".reading").textContent = hasQ2
    ? "Solid: Q² of held-out cells, with one standard error. Dashed: PEV, and the number of components. " +
      "Click a point, or use the arrow keys."
    : "PEV of all rows, and the number of components. Click a point, or use the arrow keys.";
}

function measure(place, hasQ2) {
  return hasQ2 && place.q2 !== undefined ? 100 * place.q2 : place.pev;
}

function curve(r, all, x, y, hasQ2, low) {
  const own = places(r).sort((one, other) => one.nonzeros - other.nonzeros);
  const level = Math.min(6, all.indexOf(r) % 7);
  const at = (value) => y(Math.max(value, low));
  const across = own.map((place) => x(Math.max(place.nonzeros, 1)));
  const group = svg("g", { class: `curve c${level} ${r === shown.place.r ? "strong" : ""}` });
  if (hasQ2) {
    const up = own.map((place, n) => [across[n], at(100 * (place.q2 + place.q2_se))]);
    const down = own.map((place, n) => [across[n], at(100 * (place.q2 - place.q2_se))]).reverse();
    group.append(svg("polygon", { class: "band", points: [...up, ...down].map((p) => p.join(",")).join(" ") }));
    group.append(line(own.map((place, n) => [across[n], at(place.pev)]), "dashed"));
  }
  group.append(line(own.map((place, n) => [across[n], at(measure(place, hasQ2))]), "solid"));
  own.forEach((place, n) => {
    const tip = [`${r} × ${place.k}: ${place.nonzeros} loadings`, `PEV ${number(place.pev, 2)} %`];
    if (place.pca_pev !== undefined) tip.push(`PCA ${number(place.pca_pev, 2)} %`);
    if (place.q2 !== undefined) tip.push(`Q² ${number(place.q2, 3)} ± ${number(place.q2_se, 3)}`);
    const spot = { cx: across[n], cy: at(measure(place, hasQ2)) };
    group.append(svg("circle", { class: "spot", ...spot, r: 4, "data-place": data.places.indexOf(place), "data-tip": tip.join("\n") }));
  });
  return group;
}

// How many components a curve has, at its end; where ends are close the curve of now is named.
function curveNames(all, x, y) {
  const here = shown.place.r;
  const taken = [];
  const found = [];
  for (const r of [here, ...all.filter((each) => each !== here).reverse()]) {
    const end = places(r).reduce((one, other) => (other.nonzeros > one.nonzeros ? other : one));
    const isRinged = end === shown.place && end.q2 === undefined;
    const at = [x(Math.max(end.nonzeros, 1)) + (isRinged ? 12 : 6), y(end.pev) + 4];
    if (taken.some((other) => Math.abs(other[0] - at[0]) < 16 && Math.abs(other[1] - at[1]) < 11)) continue;
    taken.push(at);
    found.push(label(...at, String(r), { class: r === here ? "tick end strong" : "tick end" }));
  }
  return found;
}

// Left and right: fewer and more features; up and down: more and fewer components.
export function onTradeOffKey(event) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
  if (!step || !event.target.closest("svg")) return;
  event.preventDefault();
  const all = counts();
  const r = all[Math.min(Math.max(all.indexOf(shown.place.r) + step[0], 0), all.length - 1)];
  const own = places(r).sort((one, other) => one.nonzeros - other.nonzeros);
  let at = own.indexOf(shown.place);
  if (at < 0) at = nearest(own, shown.place.k);
  const next = own[Math.min(Math.max(at + step[1], 0), own.length - 1)];
  if (next !== shown.place) show(next);
}

export function nearest(own, k) {
  let best = 0;
  own.forEach((place, n) => {
    if (Math.abs(place.k - k) < Math.abs(own[best].k - k)) best = n;
  });
  return best;
}
