// A result list taken along: as a table, as JSON, as paths.

// A cell that begins like a formula would be computed by spreadsheets.
const cell = (value) => {
  const text = String(value ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) && typeof value !== "number" ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const COLUMNS = ["rank", "path", "score", "band", "width", "height", "id"];
const row = (hit, place) => [place + 1, hit.paths[0], hit.score, hit.band, hit.width, hit.height, hit.id];

const FORMS = {
  csv: { type: "text/csv", text: ({ hits }) => [COLUMNS, ...hits.map(row)].map((one) => one.map(cell).join(",")).join("\r\n") + "\r\n" },
  json: { type: "application/json", text: ({ hits }, query) => `${JSON.stringify({ query, hits }, null, 1)}\n` },
  txt: { type: "text/plain", text: ({ hits }) => hits.flatMap((hit) => hit.paths).join("\n") + "\n" },
};

/** Let the browser save what was found. */
export function save(form, found, query) {
  const { type, text } = FORMS[form];
  const url = URL.createObjectURL(new Blob([text(found, query)], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: `deixis.${form}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

