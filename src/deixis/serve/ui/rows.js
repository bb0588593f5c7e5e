// Pictures in justified rows: every one in its own shape, every row of one height and full width.

import { imageUrl } from "./api.js";
import { overlay } from "./trace.js";

export const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

export const nameOf = (hit) => hit.paths[0].split("/").at(-1);

// Beyond these a picture would be a thread; its card is cut to fit, and it is whole when opened.
const WIDEST = 3, TALLEST = 0.45;
const ratioOf = (hit) => (hit.width && hit.height ? hit.width / hit.height : 4 / 3);
const cutRatioOf = (hit) => Math.min(Math.max(ratioOf(hit), TALLEST), WIDEST);

/** A picture in its own shape, with the trace over it; a small one may be cut, its trace with it. */
export function picture(hit, strokes, size = "thumbnail") {
  const holder = make("div", { className: "picture" });
  const whole = ratioOf(hit), shown = size === "thumbnail" ? cutRatioOf(hit) : whole;
  holder.style.setProperty("--ratio", String(shown));
  holder.style.setProperty("--across", String(Math.max(1, whole / shown)));
  holder.style.setProperty("--down", String(Math.max(1, shown / whole)));
  holder.append(make("img", { src: imageUrl(hit.id, size), alt: "", decoding: "async", loading: size === "thumbnail" ? "lazy" : "eager" }));
  if (strokes.length) holder.append(overlay(strokes));
  return holder;
}

/** A picture one can open: its name for those who do not see it, and what stands below it. */
export function card(hit, { label, strokes = [], below = [], open }) {
  const button = make("button", { type: "button", className: "card", ariaLabel: label }, picture(hit, strokes), ...below);
  button.addEventListener("click", open);
  const item = make("li", {}, button);
  item.style.setProperty("--ratio", String(cutRatioOf(hit)));
  return item;
}

export const rows = (items) => make("ul", { className: "rows" }, ...items);
