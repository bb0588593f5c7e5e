// Pictures to search by, wanted and unwanted, each with its weight and, if chosen, a part of it.

import { imageUrl } from "./api.js";
import { make } from "./rows.js";

const WANTED = 1, UNWANTED = -0.5;  // what is wanted should count more than what is not
const SIDE = 640;  // pixels of a picture that is sent along

const icon = (path) => {
  const drawn = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("aria-hidden", "true");
  drawn.append(Object.assign(document.createElementNS("http://www.w3.org/2000/svg", "path")));
  drawn.firstChild.setAttribute("d", path);
  return drawn;
};

export class Examples extends EventTarget {
  /** Fires "change" when what is asked has changed. */
  constructor(list, board) {
    super();
    [this.list, this.board, this.items, this.cropping] = [list, board, [], null];
    this.unwanted = new Map();  // words after a minus sign, and their weights
    board.addEventListener("change", () => {
      if (!this.cropping) return;
      this.cropping.crop = board.crop;
      this.#changed();
    });
  }

  /** Take a picture of the library, {id, name}, or a file of the person's own. */
  add(picture, weight = WANTED) {
    const known = this.items.find((one) => picture.id && one.id === picture.id);
    if (known) known.weight = weight;
    else this.items.push({ crop: null, weight, url: picture.id ? imageUrl(picture.id) : URL.createObjectURL(picture.file), ...picture });
    this.#changed();
    return known ?? this.items.at(-1);
  }

  addUnwanted(picture) {
    return this.add(picture, UNWANTED);
  }

  /** Replace all, as an address says. */
  set(items) {
    this.crop(null);
    this.items = items.map((one) => ({ url: imageUrl(one.id), name: "this picture", ...one }));
    this.render();
  }

  /** Keep a weight for every word with a minus sign. */
  setUnwanted(words) {
    const same = words.length === this.unwanted.size && words.every((word) => this.unwanted.has(word));
    this.unwanted = new Map(words.map((word) => [word, this.unwanted.get(word) ?? UNWANTED]));
    if (!same) this.render();
  }

  /** Choose a part of one example on the canvas, or of none. */
  crop(item) {
    this.cropping = item;
    this.board.show(item?.url ?? null, item?.crop ?? null);
    document.body.classList.toggle("cropping", item !== null);
    this.render();
  }

  /** As the server takes them. */
  async parts() {
    const pictures = await Promise.all(this.items.map(async (one) => ({
      weight: one.weight, crop: one.crop, ...(one.id ? { id: one.id } : { picture: (one.inline ??= await inline(one.file)) }),
    })));
    const words = [...this.unwanted].map(([text, weight]) => ({ weight, words: { text } }));
    return [...pictures, ...words];
  }

  get names() {
    return [...this.items.map((one) => one.name), ...[...this.unwanted.keys()].map((word) => `“${word}”`)];
  }

  render() {
    const chips = this.items.map((item) => this.#chip(item));
    const words = [...this.unwanted].map(([word, weight]) => make("li", { className: "example" },
      make("span", { className: "name", textContent: `“${word}”` }),
      this.#weight(`Weight of “${word}”`, weight, (value) => this.unwanted.set(word, value))));
    this.list.replaceChildren(...chips, ...words);
    this.list.hidden = !this.list.children.length;
  }

  #chip(item) {
    const crop = make("button", { type: "button", className: "quiet", title: "Choose a part on the canvas", ariaLabel: `Choose a part of ${item.name}` }, icon("M7 3v14h14M3 7h14v14"));
    crop.ariaPressed = String(this.cropping === item);
    crop.addEventListener("click", () => this.crop(this.cropping === item ? null : item));
    const stop = make("button", { type: "button", className: "quiet", title: "Remove", ariaLabel: `Remove ${item.name}` }, icon("M6 6l12 12M18 6 6 18"));
    stop.addEventListener("click", () => this.#remove(item));
    const weight = this.#weight(`Weight of ${item.name}`, item.weight, (value) => { item.weight = value; });
    return make("li", { className: "example" }, make("img", { src: item.url, alt: "" }),
      make("span", { className: "name", textContent: item.crop ? `part of ${item.name}` : item.name }), weight, crop, stop);
  }

  #weight(label, value, take) {
    const said = make("output", { textContent: worded(value) });
    const slider = make("input", { type: "range", min: -1, max: 1, step: 0.25, value, ariaLabel: label });
    slider.addEventListener("input", () => {
      take(Number(slider.value));
      said.textContent = worded(Number(slider.value));
      this.dispatchEvent(new Event("change"));
    });
    return make("span", { className: "wish" }, slider, said);
  }

  #remove(item) {
    this.items = this.items.filter((one) => one !== item);
    if (this.cropping === item) this.crop(null);
    if (item.file) URL.revokeObjectURL(item.url);
    this.#changed();
  }

  #changed() {
    this.render();
    this.dispatchEvent(new Event("change"));
  }
}

const worded = (weight) => (weight === 0 ? "ignored" : `${weight > 0 ? "more" : "less"} × ${Math.abs(weight)}`);

/** A file small enough to be sent inside a request. */
async function inline(file) {
  const whole = await createImageBitmap(file).catch(() => { throw new Error(`${file.name || "this picture"} cannot be read by this browser; search by it alone`); });
  const scale = Math.min(1, SIDE / Math.min(whole.width, whole.height));
  const canvas = make("canvas", { width: Math.round(whole.width * scale), height: Math.round(whole.height * scale) });
  canvas.getContext("2d").drawImage(whole, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85).split(",")[1];
}
