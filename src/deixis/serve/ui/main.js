// The search box: what is asked, when, and what is shown for it.

import * as api from "./api.js";
import { Board } from "./board.js";
import { Detail } from "./detail.js";
import { empty, nameOf, render } from "./results.js";
import { Words } from "./words.js";

const find = (selector) => document.querySelector(selector);
const form = find(".ask"), status = find("#status"), results = find("#results"), where = find("#where");
const board = new Board(find(".board"));
const words = new Words(find(".field"), find(".phrases"), board);
const detail = new Detail(find("#detail"), (hit) => byPicture({ id: hit.id, name: nameOf(hit), url: api.imageUrl(hit.id) }));
let about = null, asked = null, running = null, timer = null;

/** Ask soon: typing and drawing come in bursts. */
function soon(delay = 250) {
  clearTimeout(timer);
  timer = setTimeout(run, delay);
}

async function run() {
  running?.abort();
  if (!asked && !words.text.trim()) { welcome(); return; }
  running = new AbortController();
  results.classList.add("waiting");
  try {
    const started = performance.now();
    const query = asked ? null : { text: words.text, phrases: words.phrases, request: said() };
    const strokes = asked ? [] : words.drawn();
    const found = await request(running.signal);
    render(results, found, strokes, (place) => detail.open(found, place, query, strokes));
    where.ariaInvalid = "false";
    tell(found, performance.now() - started);
  } catch (problem) {
    if (problem.name === "AbortError") return;
    where.ariaInvalid = String(problem.message.startsWith("the filter"));
    say(problem.message, true);
  }
  results.classList.remove("waiting");
}

/** Words, strokes and how much the strokes count. */
const said = () => ({ ...words.query(), trace_weight: Number(find("#weight").value) });

function request(signal) {
  const values = { k: 48, where: where.value.trim() || null };
  if (asked?.id) return api.searchById(asked.id, values, signal);
  if (asked) return api.searchByPicture(asked.file, { ...values, crop: board.crop?.map((v) => v.toFixed(4)).join(",") ?? null }, signal);
  return api.search({ ...said(), ...values }, signal);
}

function tell(found, milliseconds) {
  const count = found.hits.length.toLocaleString(), all = found.searched.toLocaleString();
  const notes = found.notes.filter((note) => !note.startsWith("nothing"));
  say(`${count} of ${all} pictures in ${Math.round(milliseconds)} ms${notes.map((note) => ` · ${note}`).join("")}`, notes.length > 0);
}

function say(text, warning = false) {
  status.textContent = text;
  status.classList.toggle("note", warning);
}

function welcome() {
  say("");
  results.classList.remove("waiting");
  const start = empty("Say what, point where", "Type a few words; draw on the canvas where each thing is. Drop a picture to search by it.");
  results.replaceChildren(start);
}

/** Search by a picture: {file, url, name} or, of the library, {id, url, name}. */
function byPicture(picture) {
  asked = picture;
  find(".asked-picture")?.remove();
  words.field.hidden = words.mirror.hidden = picture !== null;
  board.show(picture?.url ?? null);
  document.body.classList.toggle("by-picture", picture !== null);
  if (picture) {
    const shown = Object.assign(document.createElement("div"), { className: "asked-picture" });
    const stop = Object.assign(document.createElement("button"), {
      type: "button", className: "quiet", ariaLabel: "Back to words", title: "Back to words", textContent: "✕",
    });
    stop.addEventListener("click", () => { byPicture(null); words.field.focus(); });
    shown.append(
      Object.assign(new Image(), { src: picture.url, alt: "" }),
      Object.assign(document.createElement("span"), { textContent: picture.name }), stop);
    find(".field").prepend(shown);
  }
  find(".hint").textContent = picture ? "drag to choose a part" : "point at where it is";
  soon(0);
}

const byFile = (file) => file?.type.startsWith("image/") &&
  byPicture({ file, name: file.name || "pasted picture", url: URL.createObjectURL(file) });

words.addEventListener("change", () => soon());
board.addEventListener("change", () => {
  for (const name of ["undo", "clear"]) find(`[data-do=${name}]`).disabled = !board.strokes.length;
  soon();
});
board.addEventListener("choose", () => {
  if (board.chosen) say("Choose the phrase this stroke belongs to, or press Delete to remove it.");
});
where.addEventListener("input", () => soon(400));
find("#weight").addEventListener("input", () => soon(120));
find("#aspect").addEventListener("change", (event) => { find(".board").style.aspectRatio = event.target.value; });
form.addEventListener("submit", (event) => event.preventDefault());
words.field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); soon(0); }
});
find(".tools").addEventListener("click", (event) => {
  const job = event.target.closest("[data-do]");
  if (job?.dataset.do === "undo") board.undo();
  if (job?.dataset.do === "clear") board.clear();
  if (job?.dataset.do === "veil") {
    job.ariaPressed = String(!results.classList.toggle("bare"));
  }
  if (job?.dataset.do === "cells") {
    board.cells.hidden = !board.cells.hidden;
    job.ariaPressed = String(!board.cells.hidden);
    if (!board.cells.hidden) board.cells.firstElementChild.focus();
  }
});
document.addEventListener("keydown", (event) => {
  if (find("#detail").open || event.target.matches("input, textarea, select")) return;
  if (event.key === "/") { event.preventDefault(); words.field.focus(); }
  if (event.key === "z" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); board.undo(); }
  if ((event.key === "Delete" || event.key === "Backspace") && board.chosen) board.remove(board.chosen);
  if (event.key === "Escape" && board.chosen) board.choose(board.chosen);
});

const input = find("input[type=file]"), drop = find(".drop");
find(".pick").addEventListener("click", () => input.click());
input.addEventListener("change", () => { byFile(input.files[0]); input.value = ""; });
document.addEventListener("paste", (event) => byFile([...event.clipboardData.files][0]));
document.addEventListener("dragover", (event) => {
  if (![...event.dataTransfer.types].includes("Files")) return;
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  byFile([...event.dataTransfer.files][0]);
});

welcome();
about = await api.library().catch((problem) => { say(problem.message, true); return null; });
if (about) {
  find("#about").textContent = `${about.pictures.toLocaleString()} pictures`;
  document.body.classList.toggle("words-only", !about.reads_traces);
  const conditions = ["path:", "after:2024-01-01", "larger:1MB", ...about.labels.map((label) => `label:${/\W/.test(label) ? `"${label}"` : label}`)];
  find("#conditions").append(...conditions.map((value) => Object.assign(document.createElement("option"), { value })));
}
if (words.field.value) words.set(words.field.value);
