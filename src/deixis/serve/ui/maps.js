// Where each phrase is in a picture: maps over 9 x 9 cells, by models that can be pointed at.

const SIDE = 9;

const HOW = {
  removal: "Each word and each region of the picture was removed in turn and the rest scored again.",
  places: "Each word was removed in turn and the rest scored again.",
  words: "Each word was removed in turn and the rest scored again. This model sees a picture as a whole, so it shows no places.",
};

/** The cells as boxes: xmin, xmax, ymin, ymax. */
const grid = Array.from({ length: SIDE * SIDE }, (_, cell) => {
  const x = cell % SIDE, y = Math.floor(cell / SIDE);
  return [x / SIDE, (x + 1) / SIDE, y / SIDE, (y + 1) / SIDE];
});

/** An explanation whose words carry the maps of their phrases, to be painted like regions. */
export function withMaps(found) {
  if (found.method !== "places") return found;
  const mapOf = (word) => found.phrases.find((one) =>
    one.start_char !== null && one.start_char <= word.start_char && word.end_char <= one.end_char)?.cells;
  const words = found.words.map((word) => ({ ...word, regions: mapOf(word) ?? grid.map(() => 0) }));
  return { ...found, boxes: grid, words };
}

/** A mixture explained with the maps of its words, all phrases of a part together; pictures have none. */
export function withMixedMaps(found) {
  if (!found.words.some((one) => one?.method === "places" && one.phrases.length)) return found;
  const parts = found.parts.map((part, place) => {
    const maps = (found.words[place]?.phrases ?? []).map((one) => one.cells);
    return { ...part, regions: grid.map((_, cell) => maps.reduce((sum, cells) => sum + cells[cell], 0)) };
  });
  return { ...found, boxes: grid, parts, mapped: true };
}

/** How the explanation was made, and how far to trust it. */
export function remark(found) {
  const bars = `${HOW[found.method]} Bars show what a word adds.`;
  if (found.method === "words") return bars;
  if (found.method === "removal") {
    return `${bars} Point at a word to see the places it needs; ` +
      `without the most important place the score falls by ${found.drop.toFixed(3)}.`;
  }
  const judged = found.pointing_game === null ? "How often such a map is right was not measured."
    : `On test photographs its peak lies in the box that people drew for ${found.pointing_game.toFixed(1)} % of the phrases.`;
  return `${bars} Point at a word to see where its phrase would be; the map does not say whether it is there. ${judged}`;
}
