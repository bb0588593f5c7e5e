// Pictures in justified rows: every one in its own shape, every row of one height and full width.

import { imageUrl } from "./api.js";
import { overlay } from "./trace.js";

export const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

export const nameOf = (hit) => hit.paths[0].split("/").at(-1);

// Beyond these a picture would be a thread; it is cut to fit, and whole when opened.
const WIDEST = 3, TALLEST = 0.45;
const ratioOf = (hit) => Math.min(Math.max(hit.width && hit.height ? hit.width / hit.height : 4 / 3, TALLEST), WIDEST);

/** A picture in its own shape, with the trace over it. */
export function picture(hit, strokes, size = "thumbnail") {
  const holder = make("div", { className: "picture" });
  holder.style.setProperty("--ratio", String(ratioOf(hit)));
  holder.append(make("img", { src: imageUrl(hit.id, size), alt: "", decoding: "async", loading: size === "thumbnail" ? "lazy" : "eager" }));
  if (strokes.length) holder.append(overlay(strokes));
  return holder;
}

/** A picture one can open: its name for those who do not see it, and what stands below it. */
export function card(hit, { label, strokes = [], below = [], open }) {
  const button = make("button", { type: "button", className: "card", ariaLabel: label }, picture(hit, strokes), ...below);
  button.addEventListener("click", open);
  const item = make("li", {}, button);
  item.style.setProperty("--ratio", String(ratioOf(hit)));
  return item;
}

export const rows = (items) => make("ul", { className: "rows" }, ...items);
