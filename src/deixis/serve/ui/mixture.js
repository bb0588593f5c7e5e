// Why a picture fits a mixture: what each part adds, and where in the picture.

import { withMixedMaps } from "./maps.js";
import { make } from "./rows.js";
import { Heat, signed } from "./why.js";

/** The parts of an explanation: a bar for each thing asked, its places when pointed at. */
export function mixtureWhy(answer, names, heat) {
  const found = withMixedMaps(answer);
  const most = Math.max(...found.parts.map((one) => Math.abs(one.share)), 1e-9);
  const map = new Heat(heat, found.boxes);
  const buttons = found.parts.map((one, place) => map.button(`${names[place]}  ${signed(one.share)}`, {
    colour: `p${place % 6}`, title: `adds ${signed(one.share)}`, against: one.share < 0,
    share: Math.abs(one.share) / most, regions: one.regions,
  }));
  const parts = [make("h3", { textContent: "Why" }), make("div", { className: "why parts" }, ...buttons),
    make("p", { className: "remark", textContent: `What each thing adds to the score, in units of its usual spread over the library.${places(found)}` })];
  for (const part of parts) part.addEventListener("pointerleave", () => map.rest());
  return parts;
}

/** What pointing at a part shows, where it shows anything. */
function places({ boxes, mapped }) {
  if (!boxes.length) return "";
  if (!mapped) return " Point at one to see the places it needs.";
  return " Point at the words to see where they would be; the map does not say whether they are there.";
}
