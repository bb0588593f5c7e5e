// The text field: its phrases, when each word was typed, and which stroke belongs to which phrase.

import { SOMETHING, charactersBefore, editBetween, moved, phraseAt, phrasesAfter, phrasesOf } from "./phrases.js";

const UNWANTED = /(^|\s)[-−](?:"([^"]+)"|([^\s"]+))/g;

/** The text without the words that have a minus sign, which keep their place as blanks. */
export function withoutUnwanted(text) {
  const unwanted = [];
  const kept = text.replace(UNWANTED, (all, before, quoted, plain) => {
    unwanted.push(quoted ?? plain);
    return " ".repeat(all.length);
  });
  return { text: kept, unwanted: [...new Set(unwanted)] };
}

export class Words extends EventTarget {
  constructor(field, list, board) {
    super();
    [this.field, this.list, this.board] = [field.querySelector("textarea"), list, board];
    this.mirror = field.querySelector(".mirror");
    this.text = "";
    this.phrases = [];
    this.settled = true;  // whether the phrases are those of the text
    this.times = [];  // when each character was typed
    this.wanted = null;  // where the phrase begins that was clicked to be pointed at next, or SOMETHING
    board.colourOf = (stroke) => this.phraseOf(stroke)?.colour ?? "pn";
    board.nameOf = (stroke) => {
      const phrase = this.phraseOf(stroke);
      return phrase ? `, for “${phrase.text}”` : stroke.anchor === SOMETHING ? ", for something" : "";
    };
    board.addEventListener("draw", (event) => {
      event.stroke.anchor = this.wanted ?? this.#place();
    });
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

  /** What was said and when; strokes drawn meanwhile go with the words that were said then. */
  hear(words, began) {
    this.set(words.map((word) => word.text).join(" "));
    let at = 0;
    this.times = words.flatMap(({ text, start, end }, place) => [
      ...[...Array(text.length).keys()].map((letter) => start + (end - start) * letter / text.length),
      ...(place < words.length - 1 ? [end] : []),
    ]);
    const places = words.map((word) => { const from = at; at += word.text.length + 1; return { ...word, from }; });
    for (const stroke of this.board.strokes) {
      const middle = (stroke.points[0].t + stroke.points.at(-1).t) / 2;
      if (!(middle >= began) || stroke.anchor === SOMETHING) continue;
      const distance = (word) => Math.max(word.start - middle, middle - word.end, 0);
      stroke.anchor = places.reduce((best, word) => (distance(word) < distance(best) ? word : best)).from;
      stroke.spoken = true;
    }
    this.render();
    this.board.render();
  }

  /** The phrase the next stroke will belong to, if it will belong to one. */
  current() {
    if (this.wanted === SOMETHING) return null;
    return phraseAt(this.phrases, this.wanted ?? this.field.selectionStart ?? this.text.length);
  }

  /**
   * The character a stroke drawn now belongs to, which moves with the text. Not its phrase: that of
   * words just typed is known only once the server has cut the text, and more may be typed until then.
   */
  #place() {
    if (!this.text.trim()) return null;
    const caret = this.field.selectionStart ?? this.text.length;
    return /\S/.test(this.text[caret] ?? "") ? caret : Math.max(0, caret - 1);
  }

  phraseOf(stroke) {
    if (!stroke) return this.current();
    return stroke.anchor === null || stroke.anchor === SOMETHING ? null : phraseAt(this.phrases, stroke.anchor);
  }

  /** Strokes with the colours they are shown in. */
  drawn() {
    return this.board.strokes.map((stroke) => ({ points: stroke.points, colour: this.phraseOf(stroke)?.colour ?? "pn" }));
  }

  /** Words, times, strokes and links as the server takes them. */
  query() {
    const links = this.board.strokes.flatMap((stroke, place) => {
      const phrase = this.phraseOf(stroke);
      if (stroke.anchor === SOMETHING) return [{ stroke: place }];
      if (!phrase || stroke.spoken) return [];  // times say what a stroke goes with, as in a narration
      const [start_char, end_char] = [phrase.start, phrase.end].map((unit) => charactersBefore(this.text, unit));
      return [{ start_char, end_char, stroke: place }];
    });
    const words = [...this.text.matchAll(/\S+/g)].map((found) => {
      const times = this.times.slice(found.index, found.index + found[0].length);
      return { utterance: found[0], start_time: Math.min(...times), end_time: Math.max(...times) };
    });
    const traces = this.board.strokes.map((stroke) => stroke.points);
    return { text: this.text, ...(traces.length ? { traces, links, timed_text: words } : {}) };
  }

  render() {
    const chosen = this.board.chosen, pressed = chosen ? this.phraseOf(chosen) : this.current();
    document.body.classList.toggle("choosing", chosen !== null);
    const owned = new Set(this.board.strokes.map((stroke) => this.phraseOf(stroke)?.start));
    const chips = this.phrases.map((phrase) => this.#chip(phrase.start, {
      name: phrase.text, said: `“${phrase.text}”`, colour: phrase.colour, drawn: owned.has(phrase.start), pressed: phrase === pressed,
    }));
    if (chips.length) {
      chips.push(this.#chip(SOMETHING, {
        name: SOMETHING, said: "something, whatever it is", colour: "pn",
        drawn: this.board.strokes.some((stroke) => stroke.anchor === SOMETHING),
        pressed: (chosen ? chosen.anchor : this.wanted) === SOMETHING,
      }));
    }
    this.list.replaceChildren(...chips);
    this.#underline(owned);
  }

  #chip(anchor, { name, said, colour, drawn, pressed }) {
    const button = Object.assign(document.createElement("button"), {
      type: "button", textContent: name, className: `${colour} ${drawn ? "drawn" : ""}`,
      title: this.board.chosen ? `Give the chosen stroke to ${said}` : `Point at ${said} next`,
    });
    button.ariaPressed = String(pressed);
    button.addEventListener("click", () => this.#pick(anchor));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }

  #pick(anchor) {
    const stroke = this.board.chosen;
    if (stroke) {
      Object.assign(stroke, { anchor, spoken: false });
      this.board.choose(stroke);
      this.dispatchEvent(new Event("change"));
    } else {
      this.wanted = anchor;
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
    this.wanted = null;
    for (const stroke of this.board.strokes) {
      if (Number.isInteger(stroke.anchor)) stroke.anchor = moved(stroke.anchor, edit);
    }
    this.#show(phrasesAfter(this.phrases, edit, this.text));
    this.#cut();
  }

  /** Let the server cut the text into phrases; the search waits for them, since links name them. */
  async #cut() {
    this.cutting?.abort();
    this.cutting = new AbortController();
    this.settled = false;
    this.dispatchEvent(new Event("edit"));
    try {
      this.#show(await phrasesOf(withoutUnwanted(this.text).text, this.cutting.signal));
    } catch (problem) {
      if (problem.name === "AbortError") return;
      this.dispatchEvent(Object.assign(new Event("problem"), { message: problem.message }));
    }
    this.settled = true;
    this.dispatchEvent(new Event("change"));
  }

  #show(phrases) {
    this.phrases = phrases;
    for (const stroke of this.board.strokes) {
      // What was drawn before its words belongs to the words that come next.
      stroke.anchor ??= this.#place();
    }
    this.render();
    this.board.render();
  }
}
