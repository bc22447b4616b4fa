// Scales, ticks and the frame of a picture with two axes.

import { label, number, svg } from "./elements.js";

export function linear(from, to, low, high) {
  const factor = (high - low) / (to - from || 1);
  return (value) => low + (value - from) * factor;
}

export function logarithmic(from, to, low, high) {
  const inner = linear(Math.log(from), Math.log(to), low, high);
  return (value) => inner(Math.log(value));
}

// Round numbers between two ends, about so many.
export function ticks(from, to, many = 5) {
  const raw = (to - from) / many || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i += 1) found.push(i * step);
  return found;
}

export function powerTicks(from, to) {
  const found = [];
  for (let power = 1; power <= to; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (digit * power >= from && digit * power <= to) found.push(digit * power);
    }
  }
  return found.length > 1 ? found : ticks(from, to, 4).filter(Number.isInteger);
}

function written(value, step) {
  const digits = Math.max(0, Math.ceil(-Math.log10(step || 1) - 1e-9));
  return number(value, Math.min(digits, 6)).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

// Lines and numbers; box = {left, right, top, bottom}.
export function frame(box, x, y, xs, ys, xTitle, yTitle) {
  const parts = [];
  const step = (values) => (values.length > 1 ? Math.abs(values[1] - values[0]) : 1);
  for (const value of xs) {
    parts.push(svg("line", { class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }));
    const place = { class: "tick", "text-anchor": "middle" };
    parts.push(label(x(value), box.bottom + 15, written(value, step(xs)), place));
  }
  for (const value of ys) {
    parts.push(svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }));
    const place = { class: "tick", "text-anchor": "end" };
    parts.push(label(box.left - 6, y(value) + 4, written(value, step(ys)), place));
  }
  const middle = (box.left + box.right) / 2;
  parts.push(label(middle, box.bottom + 33, xTitle, { class: "title", "text-anchor": "middle" }));
  const height = (box.top + box.bottom) / 2;
  const turned = { class: "title", "text-anchor": "middle", transform: `rotate(-90 ${box.left - 38} ${height})` };
  parts.push(label(box.left - 38, height, yTitle, turned));
  return svg("g", {}, ...parts);
}
