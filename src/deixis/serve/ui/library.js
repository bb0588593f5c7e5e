// The library itself, before anything is asked: newest first or by folder, as far as one scrolls.

import { browse, examples } from "./api.js";
import { nothing } from "./results.js";
import { card, make, nameOf, rows } from "./rows.js";

const PAGE = 60;

export class LibraryView {
  /** The section to fill, what opens a picture, and what takes an example query. */
  constructor(section, { open, ask }) {
    Object.assign(this, { section, open, ask, order: "newest", suggested: null });
    this.watch = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) this.#more(); }, { rootMargin: "600px" });
  }

  /** Show the beginning of the library, as far as a filter lets it through. */
  async show(where) {
    this.running?.abort();
    this.running = new AbortController();
    Object.assign(this, { where, hits: [], heading: null, list: null, whole: false, loading: false });
    const first = await browse({ order: this.order, start: 0, count: PAGE, where }, this.running.signal);
    this.headings = new Map(first.headings.map((one) => [one.name, one.count]));
    this.body = make("div");
    this.button = make("button", { type: "button", className: "more", textContent: "Show more" });
    this.button.addEventListener("click", () => this.#more());
    this.section.replaceChildren(this.#top(), this.body, this.button);
    this.#add(first.pictures);
    if (!this.hits.length) this.body.append(nothing(Boolean(where)));
    this.watch.disconnect();
    this.watch.observe(this.button);
    return [...this.headings.values()].reduce((sum, count) => sum + count, 0);
  }

  hide() {
    this.running?.abort();
    this.watch.disconnect();
  }

  /** Example queries, and the choice of order. */
  #top() {
    const tries = make("div", { className: "tries", role: "group", ariaLabel: "Example queries" });
    this.#suggest(tries);
    const order = make("div", { className: "orderings", role: "group", ariaLabel: "Order" }, ...["newest", "folder"].map((one) => {
      const button = make("button", { type: "button", textContent: one === "newest" ? "Newest" : "Folders" });
      button.ariaPressed = String(one === this.order);
      button.addEventListener("click", () => { this.order = one; this.show(this.where); });
      return button;
    }));
    return make("div", { className: "library-top" }, tries, order);
  }

  async #suggest(tries) {
    this.suggested ??= examples().then((found) => found.examples).catch(() => []);
    const found = await this.suggested;
    if (!found.length) return;
    tries.append(make("span", { textContent: "Try" }), ...found.map((text) => {
      const button = make("button", { type: "button", textContent: text });
      button.addEventListener("click", () => this.ask(text));
      return button;
    }));
  }

  async #more() {
    if (this.whole || this.loading) return;
    this.loading = true;
    const { signal } = this.running;
    try {
      const next = await browse({ order: this.order, start: this.hits.length, count: PAGE, where: this.where }, signal);
      this.#add(next.pictures);
    } catch (problem) {
      if (problem.name !== "AbortError") this.button.textContent = `${problem.message}: try again`;
    }
    if (!signal.aborted) this.loading = false;
  }

  #add(pictures) {
    this.whole = pictures.length < PAGE;
    this.button.hidden = this.whole;
    for (const one of pictures) {
      const place = this.hits.push(one) - 1;
      if (one.heading !== this.heading) this.#head(one.heading);
      this.list.append(card(one, { label: nameOf(one), open: () => this.open(this.hits, place) }));
    }
  }

  #head(heading) {
    this.heading = heading;
    this.list = rows([]);
    const count = (this.headings.get(heading) ?? 0).toLocaleString();
    this.body.append(make("h2", {}, make("b", { textContent: titled(heading, this.order) }), ` ${count}`), this.list);
  }
}

/** A month in the reader's language, or the last two folders of a path. */
function titled(heading, order) {
  if (order === "folder") return heading.split("/").slice(-2).join("/") || "/";
  const [year, month] = heading.split("-").map(Number);
  if (!year) return "No date";
  return new Date(year, month - 1, 15).toLocaleDateString(undefined, { year: "numeric", month: "long" });
}
