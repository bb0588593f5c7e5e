// Speech while pointing: a recording goes to this server alone and comes back as words with times.

import { recognise } from "./api.js";

const RATE = 16000;  // samples per second, as the recogniser reads them
const LONGEST = 58;  // seconds; the server takes a minute
const HELD = 500;  // milliseconds of pressing after which letting go ends it; a click goes on

/** A WAV file of 16-bit samples. */
function wav(blocks, rate) {
  const count = blocks.reduce((sum, block) => sum + block.length, 0);
  const bytes = new DataView(new ArrayBuffer(44 + 2 * count));
  const write = (at, text) => [...text].forEach((letter, place) => bytes.setUint8(at + place, letter.charCodeAt(0)));
  write(0, "RIFF"); bytes.setUint32(4, 36 + 2 * count, true); write(8, "WAVEfmt ");
  bytes.setUint32(16, 16, true); bytes.setUint16(20, 1, true); bytes.setUint16(22, 1, true);
  bytes.setUint32(24, rate, true); bytes.setUint32(28, 2 * rate, true);
  bytes.setUint16(32, 2, true); bytes.setUint16(34, 16, true);
  write(36, "data"); bytes.setUint32(40, 2 * count, true);
  let at = 44;
  for (const block of blocks) {
    for (const sample of block) {
      bytes.setInt16(at, Math.max(-1, Math.min(1, sample)) * 32767, true);
      at += 2;
    }
  }
  return new Blob([bytes], { type: "audio/wav" });
}

export class Speech extends EventTarget {
  /** Fires "heard" with timed words on the canvas's clock, "problem" with a message. */
  constructor(button, board) {
    super();
    [this.button, this.board] = [button, board];
    this.#press();
    this.#hold();
  }

  /** A click begins and a click ends; a finger that stays may let go instead while another draws. */
  #press() {
    let pressed = null;
    this.button.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || this.recording) return;
      pressed = performance.now();
      this.button.setPointerCapture(event.pointerId);
      this.begin();
    });
    this.button.addEventListener("click", () => {
      const held = pressed === null ? null : performance.now() - pressed;
      pressed = null;
      if (held === null) (this.recording ? this.end() : this.begin());
      else if (held > HELD) this.end();
    });
    this.button.addEventListener("pointercancel", () => { pressed = null; this.end(); });
  }

  /** The space bar, where it writes nothing: beside the fields, and in a text that is still empty. */
  #hold() {
    let held = false;
    document.addEventListener("keydown", (event) => {
      if (event.key !== " " || this.button.hidden || document.querySelector("dialog[open]")) return;
      const empty = event.target.id === "text" && !event.target.value;
      if (!empty && event.target.matches("input, textarea, select, button, a")) return;
      event.preventDefault();
      if (event.repeat) return;
      held = true;
      this.begin();
    });
    document.addEventListener("keyup", (event) => {
      if (event.key === " " && held) { held = false; this.end(); }
    });
  }

  /** Show the button where the server hears and the browser has a microphone to ask for. */
  offer(hears) {
    this.button.hidden = !hears || !navigator.mediaDevices?.getUserMedia || !window.AudioWorkletNode;
  }

  async begin() {
    if (this.recording) return;
    const own = this.recording = { blocks: [] };
    this.#show("listening");
    try {
      own.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
      own.context = new AudioContext({ sampleRate: RATE });
      await own.context.audioWorklet.addModule("/ui/recorder.js");
      // Both nodes are kept: a browser lets go of those that nothing names, and hears nothing more.
      own.recorder = new AudioWorkletNode(own.context, "recorder", { numberOfOutputs: 0 });
      own.recorder.port.onmessage = ({ data }) => {
        own.began ??= this.board.now() - data.length / RATE;
        own.blocks.push(data);
      };
      own.source = own.context.createMediaStreamSource(own.stream);
      own.source.connect(own.recorder);
      own.timer = setTimeout(() => this.end(), LONGEST * 1000);
      if (own.ended) this.#finish(own);  // let go before the microphone was there
    } catch (problem) {
      this.#close(own);
      this.#say(problem.name === "NotAllowedError" ? "The microphone is not allowed here." : `The microphone cannot be used: ${problem.message}`);
    }
  }

  end() {
    const own = this.recording;
    if (!own || own.ended) return;
    own.ended = true;
    if (own.timer) this.#finish(own);
  }

  async #finish(own) {
    this.#close(own);
    if (!own.blocks.length) return;
    this.#show("busy");
    try {
      const heard = await recognise(wav(own.blocks, own.context.sampleRate));
      const words = heard.timed_text.map((word) => ({
        text: word.utterance, start: word.start_time + own.began, end: word.end_time + own.began,
      }));
      if (words.length) this.dispatchEvent(Object.assign(new Event("heard"), { words, began: own.began }));
      else this.#say("No words were heard.");
    } catch (problem) {
      this.#say(problem.message);
    }
    this.#show("");
  }

  #close(own) {
    clearTimeout(own.timer);
    own.stream?.getTracks().forEach((track) => track.stop());
    own.context?.close();
    this.recording = null;
    this.#show("");
  }

  #show(state) {
    this.button.dataset.state = state;
    this.button.ariaPressed = String(state === "listening");
    const label = { listening: "Stop listening", busy: "Recognising what was said" }[state] ?? "Speak while you point (or hold the space bar)";
    this.button.ariaLabel = this.button.title = label;
  }

  #say(message) {
    this.dispatchEvent(Object.assign(new Event("problem"), { message }));
  }
}
