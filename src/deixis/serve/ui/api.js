// The server's interface.

export class Problem extends Error {
  constructor(status, code, detail) {
    super(detail);
    Object.assign(this, { status, code });
  }
}

const wait = (seconds, signal) => new Promise((done, stop) => {
  const timer = setTimeout(done, seconds * 1000);
  signal?.addEventListener("abort", () => { clearTimeout(timer); stop(signal.reason); });
});

/** Ask, and ask again while the server says it is busy. */
async function ask(path, options = {}) {
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(path, options);
    if (answer.ok) return answer.json();
    if (answer.status === 503 && tries < 4) {
      await wait(Number(answer.headers.get("Retry-After") ?? 1), options.signal);
      continue;
    }
    const problem = await answer.json().catch(() => ({}));
    throw new Problem(answer.status, problem.code, problem.detail ?? `the server answered ${answer.status}`);
  }
}

const post = (path, body, signal) => ask(path, {
  method: "POST", signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
});
const parameters = (values) => new URLSearchParams(
  Object.entries(values).filter(([, value]) => value !== null && value !== "")).toString();

export const library = () => ask("/v1/library");
export const search = (query, signal) => post("/v1/search", query, signal);
export const phrases = (text, signal) => ask(`/v1/phrases?${parameters({ text })}`, { signal });
export const explain = (query, signal) => post("/v1/explain", query, signal);
export const searchByPicture = (file, values, signal) =>
  ask(`/v1/search/picture?${parameters(values)}`, {
    method: "POST", body: file, signal, headers: { "Content-Type": file.type || "image/jpeg" },
  });
export const searchMixed = (query, signal) => post("/v1/search/mixed", query, signal);
export const explainMixed = (query, signal) => post("/v1/explain/mixed", query, signal);
export const browse = (values, signal) => ask(`/v1/pictures?${parameters(values)}`, { signal });
export const examples = () => ask("/v1/examples");
export const indexing = () => ask("/v1/indexing");
export const addFolder = (folder) => post("/v1/indexing", { folder });
export const pauseIndexing = () => post("/v1/indexing/pause", {});
export const recognise = (recording) =>
  ask("/v1/speech", { method: "POST", body: recording, headers: { "Content-Type": "audio/wav" } });
export const imageUrl = (id, size = "thumbnail") => `/v1/images/${id}?size=${size}`;
