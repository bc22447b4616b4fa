// What the path does not hold is asked for; only the answer to the newest question counts.

import { change, data, show, shown } from "./state.js";
import { drawControls } from "./controls.js";

let newest = 0;
let waiting = null;

export function ask(r, k) {
  const known = data.places.find((place) => place.r === r && place.k === k);
  newest += 1;
  if (waiting) waiting.abort();
  if (known) {
    say("");
    show(known);
    return;
  }
  drawControls(r, k);
  say("fitting …");
  waiting = new AbortController();
  answer(newest, r, k, waiting.signal);
}

async function answer(question, r, k, signal) {
  let found;
  try {
    const query = new URLSearchParams({ components: r, cardinality: k, question });
    const response = await fetch(`fit?${query}`, { signal });
    found = await response.json();
  } catch (error) {
    if (question === newest && error.name !== "AbortError") say("The explorer does not answer; was it ended?");
    return;
  }
  if (question !== newest || found.outdated) return;
  if (found.error) {
    say(found.error);
    drawControls();
    return;
  }
  say("");
  Object.assign(data.names, found.names);
  data.places.push(found.place);
  show(found.place);
}

function say(text) {
  document.getElementById("status").textContent = text;
}

export function askForStability() {
  const place = shown.place;
  say("fitting to half-samples …");
  newest += 1;
  const question = newest;
  const query = new URLSearchParams({ components: place.r, cardinality: place.k, question });
  fetch(`stability?${query}`)
    .then((response) => response.json())
    .then((found) => {
      if (question !== newest || found.outdated) return;
      say(found.error || "");
      if (found.error) return;
      Object.assign(data.names, found.names);
      place.stability = found.stability;
      change("place");
    })
    .catch(() => say("The explorer does not answer; was it ended?"));
}
