// The search box: what is asked, when, and what is shown for it.

import * as address from "./address.js";
import * as api from "./api.js";
import { Board } from "./board.js";
import { Detail } from "./detail.js";
import { Examples } from "./examples.js";
import { save } from "./export.js";
import { Folders } from "./folders.js";
import { LibraryView } from "./library.js";
import { render } from "./results.js";
import { nameOf } from "./rows.js";
import { sentence } from "./sentence.js";
import { Speech } from "./speech.js";
import { Words, withoutUnwanted } from "./words.js";

const PLACE_ALONE = "Also say what it is: a place alone finds nothing.";
const SETTLED = 1500;  // milliseconds after which a change is a query of its own in the history
const find = (selector) => document.querySelector(selector);
const form = find(".ask"), status = find("#status"), results = find("#results"), where = find("#where");
const weight = find("#weight"), aspect = find("#aspect"), take = find(".take");
const board = new Board(find(".board"));
const words = new Words(find(".field"), find(".phrases"), board);
const examples = new Examples(find(".examples"), board);
const detail = new Detail(find("#detail"), {
  like: (hit) => { alone(examples.add({ id: hit.id, name: nameOf(hit) })); },
  unlike: (hit) => examples.addUnwanted({ id: hit.id, name: nameOf(hit) }),
});
const library = new LibraryView(results, {
  open: (hits, place) => detail.open({ hits }, place, null, []),
  ask: (text) => { words.set(text); words.field.focus(); },
});
let about = null, running = null, timer = null, changed = 0, shown = null, restoring = false;

/** Ask soon: typing and drawing come in bursts. */
function soon(delay = 250) {
  clearTimeout(timer);
  results.ariaBusy = "true";
  timer = setTimeout(run, delay);
}

async function run() {
  timer = null;
  running?.abort();
  const own = running = new AbortController();
  remember();
  results.classList.add("waiting");
  try {
    if (isAsked()) await answer(own);
    else await welcome(own);
    where.ariaInvalid = "false";
  } catch (problem) {
    if (own.signal.aborted || problem.name === "AbortError") return;  // a later question is on its way
    where.ariaInvalid = String(problem.code === "invalid_filter");
    say(problem.message, true);
  }
  if (own !== running) return;
  results.classList.remove("waiting");
  if (timer === null && words.settled) results.ariaBusy = "false";
}

const isPlaceAlone = () => board.strokes.length > 0 && !words.text.trim() && (about?.reads_traces ?? true);
const isAsked = () => Boolean(words.text.trim() || examples.items.length);

/** The library itself, while nothing is asked. */
async function welcome(own) {
  take.hidden = true;
  shown = null;
  const count = await library.show(where.value.trim());
  if (own.signal.aborted) return;
  if (isPlaceAlone()) say(PLACE_ALONE);
  else say(where.value.trim() ? `${count.toLocaleString()} pictures pass the filter` : "");
}

async function answer(own) {
  const started = performance.now(), strokes = words.drawn();
  const query = await asked();
  const found = await request(query, own.signal);
  if (own.signal.aborted) return;
  library.hide();
  render(results, found, { strokes, filtered: Boolean(where.value.trim()), open: (place) => detail.open(found, place, query, strokes) });
  shown = { query, found };
  take.hidden = !found.hits.length;
  summarise(found, performance.now() - started);
}

/** What is asked: words alone as one request, several things as parts of a mixture. */
async function asked() {
  const { text, unwanted } = withoutUnwanted(words.text);
  examples.setUnwanted(unwanted);
  const said = { ...words.query(), text, trace_weight: Number(weight.value) };
  if (!examples.items.length && !unwanted.length) return { text, phrases: words.phrases, request: said };
  const [only] = examples.items;
  const upload = examples.items.length === 1 && only.file && !words.text.trim() && only.weight > 0 ? only : null;
  const parts = upload && await examples.parts().catch(() => null) || (upload ? [] : await examples.parts());
  if (text.trim()) parts.unshift({ weight: 1, words: said });
  return { mixed: { parts }, upload, names: [...(text.trim() ? ["the words"] : []), ...examples.names] };
}

function request(query, signal, k = 48) {
  const values = { k, where: where.value.trim() || null };
  if (query.upload) return api.searchByPicture(query.upload.file, { ...values, crop: query.upload.crop?.map((v) => v.toFixed(4)).join(",") ?? null }, signal);
  if (query.mixed) return api.searchMixed({ ...query.mixed, ...values }, signal);
  return api.search({ ...query.request, ...values }, signal);
}

/** The address holds what is asked: bursts replace each other, a settled query stays in the history. */
function remember() {
  const url = address.write({
    text: words.text, where: where.value.trim(), weight: Number(weight.value), shape: aspect.value,
    strokes: board.strokes, examples: examples.items,
  });
  if (url === location.search) { restoring = false; return; }
  const now = performance.now(), settled = now - changed > SETTLED || location.search === "";
  changed = now;
  if (restoring) { restoring = false; return; }
  history[settled ? "pushState" : "replaceState"](null, "", url || location.pathname);
}

/** Ask again what the address says. */
function restore() {
  const given = address.read(location.search);
  restoring = true;
  where.value = given.where;
  weight.value = String(given.weight);
  if (given.strokes.length) reshape(given.shape);
  examples.set(given.examples);
  words.set(given.text);
  board.set(given.strokes);  // after the words: their places are in this text, and editing moves them
  offerUndoing();
  document.title = given.text ? `${given.text} · deixis` : "deixis";
}

function offerUndoing() {
  for (const name of ["undo", "clear"]) find(`[data-do=${name}]`).disabled = !board.strokes.length;
}

/** Give the canvas a shape, if it is one of those on offer. */
function reshape(shape) {
  if (![...aspect.options].some((one) => one.value === shape)) return;
  aspect.value = shape;
  find(".board").style.setProperty("--shape", shape);
}

function summarise(found, milliseconds) {
  const { text, unwanted } = withoutUnwanted(words.text);
  const understood = sentence({
    phrases: words.phrases, text, strokes: text.trim() ? board.strokes : [], phraseOf: (stroke) => words.phraseOf(stroke),
    examples: examples.items, unwanted, where: where.value.trim(), reads: about?.reads_traces ?? true,
  });
  const all = (found.searched.rows ?? found.searched).toLocaleString();
  const notes = found.notes.filter((note) => !note.code.startsWith("nothing_")).map((note) => note.text);
  if (isPlaceAlone()) notes.unshift(PLACE_ALONE);
  say([`${understood}.`, `${found.hits.length.toLocaleString()} of ${all} pictures in ${Math.round(milliseconds)} ms`, ...notes].join(" · "), notes.length > 0);
  document.title = words.text.trim() ? `${words.text.trim()} · deixis` : "deixis";
}

function say(text, warning = false) {
  status.textContent = text;
  status.classList.toggle("note", warning);
}

/** A picture that is all that is asked: a part of it can be chosen at once. */
function alone(item) {
  if (!words.text.trim() && examples.items.length === 1) examples.crop(item);
}

const byFile = (file) => {
  if (file?.type.startsWith("image/")) alone(examples.add({ file, name: file.name || "pasted picture" }));
};

const speech = new Speech(find(".speak"), board);
speech.addEventListener("heard", (event) => words.hear(event.words, event.began));
speech.addEventListener("problem", (event) => say(event.message, true));
words.addEventListener("edit", () => { results.ariaBusy = "true"; });
words.addEventListener("change", () => soon());
words.addEventListener("problem", (event) => say(event.message, true));
examples.addEventListener("change", () => soon(120));
board.addEventListener("change", () => { offerUndoing(); soon(); });
board.addEventListener("choose", () => {
  if (board.chosen) say("Choose the phrase this stroke belongs to, or “something”, or press Delete to remove it.");
});
where.addEventListener("input", () => soon(400));
weight.addEventListener("input", () => soon(120));
aspect.addEventListener("change", () => { reshape(aspect.value); remember(); });
form.addEventListener("submit", (event) => event.preventDefault());
words.field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); changed = 0; soon(0); }
});
take.addEventListener("click", async (event) => {
  const form = event.target.closest("[data-form]")?.dataset.form;
  if (!form || !shown) return;
  const all = await request(shown.query, undefined, 200).catch(() => shown.found);
  save(form, all, shown.query.mixed ?? shown.query.request);
});
find(".tools").addEventListener("click", (event) => {
  const job = event.target.closest("[data-do]");
  if (job?.dataset.do === "undo") board.undo();
  if (job?.dataset.do === "clear") board.clear();
  if (job?.dataset.do === "veil") job.ariaPressed = String(!results.classList.toggle("bare"));
  if (job?.dataset.do === "cells") {
    board.cells.hidden = !board.cells.hidden;
    job.ariaPressed = String(!board.cells.hidden);
    if (!board.cells.hidden) board.cells.firstElementChild.focus();
  }
});
document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.target.matches("input, textarea, select")) return;
  if (event.key === "/") { event.preventDefault(); words.field.focus(); }
  if (event.key === "z" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); board.undo(); }
  if ((event.key === "Delete" || event.key === "Backspace") && board.chosen) board.remove(board.chosen);
  if (event.key === "Escape" && board.chosen) board.choose(board.chosen);
  if (event.key === "Escape" && examples.cropping) examples.crop(null);
});
window.addEventListener("popstate", restore);

const input = find("input[type=file]"), drop = find(".drop");
find(".pick").addEventListener("click", () => input.click());
input.addEventListener("change", () => { for (const file of input.files) byFile(file); input.value = ""; });
document.addEventListener("paste", (event) => { for (const file of event.clipboardData.files) byFile(file); });
document.addEventListener("dragover", (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  for (const file of event.dataTransfer.files) byFile(file);
});

async function describe() {
  about = await api.library().catch((problem) => { say(problem.message, true); return null; });
  if (!about) return;
  folders.describe(about);
  speech.offer(about.hears);
  document.body.classList.toggle("words-only", !about.reads_traces);
  const conditions = ["path:", "taken:2024-06..2024-08", "near:48.1,11.6,5km", "after:2024-01-01", "larger:1MB", ...about.labels.map((label) => `label:${/\W/.test(label) ? `"${label}"` : label}`)];
  find("#conditions").replaceChildren(...conditions.map((value) => Object.assign(document.createElement("option"), { value })));
}

const folders = new Folders(find("#folders"), find("#about"), async () => { await describe(); soon(0); });
if (location.search) restore();
else if (words.field.value) words.set(words.field.value);
else soon(0);
await describe();
