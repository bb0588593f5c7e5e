// What is asked, as the page's address: back, reload and share bring it back.

import { SOMETHING } from "./phrases.js";

const SHAPE = "4/3";  // of the canvas, where the address names no other
const POINTS = 24;  // kept of a stroke: its shape, not its every sample
const whole = (value) => String(Math.round(Math.min(Math.max(value, 0), 1) * 999)).padStart(3, "0");

const strokeText = ({ anchor, points }) => {
  const step = Math.max(1, (points.length - 1) / (POINTS - 1));
  const kept = Array.from({ length: Math.min(POINTS, points.length) }, (_, place) => points[Math.round(place * step)]);
  return `${anchor ?? ""}-${kept.map((point) => whole(point.x) + whole(point.y)).join("")}`;
};

function strokeOf(text) {
  const [anchor, digits = ""] = text.split("-");
  const points = (digits.match(/\d{6}/g) ?? []).map((six, place) =>
    ({ x: Number(six.slice(0, 3)) / 999, y: Number(six.slice(3)) / 999, t: place * 0.05 }));
  return points.length ? { anchor: anchor === SOMETHING ? anchor : anchor === "" ? null : Number(anchor), points } : null;
}

const exampleText = ({ id, weight, crop }) =>
  [id, weight.toFixed(2), ...(crop ? [crop.map((value) => value.toFixed(3)).join(",")] : [])].join(":");

function exampleOf(text) {
  const [id, weight, crop] = text.split(":");
  if (!/^[0-9a-f]{32}$/.test(id) || !Number.isFinite(Number(weight))) return null;
  const box = crop?.split(",").map(Number);
  return { id, weight: Number(weight), crop: box?.length === 4 && box.every(Number.isFinite) ? box : null };
}

const there = (value) => value !== null;

/** What an address asks for. */
export function read(search) {
  const given = new URLSearchParams(search);
  const weight = Number(given.get("weight") ?? 0.5);
  return {
    text: given.get("q") ?? "", where: given.get("where") ?? "",
    weight: weight >= 0 && weight <= 1 ? weight : 0.5,
    shape: (given.get("shape") ?? SHAPE).replace("x", "/"),
    strokes: (given.get("draw") ?? "").split(".").map(strokeOf).filter(there),
    examples: given.getAll("like").map(exampleOf).filter(there),
  };
}

/** The address of what is asked; uploaded pictures are nobody else's and stay out of it. */
export function write({ text, where, weight, shape, strokes, examples }) {
  const given = new URLSearchParams();
  if (text.trim()) given.set("q", text);
  if (where) given.set("where", where);
  if (strokes.length) given.set("draw", strokes.map(strokeText).join("."));
  if (strokes.length && weight !== 0.5) given.set("weight", String(weight));
  if (strokes.length && shape !== SHAPE) given.set("shape", shape.replace("/", "x"));
  for (const one of examples) if (one.id) given.append("like", exampleText(one));
  const said = given.toString();
  return said ? `?${said}` : "";
}
