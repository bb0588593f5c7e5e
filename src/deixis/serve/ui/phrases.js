// A text cut into the phrases one can point at.

const BREAKS = new Set(
  ("and then with on in at by near beside besides behind under over above below next to of from into " +
   "between while where that which is are was were has have there here this see looking can i we you " +
   "also but or as for it its left right top bottom middle").split(" "));
const WEAK = new Set("a an the some one two three his her their my".split(" "));
const COLOURS = 6;

/** The phrases of a text: where each begins and ends, what it says, and its colour. */
export function phrasesOf(text) {
  const phrases = [];
  let open = null;
  const close = () => {
    if (open && open.words.some((word) => !WEAK.has(word))) {
      phrases.push({
        start: open.start, end: open.end,
        text: text.slice(open.start, open.end), colour: `p${phrases.length % COLOURS}`,
      });
    }
    open = null;
  };
  for (const found of text.matchAll(/[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|[^\s]/gu)) {
    const word = found[0].toLowerCase();
    if (!/[\p{L}\p{N}]/u.test(word) || BREAKS.has(word)) { close(); continue; }
    open ??= { start: found.index, words: [] };
    open.words.push(word);
    open.end = found.index + found[0].length;
  }
  close();
  return phrases;
}

/** The phrase at a place in the text, or the last one before it. */
export function phraseAt(phrases, place) {
  const before = phrases.filter((phrase) => phrase.start <= place);
  return before.at(-1) ?? phrases[0] ?? null;
}

/** What an edit did: where it began, and by how much everything after it moved. */
export function editBetween(before, after) {
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from] === after[from]) from += 1;
  let same = 0;
  while (same < shorter - from && before.at(-1 - same) === after.at(-1 - same)) same += 1;
  return { from, removed: before.length - from - same, added: after.length - from - same };
}

/** Where a place in the text lies after an edit. */
export function moved(place, edit) {
  if (place < edit.from) return place;
  return Math.max(edit.from, place + edit.added - edit.removed);
}
