// One picture, large, and why it was found.

import { explain, explainMixed, imageUrl } from "./api.js";
import { mixtureWhy } from "./mixture.js";
import { make, nameOf, picture } from "./rows.js";
import { Why } from "./why.js";

export class Detail {
  /** The dialog, and what takes a picture as wanted or unwanted. */
  constructor(dialog, { like, unlike }) {
    Object.assign(this, { dialog, like, unlike });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => this.asking?.abort());
    dialog.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step && this.found.hits[this.place + step]) this.open(this.found, this.place + step, this.words, this.strokes);
    });
  }

  /** Show one hit; words is null in the library, {mixed, names} when several things were asked. */
  open(found, place, words, strokes) {
    Object.assign(this, { found, place, words, strokes });
    const hit = found.hits[place];
    this.stage = make("div", { className: "stage" });
    this.shown = picture(hit, strokes, "large");
    this.shown.querySelector("img").alt = nameOf(hit);
    this.heat = make("canvas", { className: "heat", width: 240, height: 180 });
    this.shown.querySelector("img").after(this.heat);
    this.stage.append(this.shown);
    this.facts = make("div", { className: "facts" }, ...this.#facts(hit));
    const sheet = make("div", { className: "sheet" }, this.stage, this.facts);
    this.dialog.replaceChildren(sheet);
    this.dialog.ariaLabel = nameOf(hit);
    if (!this.dialog.open) this.dialog.showModal();
    else this.close.focus({ preventScroll: true });  // what had the focus is gone: keys would end here
    if (words) this.#why(hit);
  }

  #facts(hit) {
    this.close = make("button", { type: "button", className: "quiet", ariaLabel: "Close", textContent: "✕" });
    this.close.addEventListener("click", () => this.dialog.close());
    const folder = hit.paths[0].slice(0, -nameOf(hit).length - 1);
    const scores = make("div", { className: "scores", hidden: hit.score === undefined }, number(hit.score ?? 0, (hit.text_score ?? null) === null ? "score" : "words and place"));
    if ((hit.text_score ?? null) !== null) scores.append(number(hit.text_score, "words alone"));
    const alike = make("button", { type: "button", textContent: "More like this" });
    alike.addEventListener("click", () => { this.dialog.close(); this.like(hit); });
    const unalike = make("button", { type: "button", textContent: "Less like this", hidden: !this.words });
    unalike.addEventListener("click", () => { this.dialog.close(); this.unlike(hit); });
    const original = make("a", { href: imageUrl(hit.id, "original"), target: "_blank", rel: "noopener", textContent: "Open original" });
    this.explained = make("div");
    return [
      make("header", {}, make("div", { className: "title" }, make("h2", { textContent: nameOf(hit) }), make("p", { className: "folder", textContent: folder })), this.close),
      scores, this.explained, ...this.#orders(hit), this.#copies(hit),
      make("div", { className: "actions" }, alike, unalike, original),
    ];
  }

  #copies(hit) {
    const same = hit.paths.length - 1, stack = hit.stack ?? [], nearly = stack.length;
    if (!same && !nearly) return "";
    const strip = make("ol");
    strip.append(...stack.map((id) => make("li", {}, make("img", { src: imageUrl(id), alt: "near-duplicate" }))));
    return make("div", {}, make("h3", { textContent: `${same} exact copies, ${nearly} nearly the same` }), make("div", { className: "orders" }, "", strip));
  }

  /** Where words alone would have put this picture, beside where words and place put it. */
  #orders(hit) {
    if (!this.found.text_order?.length) return [];
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
      if (this.words.mixed) {
        const found = await explainMixed({ ...this.words.mixed, id: hit.id }, this.asking.signal);
        this.explained.replaceChildren(...mixtureWhy(found, this.words.names, this.heat));
        return;
      }
      const answer = await explain({ ...this.words.request, id: hit.id }, this.asking.signal);
      this.explained.replaceChildren(...new Why(answer, this.words, this.shown, this.heat).parts());
      this.#ranks(answer);
    } catch (problem) {
      if (problem.name !== "AbortError") this.explained.replaceChildren(make("p", { className: "remark", textContent: problem.message }));
    }
  }

  /** The true ranks in the library, which the first hits alone do not show. */
  #ranks(answer) {
    const labels = this.facts.querySelectorAll(".orders[data-ranks] > span");
    if (answer.rank && labels[0]) labels[0].textContent = `words and place: No. ${answer.rank}`;
    if (answer.text_rank && labels[1]) labels[1].textContent = `words alone: No. ${answer.text_rank}`;
  }
}

function number(value, label) {
  return make("div", { textContent: value.toFixed(3) }, make("span", { textContent: label }));
}
