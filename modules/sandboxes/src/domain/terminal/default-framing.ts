import { type ClientInput, type Framing, type Message, parseControl } from './framing.ts';
import type { SendBuffers } from './send-buffers.ts';

/**
 * For clients without a subprotocol. Output is the terminal's own bytes: text frames of streaming UTF-8 (a sequence that is
 * split between two reads is held back until it is whole), or binary frames with `?encoding=binary`. Input in binary frames
 * is typed as it is; a text frame is a control only when all of it is a JSON object of a known type, else it is typed too.
 * A control with unusable values is dropped: typing it would run what a program meant for the terminal.
 */
export function defaultFraming(encoding: 'text' | 'binary', buffers: SendBuffers): Framing {
  // Each channel has its own: half a character of one must not meet half of the other.
  const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  const output = (bytes: Uint8Array, channel: 1 | 2): Message[] => {
    if (encoding === 'binary') {
      const made = buffers.take(bytes.length);
      made.set(bytes);
      return [made];
    }
    return present(decoders[channel].decode(bytes, { stream: true }));
  };
  return {
    // A screen is bytes like any others: it begins with a reset.
    started: ({ screen }) => (screen === null ? [] : output(screen.bytes, 1)),
    output,
    exit: () => (encoding === 'binary' ? [] : [...present(decoders[1].decode()), ...present(decoders[2].decode())]),
    taken: () => [],
    lagged: () => null,
    readOnly: () => [],
    pong: () => ['{"type":"pong"}'],
    input: (data, isBinary) => (isBinary ? { kind: 'stdin', bytes: data } : parseText(data)),
  };
}

function present(text: string): Message[] {
  return text === '' ? [] : [text];
}

function parseText(data: Buffer): ClientInput {
  const typed: ClientInput = { kind: 'stdin', bytes: data };
  if (data[0] !== 0x7b) return typed; // `{`: anything else is no JSON object
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return typed;
  }
  const { type, data: text } = value as Record<string, unknown>; // it began with `{`, so it parsed to an object
  if (type === 'input') {
    return typeof text === 'string' ? { kind: 'stdin', bytes: Buffer.from(text, 'utf8') } : { kind: 'unusable' };
  }
  return parseControl(value) ?? typed;
}
