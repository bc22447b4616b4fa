// The page: every view draws what the state says, whenever the state has changed.

import { forgetRooms } from "./elements.js";
import { data, change, listen, show, shown } from "./state.js";
import { closest, drawControls, drawFound, prepareControls } from "./controls.js";
import { drawLoadings } from "./loadings_view.js";
import { aboutRow, drawScores } from "./scores_view.js";
import { drawScree, drawTradeOff, onTradeOffKey } from "./variance_views.js";
import { drawOutliers, drawOverlap, drawStability } from "./relation_views.js";
import { drawTables } from "./tables_view.js";
import { ask, askForStability } from "./live.js";

const VIEWS = {
  "loadings-view": drawLoadings,
  "scores-view": drawScores,
  "scree-view": drawScree,
  "trade-off-view": drawTradeOff,
  "overlap-view": drawOverlap,
  "stability-view": drawStability,
  "outliers-view": drawOutliers,
};
const OF_CHANGE = {
  pair: ["scores-view", "scree-view"],
  look: ["loadings-view", "scores-view", "stability-view"],
};
let tables = 0;

function draw(what) {
  for (const id of OF_CHANGE[what] || Object.keys(VIEWS)) VIEWS[id](document.getElementById(id));
  if (what === "look") drawFound();
  if (what === "size") return;
  drawControls();
  if (what !== "place") return;
  drawFound();
  document.getElementById("steady").hidden = !data.live || !data.live.rows || shown.place.stability;
  clearTimeout(tables); // long tables come after the pictures
  tables = setTimeout(() => drawTables(document), 120);
}

// ------------------------------------------------------------ under the pointer

const tip = document.getElementById("tip");

function about(target) {
  const row = target.closest("[data-row]");
  if (row && !row.matches("li")) return aboutRow(Number(row.dataset.row));
  const told = target.closest("[data-tip]");
  return told ? told.dataset.tip : "";
}

function onMove(event) {
  const text = event.target.closest ? about(event.target) : "";
  tip.hidden = !text;
  if (text) {
    tip.textContent = text;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18 + tip.offsetHeight > innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18}px`;
  }
  const feature = event.target.closest ? event.target.closest("[data-feature]") : null;
  const row = event.target.closest ? event.target.closest("[data-row]") : null;
  mark("feature", feature ? feature.dataset.feature : null);
  mark("row", row ? row.dataset.row : null);
}

// The same feature, or row, is marked in all pictures; nothing is drawn anew.
const marked = { feature: null, row: null };

function mark(kind, value) {
  if (marked[kind] === value) return;
  for (const node of document.querySelectorAll(".linked-" + kind)) node.classList.remove("linked-" + kind);
  marked[kind] = value;
  if (value === null) return;
  for (const node of document.querySelectorAll(`[data-${kind}="${value}"]`)) node.classList.add("linked-" + kind);
}

function onClick(event) {
  const spot = event.target.closest("[data-place]");
  if (spot) show(data.places[Number(spot.dataset.place)]);
  const pair = event.target.closest("[data-pair]");
  if (pair) change("pair", { pair: pair.dataset.pair.split(" ").map(Number) });
}

// ------------------------------------------------------------ begin

document.documentElement.classList.add("scripted");
for (const node of document.querySelectorAll("details.table")) {
  node.open = node.querySelectorAll("tr").length < 40;
  node.addEventListener("toggle", () => drawTables(document));
}
prepareControls((r, k) => {
  if (data.live) ask(r, k);
  else show(closest(r, k));
});
document.addEventListener("pointermove", onMove);
document.addEventListener("pointerleave", () => { tip.hidden = true; });
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
document.addEventListener("click", onClick);
document.getElementById("trade-off-view").addEventListener("keydown", onTradeOffKey);
document.getElementById("steady").addEventListener("click", askForStability);
document.querySelector("#loadings-view .more").addEventListener("click", () => change("look", { all: !shown.all }));
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  forgetRooms();
  draw("size");
});
addEventListener("beforeprint", () => {
  for (const node of document.querySelectorAll("details.table")) node.open = true;
});
listen(draw);
show(shown.place);
