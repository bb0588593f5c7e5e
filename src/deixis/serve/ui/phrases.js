// Phrases of a text, which the server finds, and where they lie while the text is edited.

import { phrases } from "./api.js";

const COLOURS = 6;
export const SOMETHING = "something";  // what a stroke points at that belongs to no phrase

// The server counts characters, JavaScript counts UTF-16 units: an emoji is one and two.
export const charactersBefore = (text, unit) => [...text.slice(0, unit)].length;
export const unitsBefore = (text, character) => [...text].slice(0, character).join("").length;

const phrase = (text, start, end, place) =>
  ({ start, end, text: text.slice(start, end), colour: `p${place % COLOURS}` });

/** The phrases of a text: where each begins and ends, what it says, and its colour. */
export async function phrasesOf(text, signal) {
  if (!text.trim()) return [];
  const found = await phrases(text, signal);
  return found.phrases.map((one, place) =>
    phrase(text, unitsBefore(text, one.start_char), unitsBefore(text, one.end_char), place));
}

/** Phrases as an edit leaves them, until the server has cut the new text. */
export function phrasesAfter(known, edit, text) {
  const spans = known.map((one) => [moved(one.start, edit), moved(one.end, edit)]);
  return spans.filter(([start, end]) => text.slice(start, end).trim()).map(([start, end], place) => phrase(text, start, end, place));
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
