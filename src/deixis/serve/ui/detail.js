// One picture, large, and why it was found.

import { explain, imageUrl } from "./api.js";
import { nameOf, picture } from "./results.js";
import { make, Why } from "./why.js";

export class Detail {
  constructor(dialog, similar) {
    [this.dialog, this.similar] = [dialog, similar];
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => this.asking?.abort());
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && this.found.hits[this.place + step]) this.open(this.found, this.place + step, this.words, this.strokes);
    });
  }

  /** Show one hit; words is null when a picture was searched by. */
  open(found, place, words, strokes) {
    Object.assign(this, { found, place, words, strokes });
    const hit = found.hits[place];
    this.stage = make("div", { className: "stage" });
    this.shown = picture(hit, strokes, 1.25, "large");
    this.shown.querySelector("img").alt = nameOf(hit);
    this.heat = make("canvas", { className: "heat", width: 240, height: 180 });
    this.shown.querySelector("img").after(this.heat);
    this.stage.append(this.shown);
    this.facts = make("div", { className: "facts" }, ...this.#facts(hit));
    const sheet = make("div", { className: "sheet" }, this.stage, this.facts);
    this.dialog.replaceChildren(sheet);
    this.dialog.ariaLabel = nameOf(hit);
    if (!this.dialog.open) this.dialog.showModal();
    if (words) this.#why(hit);
  }

  #facts(hit) {
    const close = make("button", { type: "button", className: "quiet", ariaLabel: "Close", textContent: "✕" });
    close.addEventListener("click", () => this.dialog.close());
    const folder = hit.paths[0].slice(0, -nameOf(hit).length - 1);
    const scores = make("div", { className: "scores" }, number(hit.score, hit.text_score === null ? "score" : "words and place"));
    if (hit.text_score !== null) scores.append(number(hit.text_score, "words alone"));
    const alike = make("button", { type: "button", textContent: "More like this" });
    alike.addEventListener("click", () => { this.dialog.close(); this.similar(hit); });
    const original = make("a", { href: imageUrl(hit.id, "original"), target: "_blank", rel: "noopener", textContent: "Open original" });
    this.explained = make("div");
    return [
      make("header", {}, make("div", { className: "title" }, make("h2", { textContent: nameOf(hit) }), make("p", { className: "folder", textContent: folder })), close),
      scores, this.explained, ...this.#orders(hit), this.#copies(hit),
      make("div", { className: "actions" }, alike, original),
    ];
  }

  #copies(hit) {
    const same = hit.paths.length - 1, nearly = hit.stack.length;
    if (!same && !nearly) return "";
    const strip = make("ol");
    strip.append(...hit.stack.map((id) => make("li", {}, make("img", { src: imageUrl(id), alt: "near-duplicate" }))));
    return make("div", {}, make("h3", { textContent: `${same} exact copies, ${nearly} nearly the same` }), make("div", { className: "orders" }, "", strip));
  }

  /** Where words alone would have put this picture, beside where words and place put it. */
  #orders(hit) {
    if (!this.found.text_order.length) return [];
    const strip = (ids) => {
      const at = Math.max(0, ids.indexOf(hit.id) - 2), list = make("ol");
      list.append(...ids.slice(at, at + 5).map((id) => make("li", { className: id === hit.id ? "here" : "" },
        make("img", { src: imageUrl(id), alt: id === hit.id ? "this picture" : "" }))));
      return list;
    };
    const rank = (ids) => { const place = ids.indexOf(hit.id); return place < 0 ? `below ${ids.length}` : `No. ${place + 1}`; };
    const both = this.found.hits.map((one) => one.id), alone = this.found.text_order;
    const orders = make("div", { className: "orders" },
      make("span", { textContent: `words and place: ${rank(both)}` }), strip(both),
      make("span", { textContent: `words alone: ${rank(alone)}` }), strip(alone));
    orders.dataset.ranks = "";
    return [make("h3", { textContent: "What the pointing changed" }), orders];
  }

  async #why(hit) {
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      const told = await explain({ ...this.words.request, id: hit.id }, this.asking.signal);
      this.explained.replaceChildren(...new Why(told, this.words, this.shown, this.heat).parts());
      this.#ranks(told);
    } catch (problem) {
      if (problem.name !== "AbortError") this.explained.replaceChildren(make("p", { className: "remark", textContent: problem.message }));
    }
  }

  /** The true places in the library, which the first hits alone cannot tell. */
  #ranks(told) {
    const labels = this.facts.querySelectorAll(".orders[data-ranks] > span");
    if (told.rank && labels[0]) labels[0].textContent = `words and place: No. ${told.rank}`;
    if (told.text_rank && labels[1]) labels[1].textContent = `words alone: No. ${told.text_rank}`;
  }
}

function number(value, label) {
  return make("div", { textContent: value.toFixed(3) }, make("span", { textContent: label }));
}
