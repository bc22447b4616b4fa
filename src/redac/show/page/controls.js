// What one can turn: components, features, the pair, the colours, what is looked for.

import { html, number, savePictures, saveTable } from "./elements.js";
import {
  change, component, counts, data, loadings, name, places, show, shown,
} from "./state.js";
import { nearest } from "./variance_views.js";
import { loadingRows, scoreRows, varianceRows } from "./tables_view.js";

const find = (id) => document.getElementById(id);

// Sliders go over the numbers that there are: those of the path, or, live, all of them.
export function prepareControls(choose) {
  // Both numbers are those of the sliders: what was asked for before may still be on its way.
  for (const id of ["components", "cardinality"]) {
    find(id).addEventListener("input", () => choose(picked("components"), picked("cardinality")));
  }
  for (const button of document.querySelectorAll("button[data-step]")) {
    const [id, step] = button.dataset.step.split(" ");
    button.addEventListener("click", () => {
      const slider = find(id);
      slider.value = Number(slider.value) + Number(step);
      slider.dispatchEvent(new Event("input"));
    });
  }
  prepareLooks();
  prepareFiles();
  fillLabels();
}

function prepareLooks() {
  for (const [id, at] of [["across", 0], ["up", 1]]) {
    find(id).addEventListener("change", (event) => {
      const pair = [...shown.pair];
      const wanted = Number(event.target.value);
      if (pair[1 - at] === wanted) pair[1 - at] = pair[at];
      pair[at] = wanted;
      change("pair", { pair });
    });
  }
  find("colour").addEventListener("change", (event) => change("pair", { label: Number(event.target.value) }));
  find("arrows").addEventListener("change", (event) => change("pair", { biplot: event.target.checked }));
  find("search").addEventListener("input", (event) => {
    change("look", { sought: event.target.value.trim().toLowerCase() });
  });
  find("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
  });
}

function prepareFiles() {
  for (const button of document.querySelectorAll("button[data-svg]")) {
    button.addEventListener("click", () => {
      savePictures(`${button.dataset.svg}.svg`, button.closest("section"));
    });
  }
  const tables = { loadings: loadingRows, variance: varianceRows, scores: scoreRows };
  for (const button of document.querySelectorAll("button[data-csv]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      saveTable(`${button.dataset.csv}.csv`, tables[button.dataset.csv]());
    });
  }
}

function fillLabels() {
  const options = data.labels.map((label, i) => html("option", { value: i }, label.name));
  find("colour").replaceChildren(html("option", { value: -1 }, "one colour"), ...options);
  find("colour").value = shown.label;
  find("colour").closest("label").hidden = data.labels.length === 0;
}

// ------------------------------------------------------------ numbers

export function choices() {
  if (data.live) return { components: range(1, data.live.components), cardinality: data.live.cardinalities };
  const cardinality = [...new Set(places(shown.place.r).map((place) => place.k))].sort((a, b) => a - b);
  return { components: counts(), cardinality };
}

function range(low, high) {
  return Array.from({ length: high - low + 1 }, (_, i) => low + i);
}

function picked(id) {
  return choices()[id][Number(find(id).value)];
}

// The place of the path that is closest to two numbers; r counts first.
export function closest(r, k) {
  const own = places(r);
  return own[nearest(own, k)];
}

export function drawControls(r = shown.place.r, k = shown.place.k) {
  const given = choices();
  for (const [id, value] of [["components", r], ["cardinality", k]]) {
    const numbers = given[id];
    const slider = find(id);
    const at = numbers.findIndex((each) => each >= value);
    slider.max = numbers.length - 1;
    slider.value = at < 0 ? numbers.length - 1 : at;
    slider.setAttribute("aria-valuetext", String(value));
    find(`${id}-now`).textContent = String(value);
    slider.closest(".stepper").hidden = numbers.length < 2 || typeof value !== "number";
    for (const button of document.querySelectorAll(`button[data-step^="${id} "]`)) {
      const next = Number(slider.value) + Number(button.dataset.step.split(" ")[1]);
      button.disabled = next < 0 || next >= numbers.length;
    }
  }
  drawPair();
  drawSummary();
}

function drawPair() {
  for (const [id, at] of [["across", 0], ["up", 1]]) {
    const options = shown.place.features.map((_, i) => html("option", { value: i }, component(i)));
    find(id).replaceChildren(...options);
    find(id).value = shown.pair[at];
    find(id).closest("label").hidden = shown.place.r < 2;
  }
}

const MEANINGS = {
  pev: "The share of the variance that the components give back together.",
  pca: "What as many principal components explain, with all features in each: no components explain more.",
  separation: "1: all components are at right angles; 0: two of them are the same.",
  q2: "How well cells that were held out are predicted: 1 is perfect, 0 no better than the means. ± one standard error.",
};

function drawSummary() {
  const place = shown.place;
  const facts = [["explained (PEV)", `${number(place.pev, 2)} %`, MEANINGS.pev]];
  if (place.pca_pev !== undefined) facts.push(["PCA, as many", `${number(place.pca_pev, 2)} %`, MEANINGS.pca]);
  facts.push(["non-zero loadings", `${place.nonzeros} of ${place.r * data.n_features}`]);
  if (place.r > 1) facts.push(["separation", number(place.separation, 3), MEANINGS.separation]);
  if (data.n_samples) facts.push(["data", `${data.n_samples} × ${data.n_features}`]);
  if (place.q2 !== undefined) {
    facts.push(["Q² of held-out cells", `${number(place.q2, 3)} ± ${number(place.q2_se, 3)}`, MEANINGS.q2]);
  }
  const shownFacts = facts.map(([what, value, meaning]) =>
    html("div", { "data-tip": meaning }, html("dt", {}, what), html("dd", {}, value)));
  find("facts").replaceChildren(...shownFacts);
  find("notes").replaceChildren(...place.notes.map((note) => html("li", {}, note)));
}

export function drawFound() {
  const output = find("found");
  if (!shown.sought) {
    output.textContent = "";
    return;
  }
  const found = [...loadings(shown.place)].filter(([feature]) =>
    name(feature).toLowerCase().includes(shown.sought));
  if (!found.length) {
    const elsewhere = Object.values(data.names).filter((each) => each.toLowerCase().includes(shown.sought));
    output.textContent = elsewhere.length
      ? `No component uses it here; other places of the path do (${elsewhere.slice(0, 3).join(", ")}).`
      : "No component uses a feature of that name.";
    return;
  }
  const said = found.slice(0, 4).map(([feature, values]) =>
    `${name(feature)}: ${Object.entries(values).map(([i, value]) => `${component(Number(i))} ${number(value, 2)}`).join(", ")}`);
  output.textContent = said.join("; ") + (found.length > 4 ? `; and ${found.length - 4} more` : "");
}
