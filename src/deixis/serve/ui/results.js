// What was found, as a grid in the order of the ranking.

import { imageUrl } from "./api.js";
import { overlay } from "./trace.js";

const ratioOf = (hit) => (hit.width && hit.height ? hit.width / hit.height : 4 / 3);

/** The shape most pictures have, within reason, so that few frames stand half empty. */
function usualRatio(hits) {
  const ratios = hits.map(ratioOf).sort((a, b) => a - b);
  return Math.min(Math.max(ratios[ratios.length >> 1] ?? 4 / 3, 3 / 4), 16 / 10);
}

/** A picture in its own shape, with the trace over it. */
export function picture(hit, strokes, frame, size = "thumbnail") {
  const holder = document.createElement("div");
  const ratio = ratioOf(hit);
  holder.className = `picture ${ratio >= frame ? "wide" : "tall"}`;
  holder.style.aspectRatio = String(ratio);
  holder.style.setProperty("--ratio", String(ratio));
  const image = Object.assign(new Image(), { src: imageUrl(hit.id, size), alt: "", decoding: "async" });
  holder.append(image);
  if (strokes.length) holder.append(overlay(strokes));
  return holder;
}

export const nameOf = (hit) => hit.paths[0].split("/").at(-1);

function card(hit, place, { found, strokes, frame: shape, open }) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "card" });
  const frame = Object.assign(document.createElement("div"), { className: "frame" });
  frame.append(picture(hit, strokes, shape));
  const below = Object.assign(document.createElement("div"), { className: "below" });
  const name = Object.assign(document.createElement("span"), { className: "name", textContent: nameOf(hit) });
  const before = found.text_order.indexOf(hit.id), rose = before < 0 ? found.text_order.length - place : before - place;
  const score = document.createElement("span");
  if (strokes.length && found.text_order.length && rose > 0) {
    const beyond = before < 0 ? "+" : "";
    score.append(Object.assign(document.createElement("span"), { className: "moved", textContent: `↑${rose}${beyond}  ` }));
  }
  score.append(hit.score.toFixed(3));
  below.append(name, score);
  button.append(frame, below);
  button.ariaLabel = `${place + 1}. ${nameOf(hit)}, ${hit.band}, score ${hit.score.toFixed(3)}`;
  if (hit.stack.length) {
    button.classList.add("stacked");
    button.ariaLabel += `, and ${hit.stack.length} nearly the same`;
    button.append(Object.assign(document.createElement("span"), { className: "stack", textContent: `+${hit.stack.length}` }));
  }
  button.addEventListener("click", () => open(place));
  const item = document.createElement("li");
  item.append(button);
  return item;
}

function grid(hits, make) {
  const list = Object.assign(document.createElement("ul"), { className: "grid" });
  list.append(...hits.map(make));
  return list;
}

/** Fill the section: what stands out first, the rest folded away. */
export function render(section, found, strokes, open) {
  const frame = usualRatio(found.hits);
  section.style.setProperty("--frame", String(frame));
  const make = (hit) => card(hit, found.hits.indexOf(hit), { found, strokes, frame, open });
  const confident = found.hits.filter((hit) => hit.band === "confident");
  const maybe = found.hits.filter((hit) => hit.band === "maybe");
  const rest = found.hits.filter((hit) => hit.band === "rest");
  const parts = [];
  const titled = (title, hits) => {
    const heading = document.createElement("h2");
    heading.append(title);
    parts.push(heading, grid(hits, make));
  };
  if (confident.length) titled("Stands out", confident);
  if (maybe.length) titled(confident.length ? "Maybe" : "Nothing stands out; maybe these", maybe);
  if (rest.length) {
    const fold = document.createElement("details");
    fold.open = !parts.length;
    const more = parts.length ? `${rest.length} less likely` : `The ${rest.length} least unlike`;
    fold.append(Object.assign(document.createElement("summary"), { textContent: more }), grid(rest, make));
    if (!parts.length) parts.push(empty("Nothing here seems to fit", "No picture scores above what senseless words reach. Below are the least unlike."));
    parts.push(fold);
  }
  if (!found.hits.length) parts.push(empty("No picture passes the filter", "Try a wider one."));
  section.replaceChildren(...parts);
}

export function empty(title, text) {
  const note = Object.assign(document.createElement("p"), { className: "empty" });
  note.append(Object.assign(document.createElement("strong"), { textContent: title }), text);
  return note;
}
