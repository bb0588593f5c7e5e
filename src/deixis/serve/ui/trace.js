// A trace as SVG, on the canvas and over pictures.

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A stroke as SVG coordinates; a click becomes a small cross that can be seen. */
export function coordinates(points) {
  const first = points[0];
  if (points.every((p) => Math.hypot(p.x - first.x, p.y - first.y) < 0.004)) {
    const r = 0.022;
    return `${first.x - r},${first.y} ${first.x + r},${first.y} ${first.x},${first.y} ` +
      `${first.x},${first.y - r} ${first.x},${first.y + r}`;
  }
  return points.map((p) => `${p.x.toFixed(4)},${p.y.toFixed(4)}`).join(" ");
}

/** All strokes in the colours of their phrases, to be laid over a picture. */
export function overlay(strokes) {
  const lines = strokes.flatMap((stroke) => ["halo", ""].map((kind) =>
    svg("polyline", { class: `${stroke.colour} ${kind}`, points: coordinates(stroke.points) })));
  return svg("svg", {
    class: "trace", viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true",
  }, ...lines);
}
