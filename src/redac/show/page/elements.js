// Elements, and files made of them. Text is always set as text, never as markup.

const NAMESPACE = document.getElementById("mark").namespaceURI;

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(NAMESPACE, tag), attributes, children);
}

export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function picture(width, height, label, ...children) {
  const size = { width, height, viewBox: `0 0 ${width} ${height}` };
  return svg("svg", { ...size, role: "img", "aria-label": label }, ...children);
}

export function label(x, y, text, attributes = {}) {
  return svg("text", { x, y, direction: "ltr", ...attributes }, text);
}

// How wide the pictures of a card may be. To ask the browser makes it lay out the page, so that each
// answer is kept until the window changes.
const rooms = new Map();

export function room(body, most) {
  if (!rooms.get(body)) rooms.set(body, body.clientWidth);
  return Math.min(rooms.get(body) || 360, most);
}

export function forgetRooms() {
  rooms.clear();
}

const ruler = document.createElement("canvas").getContext("2d");
const cuts = new Map();

// A text cut in the middle so that it is at most so wide; both ends of a name tell most.
export function cut(text, width, size = 12) {
  const key = `${size} ${Math.round(width)} ${text}`;
  if (!cuts.has(key)) {
    if (cuts.size > 20000) cuts.clear();
    cuts.set(key, cutAnew(text, width, size));
  }
  return cuts.get(key);
}

function cutAnew(text, width, size) {
  const fits = (candidate) => widthOf(candidate, size) <= width;
  if (fits(text)) return text;
  const characters = Array.from(text);
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const kept = Math.ceil((low + high) / 2);
    if (fits(shortened(characters, kept))) low = kept;
    else high = kept - 1;
  }
  return shortened(characters, low);
}

function shortened(characters, kept) {
  const head = Math.ceil(kept / 2);
  const tail = kept - head;
  return characters.slice(0, head).join("") + "…" + (tail ? characters.slice(-tail).join("") : "");
}

export function number(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  return value.toFixed(digits).replace("-", "\u2212");
}

// A loading is not zero, and is not written as zero.
export function loadingNumber(value, digits) {
  if (Math.abs(value) >= 0.5 * 10 ** -digits) return number(value, digits);
  return value === 0 ? "<\u20090.0001" : number(value, 4);
}

// How wide a text is drawn.
export function widthOf(text, size = 12) {
  ruler.font = `${size}px system-ui, sans-serif`;
  return ruler.measureText(text).width;
}

// ------------------------------------------------------------ files

export function save(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const GUARDED = /^[=+\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]/u;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// A cell that no spreadsheet takes for a formula.
function cell(value) {
  let text = value === null || value === undefined ? "" : String(value);
  if (GUARDED.test(text) && !NUMBER.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function saveTable(name, rows) {
  save(name, rows.map((row) => row.map(cell).join(",")).join("\n") + "\n", "text/csv");
}

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity"];
const KEPT_OF_TEXT = ["font-family", "font-size", "font-weight", "text-anchor", "paint-order"];

function withColours(node) {
  const copy = node.cloneNode(true);
  const pairs = [[node, copy]];
  while (pairs.length) {
    const [from, to] = pairs.pop();
    const style = getComputedStyle(from);
    const names = from.tagName === "text" ? [...KEPT, ...KEPT_OF_TEXT] : KEPT;
    for (const name of names) to.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "data-tip", "tabindex"]) to.removeAttribute(name);
    for (let i = 0; i < from.children.length; i += 1) pairs.push([from.children[i], to.children[i]]);
  }
  return copy;
}

// One file of all pictures of a card, one below the other, with their headings.
export function savePictures(name, card) {
  const background = getComputedStyle(card).backgroundColor;
  const ink = getComputedStyle(card).color;
  const all = svg("svg", {});
  let [width, height] = [0, 0];
  for (const node of card.querySelectorAll("svg[role=img]")) {
    const heading = node.parentElement.querySelector("figcaption");
    if (heading) {
      const style = { fill: ink, "font-family": "sans-serif", "font-size": 13 };
      all.append(label(8, height + 18, heading.innerText.replaceAll("\n", " "), style));
      height += 26;
    }
    const copy = withColours(node);
    copy.setAttribute("y", height);
    all.append(copy);
    width = Math.max(width, Number(node.getAttribute("width")));
    height += Number(node.getAttribute("height")) + 8;
  }
  all.prepend(svg("rect", { width, height, fill: background }));
  for (const [key, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) {
    all.setAttribute(key, value);
  }
  save(name, new XMLSerializer().serializeToString(all), "image/svg+xml");
}
