// One sentence that says what was understood.

const PLACES = [["top left", "top", "top right"], ["left", "middle", "right"], ["bottom left", "bottom", "bottom right"]];
const third = (value) => Math.min(2, Math.max(0, Math.floor(value * 3)));

/** Where a stroke lies, in words. */
export function placeOf(points) {
  const mean = (key) => points.reduce((sum, point) => sum + point[key], 0) / points.length;
  return PLACES[third(mean("y"))][third(mean("x"))];
}

const listed = (parts) => (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`);

/** What is looked for: phrases with their places, examples, the filter. */
export function sentence({ phrases, text, strokes, phraseOf, examples, unwanted, where, reads }) {
  const named = phrases.map((phrase) => {
    const own = reads ? strokes.filter((stroke) => phraseOf(stroke) === phrase) : [];
    const places = [...new Set(own.map((stroke) => placeOf(stroke.points)))];
    return `“${phrase.text}”${places.length ? ` at the ${listed(places)}` : ""}`;
  });
  const wanted = named.length ? named : text.trim() ? [`“${text.trim()}”`] : [];
  const loose = reads ? strokes.filter((stroke) => !phraseOf(stroke)).length : 0;
  if (loose) wanted.push(`something at the ${listed(strokes.filter((one) => !phraseOf(one)).map((one) => placeOf(one.points)))}`);
  const like = examples.filter((one) => one.weight > 0).map(shown), unlike = examples.filter((one) => one.weight < 0).map(shown);
  const parts = [];
  if (wanted.length) parts.push(listed(wanted));
  if (like.length) parts.push(`more like ${listed(like)}`);
  const less = [...unlike, ...unwanted.map((one) => `“${one}”`)];
  if (less.length) parts.push(`less like ${listed(less)}`);
  return `Looked for ${parts.join(", ")}${where ? `, only ${where}` : ""}`;
}

const shown = (one) => (one.crop ? `a part of ${one.name}` : one.name);
