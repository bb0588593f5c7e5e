// Why a picture was found: what words, strokes and places add to the score.

import { remark, withMaps } from "./maps.js";
import { unitsBefore } from "./phrases.js";
import { make } from "./rows.js";
import { svg } from "./trace.js";

export const signed = (value) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
// A region of nearly the whole picture says nothing about the place.
const isWhole = ([xmin, xmax, ymin, ymax]) => (xmax - xmin) * (ymax - ymin) > 0.8;

export class Why {
  /** What the server found, the query, the shown picture, and the canvas laid over it. */
  constructor(answer, words, shown, heat) {
    const found = withMaps(answer);
    const unit = (character) => unitsBefore(words.text, character);
    const spans = found.words.map((one) => ({ ...one, start: unit(one.start_char), end: unit(one.end_char) }));
    Object.assign(this, { found: { ...found, words: spans }, words, shown, map: new Heat(heat, found.boxes) });
  }

  parts() {
    this.#outline();
    const line = make("div", { className: "why" }, ...this.found.words.map((word) => this.#word(word)));
    const parts = [make("h3", { textContent: "Why" }), line, ...this.#strokes(), ...this.#elements(),
      make("p", { className: "remark", textContent: remark(this.found) })];
    for (const part of parts) part.addEventListener("pointerleave", () => this.map.rest());
    return parts;
  }

  #word(word) {
    const most = Math.max(...this.found.words.map((one) => Math.abs(one.share)), 1e-9);
    return this.map.button(this.words.text.slice(word.start, word.end), {
      colour: this.#phraseOf(word)?.colour, title: signed(word.share), against: word.share < 0,
      share: Math.abs(word.share) / most, regions: word.regions,
    });
  }

  /** What each stroke adds, in the colour and by the words of its phrase. */
  #strokes() {
    const { strokes } = this.found, links = this.words.request.links ?? [];
    if (!strokes.length) return [];
    const list = make("ul", { className: "pointed" }, ...strokes.map((share, place) => {
      const link = links.find((one) => one.stroke === place);
      const phrase = link?.start_char !== undefined && this.words.phrases.find((one) => one.start === unitsBefore(this.words.text, link.start_char));
      const said = phrase ? `pointing at “${phrase.text}”` : link ? "pointing at something" : `stroke ${place + 1}`;
      return make("li", { className: phrase ? phrase.colour : "pn" }, make("span", { textContent: said }), make("b", { textContent: signed(share) }));
    }));
    return [list];
  }

  /** For pictures that are sets: what each element attends to, and how near it is to the words. */
  #elements() {
    const { elements } = this.found;
    if (!elements.length) return [];
    const most = Math.max(...elements.map((one) => one.affinity), 1e-9);
    const line = make("div", { className: "why elements" }, ...elements.map((one, place) => this.map.button(`element ${place + 1}`, {
      colour: `p${place % 6}`, title: `best cosine with the words ${one.affinity.toFixed(3)}`,
      share: Math.max(0, one.affinity) / most, regions: one.regions,
    })));
    return [make("h3", { textContent: "What each element of the picture attends to" }), line];
  }

  #phraseOf(word) {
    return this.words.phrases.find((one) => one.start <= word.start && word.end <= one.end);
  }

  /** The region that does most for each phrase, in its colour; none where none does much. */
  #outline() {
    if (this.found.method !== "removal") return;
    const best = this.words.phrases.map((phrase) => {
      const own = this.found.words.filter((word) => this.#phraseOf(word) === phrase);
      const sums = this.found.boxes.map((box, place) =>
        (isWhole(box) ? -1 : own.reduce((sum, word) => sum + word.regions[place], 0)));
      return { phrase, sum: Math.max(...sums), box: this.found.boxes[sums.indexOf(Math.max(...sums))] };
    });
    const most = Math.max(...best.map((one) => one.sum));
    const shapes = best.filter(({ sum }) => sum > 0 && sum >= most / 5).flatMap(({ phrase, box: [x, xmax, y, ymax] }) => {
      const box = { x, y, width: xmax - x, height: ymax - y };
      return [svg("rect", { class: "halo", ...box }), svg("rect", { class: phrase.colour, ...box })];
    });
    this.shown.append(svg("svg", { class: "regions", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, ...shapes));
  }
}

/** Places laid over a picture as a heat map, one for each button. */
export class Heat {
  constructor(canvas, boxes) {
    Object.assign(this, { canvas, boxes, buttons: [] });
  }

  /** A button that shows its places when pointed at, and keeps them when pressed. */
  button(text, { colour, title, against, share, regions }) {
    const button = make("button", { type: "button", textContent: text, title, className: `${colour ?? "pn"} ${against ? "against" : ""}` });
    button.ariaPressed = "false";
    button.style.setProperty("--share", String(share));
    button.regions = regions;
    const show = () => this.#paint(button);
    button.addEventListener("pointerenter", show);
    button.addEventListener("focus", show);
    button.addEventListener("click", () => {
      for (const other of this.buttons) other.ariaPressed = String(other === button && other.ariaPressed !== "true");
      show();
    });
    this.buttons.push(button);
    return button;
  }

  /** Back to what was pressed, or to the plain picture. */
  rest() {
    const pressed = this.buttons.find((button) => button.ariaPressed === "true");
    if (pressed) this.#paint(pressed);
    else this.canvas.classList.remove("on");
  }

  /** A heat map in the colour of its button; only what speaks for the picture is shown. */
  #paint(button) {
    const { width, height } = this.canvas, pen = this.canvas.getContext("2d");
    const colour = getComputedStyle(button).getPropertyValue("--own") || "#2563d9";
    const most = Math.max(...button.regions.filter((_, place) => !isWhole(this.boxes[place])), 1e-9);
    pen.clearRect(0, 0, width, height);
    pen.filter = `blur(${width / 26}px)`;
    this.canvas.style.color = colour;
    pen.fillStyle = getComputedStyle(this.canvas).color;
    for (const [place, [xmin, xmax, ymin, ymax]] of this.boxes.entries()) {
      if (isWhole(this.boxes[place])) continue;
      pen.globalAlpha = 0.78 * Math.max(0, button.regions[place] / most) ** 1.3;
      pen.fillRect(xmin * width, ymin * height, (xmax - xmin) * width, (ymax - ymin) * height);
    }
    this.canvas.classList.add("on");
  }
}
