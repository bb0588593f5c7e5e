// Runs beside the page's own code: hands on the sound of the microphone, block by block.

registerProcessor("recorder", class extends AudioWorkletProcessor {
  process([input]) {
    if (input[0]) this.port.postMessage(input[0].slice());
    return true;
  }
});
