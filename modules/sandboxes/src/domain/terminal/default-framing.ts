import { type ClientInput, type Framing, type Message, parseControl } from './framing.ts';
import type { SendBuffers } from './send-buffers.ts';

/**
 * Framing for clients without a subprotocol. Output is the terminal's own bytes: text frames of streaming UTF-8 (a
 * sequence split between two reads is held back until it is complete), or binary frames with `?encoding=binary`. Input
 * in binary frames goes to stdin unchanged. A text frame is a control only if all of it is a JSON object of a known
 * type; otherwise it also goes to stdin. A control with invalid values is dropped: typing it would execute what was
 * meant for the terminal.
 */
export function defaultFraming(encoding: 'text' | 'binary', buffers: SendBuffers): Framing {
  // One decoder per channel, because partial characters of two channels must not mix.
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
    // A screen is sent as ordinary output: it begins with a reset.
    started: ({ screen }) => (screen === null ? [] : output(screen.bytes, 1)),
    output,
    exit: () => (encoding === 'binary' ? [] : [...present(decoders[1].decode()), ...present(decoders[2].decode())]),
    taken: () => [],
    lagged: () => null,
    readOnly: () => [],
    notice: () => [],
    pong: () => ['{"type":"pong"}'],
    input: (data, isBinary) => (isBinary ? { kind: 'stdin', bytes: data } : parseText(data)),
  };
}

function present(text: string): Message[] {
  return text === '' ? [] : [text];
}

function parseText(data: Buffer): ClientInput {
  const typed: ClientInput = { kind: 'stdin', bytes: data };
  if (data[0] !== 0x7b) return typed; // `{`; anything else is not a JSON object
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
