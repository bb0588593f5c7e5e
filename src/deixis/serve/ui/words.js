// The text field: its phrases, when each word was typed, and which stroke belongs to which phrase.

import { editBetween, moved, phraseAt, phrasesOf } from "./phrases.js";

export class Words extends EventTarget {
  constructor(field, list, board) {
    super();
    [this.field, this.list, this.board] = [field.querySelector("textarea"), list, board];
    this.mirror = field.querySelector(".mirror");
    this.text = "";
    this.phrases = [];
    this.times = [];  // when each character was typed
    this.wanted = null;  // where the phrase begins that was clicked to be pointed at next
    board.colourOf = (stroke) => this.phraseOf(stroke)?.colour ?? "pn";
    board.nameOf = (stroke) => { const phrase = this.phraseOf(stroke); return phrase ? `, for “${phrase.text}”` : ""; };
    board.addEventListener("draw", (event) => { event.stroke.anchor = this.current()?.start ?? null; });
    board.addEventListener("choose", () => this.render());
    board.addEventListener("change", () => this.render());
    this.field.addEventListener("input", () => this.#edited());
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === this.field) { this.wanted = null; this.render(); this.board.render(); }
    });
  }

  set(text) {
    this.field.value = text;
    this.#edited();
  }

  /** The phrase the next stroke will belong to. */
  current() {
    return phraseAt(this.phrases, this.wanted ?? this.field.selectionStart ?? this.text.length);
  }

  phraseOf(stroke) {
    if (!stroke) return this.current();
    return stroke.anchor === null ? null : phraseAt(this.phrases, stroke.anchor);
  }

  /** Strokes with the colours they are shown in. */
  drawn() {
    return this.board.strokes.map((stroke) => ({ points: stroke.points, colour: this.phraseOf(stroke)?.colour ?? "pn" }));
  }

  /** Words, times, strokes and links as the server takes them. */
  query() {
    const links = this.board.strokes.flatMap((stroke, place) => {
      const phrase = this.phraseOf(stroke);
      return phrase ? [{ start_char: phrase.start, end_char: phrase.end, stroke: place }] : [];
    });
    const words = [...this.text.matchAll(/\S+/g)].map((found) => {
      const times = this.times.slice(found.index, found.index + found[0].length);
      return { utterance: found[0], start_time: Math.min(...times), end_time: Math.max(...times) };
    });
    const traces = this.board.strokes.map((stroke) => stroke.points);
    return { text: this.text, ...(traces.length ? { traces, links, timed_text: words } : {}) };
  }

  render() {
    const current = this.current(), chosen = this.board.chosen;
    document.body.classList.toggle("choosing", chosen !== null);
    const owned = new Set(this.board.strokes.map((stroke) => this.phraseOf(stroke)?.start));
    this.list.replaceChildren(...this.phrases.map((phrase) => {
      const button = Object.assign(document.createElement("button"), {
        type: "button", textContent: phrase.text, className: `${phrase.colour} ${owned.has(phrase.start) ? "drawn" : ""}`,
      });
      button.ariaPressed = String(phrase === (chosen ? this.phraseOf(chosen) : current));
      button.title = chosen ? `Give the chosen stroke to “${phrase.text}”` : `Point at “${phrase.text}” next`;
      button.addEventListener("click", () => this.#pick(phrase));
      const item = document.createElement("li");
      item.append(button);
      return item;
    }));
    this.#underline(owned);
  }

  #pick(phrase) {
    const stroke = this.board.chosen;
    if (stroke) {
      stroke.anchor = phrase.start;
      this.board.choose(stroke);
      this.dispatchEvent(new Event("change"));
    } else {
      this.wanted = phrase.start;
    }
    this.render();
    this.board.render();
  }

  #underline(owned) {
    const parts = [];
    let at = 0;
    for (const phrase of this.phrases) {
      const mark = Object.assign(document.createElement("mark"), {
        textContent: phrase.text, className: owned.has(phrase.start) ? phrase.colour : "idle",
      });
      parts.push(this.text.slice(at, phrase.start), mark);
      at = phrase.end;
    }
    this.mirror.replaceChildren(...parts, this.text.slice(at));
  }

  #edited() {
    const edit = editBetween(this.text, this.field.value), now = this.board.now();
    this.text = this.field.value;
    this.times.splice(edit.from, edit.removed, ...Array(edit.added).fill(now));
    this.phrases = phrasesOf(this.text);
    this.wanted = null;
    for (const stroke of this.board.strokes) {
      // What was drawn before its words belongs to the words that come next.
      if (stroke.anchor === null) stroke.anchor = this.current()?.start ?? null;
      else stroke.anchor = moved(stroke.anchor, edit);
    }
    this.render();
    this.board.render();
    this.dispatchEvent(new Event("change"));
  }
}
