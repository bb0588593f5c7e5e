// What was found, in the order of the ranking: what stands out first, the unlikely folded away.

import { card, make, nameOf, rows } from "./rows.js";

function below(hit, place, found, strokes) {
  const before = found.text_order.indexOf(hit.id), rose = before < 0 ? found.text_order.length - place : before - place;
  const score = make("span", { className: "score" });
  if (strokes.length && found.text_order.length && rose > 0) {
    score.append(make("span", { className: "moved", textContent: `↑${rose}${before < 0 ? "+" : ""}  ` }));
  }
  score.append(hit.score.toFixed(3));
  return make("span", { className: "below" }, make("span", { className: "name", textContent: nameOf(hit) }), score);
}

function cardOf(hit, place, { found, strokes, open }) {
  const parts = [below(hit, place, found, strokes)];
  let label = `${place + 1}. ${nameOf(hit)}, ${hit.band}, score ${hit.score.toFixed(3)}`;
  if (hit.stack.length) {
    label += `, and ${hit.stack.length} nearly the same`;
    parts.push(make("span", { className: "stack", textContent: `+${hit.stack.length}` }));
  }
  return card(hit, { label, strokes, below: parts, open: () => open(place) });
}

/** Fill the section. */
export function render(section, found, { strokes, filtered, open }) {
  const cards = (hits) => rows(hits.map((hit) => cardOf(hit, found.hits.indexOf(hit), { found, strokes, open })));
  const of = (band) => found.hits.filter((hit) => hit.band === band);
  const [confident, maybe, rest] = ["confident", "maybe", "rest"].map(of);
  const parts = [];
  const titled = (title, hits) => parts.push(make("h2", { textContent: title }), cards(hits));
  if (confident.length) titled("Stands out", confident);
  if (maybe.length) titled(confident.length ? "Maybe" : "Nothing stands out; maybe these", maybe);
  if (rest.length) {
    const more = parts.length ? `${rest.length} less likely` : `The ${rest.length} closest`;
    const fold = make("details", { open: !parts.length }, make("summary", { textContent: more }), cards(rest));
    if (!parts.length) parts.push(empty("Nothing here seems to fit", "No picture scores above what senseless words reach. The closest are below."));
    parts.push(fold);
  }
  if (!found.hits.length) parts.push(nothing(filtered));
  section.replaceChildren(...parts);
}

const empty = (title, text) =>
  make("p", { className: "empty" }, make("strong", { textContent: title }), text);

/** What stands where no picture can. */
export const nothing = (filtered) => filtered ? empty("No picture passes the filter", "Try a wider one.")
  : empty("There are no pictures yet", "Index a folder; they appear here as soon as they are read.");
