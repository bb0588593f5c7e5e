// Why a picture was found: what the score owes to words, strokes and places.

import { svg } from "./trace.js";

export const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

const signed = (value) => `${value >= 0 ? "+" : "−"}${Math.abs(value).toFixed(3)}`;
// A region of nearly the whole picture says nothing of where.
const isWhole = ([xmin, xmax, ymin, ymax]) => (xmax - xmin) * (ymax - ymin) > 0.8;
const HOW = {
  removal: "Each word and each region of the picture was taken away and the rest scored again.",
  covering: "Each word was taken away and each place of the picture covered, and the rest scored again.",
};

export class Why {
  /** What the server told, the query, the shown picture, and the canvas laid over it. */
  constructor(told, words, shown, heat) {
    Object.assign(this, { told, words, shown, heat, buttons: [] });
  }

  parts() {
    this.#outline();
    const line = make("div", { className: "why" }, ...this.told.words.map((word) => this.#word(word)));
    const remark = `${HOW[this.told.method]} Bars: what a word adds. Point at a word to see the places it needs; ` +
      `without the place that counts most the score falls by ${this.told.drop.toFixed(3)}.`;
    const parts = [make("h3", { textContent: "Why" }), line, ...this.#strokes(), ...this.#elements(),
      make("p", { className: "remark", textContent: remark })];
    for (const part of parts) part.addEventListener("pointerleave", () => this.#rest());
    return parts;
  }

  #word(word) {
    const most = Math.max(...this.told.words.map((one) => Math.abs(one.share)), 1e-9);
    return this.#button(this.words.text.slice(word.start_char, word.end_char), {
      colour: this.#phraseOf(word)?.colour, title: signed(word.share), against: word.share < 0,
      share: Math.abs(word.share) / most, regions: word.regions,
    });
  }

  /** What each stroke adds, in the colour and by the words of its phrase. */
  #strokes() {
    const { strokes } = this.told, links = this.words.request.links ?? [];
    if (!strokes.length) return [];
    const list = make("ul", { className: "pointed" }, ...strokes.map((share, place) => {
      const link = links.find((one) => one.stroke === place);
      const phrase = link && this.words.phrases.find((one) => one.start === link.start_char);
      const said = phrase ? `pointing at “${phrase.text}”` : `stroke ${place + 1}`;
      return make("li", { className: phrase?.colour ?? "pn" }, make("span", { textContent: said }), make("b", { textContent: signed(share) }));
    }));
    return [list];
  }

  /** For pictures that are sets: what each element looks at, and how near it is to the words. */
  #elements() {
    const { elements } = this.told;
    if (!elements.length) return [];
    const most = Math.max(...elements.map((one) => one.affinity), 1e-9);
    const line = make("div", { className: "why elements" }, ...elements.map((one, place) => this.#button(`element ${place + 1}`, {
      colour: `p${place % 6}`, title: `best cosine with the words ${one.affinity.toFixed(3)}`,
      share: Math.max(0, one.affinity) / most, regions: one.regions,
    })));
    return [make("h3", { textContent: "What each element of the picture looks at" }), line];
  }

  #button(text, { colour, title, against, share, regions }) {
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

  /** Back to what was pressed, or to the bare picture. */
  #rest() {
    const pressed = this.buttons.find((button) => button.ariaPressed === "true");
    if (pressed) this.#paint(pressed);
    else this.heat.classList.remove("on");
  }

  #phraseOf(word) {
    return this.words.phrases.find((one) => one.start <= word.start_char && word.end_char <= one.end);
  }

  /** The region that does most for each phrase, in its colour; none where none does much. */
  #outline() {
    if (this.told.method !== "removal") return;
    const best = this.words.phrases.map((phrase) => {
      const own = this.told.words.filter((word) => this.#phraseOf(word) === phrase);
      const sums = this.told.boxes.map((box, place) =>
        (isWhole(box) ? -1 : own.reduce((sum, word) => sum + word.regions[place], 0)));
      return { phrase, sum: Math.max(...sums), box: this.told.boxes[sums.indexOf(Math.max(...sums))] };
    });
    const most = Math.max(...best.map((one) => one.sum));
    const shapes = best.filter(({ sum }) => sum > 0 && sum >= most / 5).flatMap(({ phrase, box: [x, xmax, y, ymax] }) => {
      const box = { x, y, width: xmax - x, height: ymax - y };
      return [svg("rect", { class: "halo", ...box }), svg("rect", { class: phrase.colour, ...box })];
    });
    this.shown.append(svg("svg", { class: "regions", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, ...shapes));
  }

  /** A heat map in the colour of its button; only what speaks for the picture is shown. */
  #paint(button) {
    const { width, height } = this.heat, pen = this.heat.getContext("2d");
    const colour = getComputedStyle(button).getPropertyValue("--own") || "#2563d9";
    const most = Math.max(...button.regions.filter((_, place) => !isWhole(this.told.boxes[place])), 1e-9);
    pen.clearRect(0, 0, width, height);
    pen.filter = `blur(${width / 26}px)`;
    this.heat.style.color = colour;
    pen.fillStyle = getComputedStyle(this.heat).color;
    for (const [place, [xmin, xmax, ymin, ymax]] of this.told.boxes.entries()) {
      if (isWhole(this.told.boxes[place])) continue;
      pen.globalAlpha = 0.78 * Math.max(0, button.regions[place] / most) ** 1.3;
      pen.fillRect(xmin * width, ymin * height, (xmax - xmin) * width, (ymax - ymin) * height);
    }
    this.heat.classList.add("on");
  }
}
