// The folders of the library: which there are, adding one, how far it is, what went wrong.

import { addFolder, indexing, pauseIndexing } from "./api.js";
import { make } from "./rows.js";

const WAIT = 700;  // milliseconds between two looks at the progress

export class Folders {
  /** The dialog, the button that opens it, and what is done when pictures have come. */
  constructor(dialog, button, came) {
    Object.assign(this, { dialog, button, came });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    button.addEventListener("click", () => this.open());
  }

  describe(about) {
    this.about = about;
    this.button.textContent = `${about.pictures.toLocaleString()} pictures`;
    this.button.hidden = false;
    if (this.dialog.open) this.#list();
    else if (about.adding) this.#look();
  }

  open() {
    const close = make("button", { type: "button", className: "quiet", ariaLabel: "Close", textContent: "✕" });
    close.addEventListener("click", () => this.dialog.close());
    this.listed = make("ul", { className: "roots" });
    this.progress = make("div", { className: "progress" });
    const sheet = make("div", { className: "panel" },
      make("header", {}, make("h2", { textContent: "Library" }), close), this.listed, ...(this.about.adding ? [this.#form()] : []), this.progress);
    this.dialog.replaceChildren(sheet);
    this.#list();
    this.dialog.showModal();
    if (this.about.adding) this.#look();
  }

  #list() {
    const { folders } = this.about;
    this.listed.replaceChildren(...folders.map((folder) => make("li", { textContent: folder })));
    if (!folders.length) this.listed.append(make("li", { textContent: "No folder is being followed." }));
  }

  #form() {
    const field = make("input", { type: "text", id: "folder", autocomplete: "off", spellcheck: false, placeholder: "full path, or ~/Pictures", required: true });
    const form = make("form", { className: "add" }, make("label", { htmlFor: "folder", textContent: "Add a folder on this machine" }),
      make("div", {}, field, make("button", { type: "submit", textContent: "Add" })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await this.#begin(field.value.trim());
    });
    return form;
  }

  async #begin(folder) {
    try {
      this.#show(await addFolder(folder));
      this.ran = true;  // a small folder may be done before the first look
      this.#look();
    } catch (problem) {
      this.progress.replaceChildren(make("p", { className: "wrong", role: "alert", textContent: problem.message }));
    }
  }

  /** Follow the progress while something runs; what has come can be found at once. */
  async #look() {
    clearTimeout(this.timer);
    const now = await indexing().catch(() => null);
    if (!now) return;
    this.#show(now);
    const ended = this.ran && now.standing !== "running";
    this.ran = now.standing === "running";
    if (this.ran) this.timer = setTimeout(() => this.#look(), WAIT);
    if (ended) this.came();
  }

  #show(now) {
    this.button.classList.toggle("busy", now.standing === "running");
    if (!this.progress || now.standing === "idle") return;
    const bar = make("progress", { max: Math.max(now.total, 1), value: now.done, ariaLabel: `Indexing ${now.folder}` });
    const said = make("p", { role: "status", textContent: worded(now) });
    const parts = [make("p", { className: "of", textContent: now.folder }), bar, said];
    const action = { running: ["Pause", () => pauseIndexing().then((then) => this.#show(then))], paused: ["Go on", () => this.#begin(now.folder)] }[now.standing];
    if (action) {
      const button = make("button", { type: "button", className: "act", textContent: action[0] });
      button.addEventListener("click", action[1]);
      parts.push(button);
    }
    if (now.problems.length) {
      const fold = make("details", { open: this.progress.querySelector("details")?.open ?? false },
        make("summary", { textContent: `${now.problems.length} ${now.problems.length === 1 ? "file" : "files"} could not be added` }),
        make("ul", {}, ...now.problems.map((one) => make("li", {}, make("b", { textContent: one.path }), ` ${one.reason}`))));
      parts.push(fold);
    }
    this.progress.replaceChildren(...parts);
  }
}

function worded({ standing, done, total, added, reason }) {
  const counts = `${done.toLocaleString()} of ${total.toLocaleString()} files, ${added.toLocaleString()} new or changed`;
  return { running: `${counts} …`, paused: `Paused: ${counts}`, done: `Done: ${counts}`, failed: `Stopped: ${reason}` }[standing];
}
