// The canvas: strokes are drawn, chosen and taken back here.

import { coordinates, svg } from "./trace.js";

const CLICK = 0.1;  // a click means "here", not a point-sized thing
const NAMES = ["top left", "top", "top right", "left", "middle", "right", "bottom left", "bottom", "bottom right"];

export class Board extends EventTarget {
  /** Fires "change" when a stroke came or went, "choose" when one was chosen. */
  constructor(element) {
    super();
    this.element = element;
    this.paper = element.querySelector(".paper");
    this.cells = element.querySelector(".cells");
    this.strokes = [];
    this.chosen = null;
    this.cropping = false;
    this.crop = null;
    this.colourOf = () => "pn";
    this.nameOf = () => "";
    this.#listen();
    this.#makeCells();
  }

  /** Seconds on the clock that words and strokes share. */
  now() {
    this.began ??= performance.now();
    return (performance.now() - this.began) / 1000;
  }

  /** Take strokes from elsewhere; nothing is asked. */
  set(strokes) {
    [this.strokes, this.chosen] = [strokes, null];
    this.render();
  }

  undo() {
    this.strokes.pop();
    this.#changed();
  }

  remove(stroke) {
    this.strokes = this.strokes.filter((one) => one !== stroke);
    this.#changed();
  }

  clear() {
    this.strokes = [];
    this.#changed();
  }

  choose(stroke) {
    this.chosen = this.chosen === stroke ? null : stroke;
    this.render();
    this.dispatchEvent(new Event("choose"));
  }

  /** Show a picture of which a part can be chosen, or nothing but paper. */
  show(url, crop = null) {
    this.cropping = url !== null;
    this.crop = crop;
    this.picture = url;
    this.render();
  }

  render() {
    const shapes = [];
    if (this.picture) {
      shapes.push(svg("image", { href: this.picture, width: 1, height: 1, preserveAspectRatio: "none" }));
    }
    if (this.crop) {
      const [x, xmax, y, ymax] = this.crop;
      shapes.push(svg("rect", { class: "crop", x, y, width: xmax - x, height: ymax - y }));
    }
    if (!this.cropping) shapes.push(...this.strokes.map((stroke, place) => this.#shape(stroke, place)));
    this.paper.replaceChildren(...shapes);
    this.element.classList.toggle("used", this.cropping || this.strokes.length > 0);
    for (const [place, cell] of [...this.cells.children].entries()) {
      const pressed = this.strokes.some((stroke) => stroke.cell === place);
      cell.setAttribute("aria-pressed", pressed);
      cell.className = this.strokes.find((stroke) => stroke.cell === place)
        ? this.colourOf(this.strokes.findLast((stroke) => stroke.cell === place)) : this.colourOf(null);
    }
  }

  #shape(stroke, place) {
    const colour = this.colourOf(stroke), points = coordinates(stroke.points);
    const reach = svg("polyline", {
      class: "reach", points, tabindex: 0, role: "button",
      "aria-label": `Stroke ${place + 1}${this.nameOf(stroke)}. Enter to give it to another phrase, Delete to remove it.`,
    });
    reach.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.choose(stroke); }
      if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); this.remove(stroke); }
    });
    reach.addEventListener("pointerdown", (event) => { event.stopPropagation(); this.choose(stroke); });
    const group = svg("g", { class: stroke === this.chosen ? `chosen ${colour}` : colour });
    group.append(reach, svg("polyline", { class: "line", points }));
    return group;
  }

  #listen() {
    let line = null, points = null;
    this.paper.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.paper.setPointerCapture(event.pointerId);
      points = [this.#point(event)];
      line = svg("polyline", { class: `line ${this.colourOf(null)}` });
      this.paper.append(line);
      this.element.classList.add("used");
      event.preventDefault();  // the caret stays where it is
    });
    this.paper.addEventListener("pointermove", (event) => {
      if (!points) return;
      const events = event.getCoalescedEvents?.() ?? [];
      points.push(...(events.length ? events : [event]).map((one) => this.#point(one)));
      if (this.cropping) { this.crop = boxOf(points); this.render(); return; }
      line.setAttribute("points", coordinates(points));
    });
    const end = () => {
      if (!points) return;
      if (this.cropping) this.#cropped(points);
      else this.#add({ points });
      points = null;
    };
    this.paper.addEventListener("pointerup", end);
    this.paper.addEventListener("pointercancel", end);
  }

  #cropped(points) {
    const [xmin, xmax, ymin, ymax] = boxOf(points);
    this.crop = xmax - xmin > 0.03 && ymax - ymin > 0.03 ? [xmin, xmax, ymin, ymax] : null;
    this.#changed();
  }

  #makeCells() {
    this.cells.append(...NAMES.map((name, place) => {
      const cell = document.createElement("button");
      cell.type = "button";
      cell.ariaLabel = name;
      cell.addEventListener("click", () => this.#toggle(place));
      return cell;
    }));
    this.cells.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -3, ArrowDown: 3 }[event.key];
      const at = [...this.cells.children].indexOf(document.activeElement);
      if (step === undefined || at < 0) return;
      event.preventDefault();
      this.cells.children[at + step]?.focus();
    });
  }

  /** A cell chosen by keyboard counts as a stroke around it. */
  #toggle(place) {
    const known = this.strokes.find((stroke) => stroke.cell === place);
    if (known) { this.remove(known); return; }
    const middle = { x: (place % 3) / 3 + 1 / 6, y: Math.floor(place / 3) / 3 + 1 / 6, t: this.now() };
    this.#add({ points: around(middle, 1 / 3 - 0.08), cell: place });
  }

  #add(stroke) {
    if (isClick(stroke.points)) stroke.points = around(stroke.points[0], CLICK);
    this.strokes.push(stroke);
    this.dispatchEvent(Object.assign(new Event("draw"), { stroke }));
    this.#changed();
  }

  #changed() {
    if (!this.strokes.includes(this.chosen)) this.chosen = null;
    this.render();
    this.dispatchEvent(new Event("change"));
  }

  #point(event) {
    const box = this.paper.getBoundingClientRect();
    return { x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height, t: this.now() };
  }
}

/** A circle around a point: what a click or a cell means. */
function around(middle, side) {
  return Array.from({ length: 17 }, (_, step) => {
    const angle = (step * Math.PI) / 8;
    return {
      x: middle.x + (Math.cos(angle) * side) / 2, y: middle.y + (Math.sin(angle) * side) / 2, t: middle.t + step * 0.05,
    };
  });
}

const isClick = (points) => points.every((p) => Math.hypot(p.x - points[0].x, p.y - points[0].y) < 0.004);

function boxOf(points) {
  const inside = (value) => Math.min(Math.max(value, 0), 1);
  const xs = points.map((p) => inside(p.x)), ys = points.map((p) => inside(p.y));
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}
