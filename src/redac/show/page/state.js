// What is shown: one place of the path, a pair of its components, and what is looked for.

export const data = JSON.parse(document.getElementById("data").textContent);

export const shown = {
  place: data.places[data.current],
  pair: [0, 1],
  label: data.labels.length ? 0 : -1,
  sought: "",
  feature: null, // under the pointer
  row: null,
  biplot: false,
  all: false,
};

const listeners = [];

// A listener is called with what has changed: "place", "pair", "label", "look" or "size".
export function listen(listener) {
  listeners.push(listener);
}

export function change(what, values = {}) {
  Object.assign(shown, values);
  for (const listener of listeners) listener(what);
}

export function show(place) {
  const last = place.r - 1;
  let pair = shown.pair.map((i) => Math.min(i, last));
  if (pair[0] === pair[1]) pair = last > 0 ? [0, 1] : [0, 0];
  change("place", { place, pair });
}

export function name(feature) {
  return data.names[feature];
}

export function rowName(position) {
  const row = data.rows.shown ? data.rows.shown[position] : position;
  return data.rows.names ? data.rows.names[position] : `row ${row}`;
}

export function component(i) {
  return `PC${i + 1}`;
}

// Features by their largest loading in the place; each with its loadings by component.
export function loadings(place) {
  const found = new Map();
  place.features.forEach((features, i) => {
    features.forEach((feature, n) => {
      if (!found.has(feature)) found.set(feature, {});
      found.get(feature)[i] = place.loadings[i][n] / 10000;
    });
  });
  return found;
}

export function isSought(feature) {
  return shown.sought !== "" && name(feature).toLowerCase().includes(shown.sought);
}

// Looked for, under the pointer, or neither: how an element of a feature is to look.
export function emphasis(feature) {
  if (feature === shown.feature) return "strong";
  if (shown.sought === "") return "";
  return isSought(feature) ? "strong" : "faint";
}

export function places(r) {
  return data.places.filter((place) => place.r === r);
}

export function counts() {
  return [...new Set(data.places.map((place) => place.r))].sort((a, b) => a - b);
}
