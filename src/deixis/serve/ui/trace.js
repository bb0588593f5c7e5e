// A trace as SVG, on the canvas and over pictures.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A stroke as SVG coordinates. */
export const coordinates = (points) => points.map((p) => `${p.x.toFixed(4)},${p.y.toFixed(4)}`).join(" ");

/** All strokes in the colours of their phrases, to be laid over a picture. */
export function overlay(strokes) {
  const lines = strokes.flatMap((stroke) => ["halo", ""].map((kind) =>
    svg("polyline", { class: `${stroke.colour} ${kind}`, points: coordinates(stroke.points) })));
  return svg("svg", {
    class: "trace", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true",
  }, ...lines);
}
