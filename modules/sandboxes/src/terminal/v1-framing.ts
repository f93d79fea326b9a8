import { type ClientInput, type Framing, parseControl } from './framing.ts';

/** The subprotocol of our own SDK and console. */
export const SANDBOX_V1 = 'sandbox.v1';

const STDIN = 0x00;
const OUTPUT_HEADER_BYTES = 9;

/**
 * `sandbox.v1`: text frames are JSON controls and nothing else; binary frames are a type byte and bytes. From the client:
 * 0x00 stdin. To the client: 0x01 output (of a terminal, or stdout of a command), 0x02 stderr, each with the absolute offset
 * of its first byte in that channel (u64, big-endian) before the bytes. Controls to the client: `ready`, `exit`, `error`,
 * `pong`.
 */
export function v1Framing(): Framing {
  const offsets = { 1: 0n, 2: 0n };
  return {
    started: ({ pid, path, cols, rows }) => [JSON.stringify({ type: 'ready', pid, path, cols, rows, offset: 0 })],
    output(bytes, channel) {
      const frame = Buffer.allocUnsafe(OUTPUT_HEADER_BYTES + bytes.length);
      frame.writeUInt8(channel, 0);
      frame.writeBigUInt64BE(offsets[channel], 1);
      frame.set(bytes, OUTPUT_HEADER_BYTES);
      offsets[channel] += BigInt(bytes.length);
      return [frame];
    },
    exit: ({ exitCode, signal, error }) => [
      ...(error === null ? [] : [JSON.stringify({ type: 'error', ...error })]),
      JSON.stringify({ type: 'exit', exit_code: exitCode, signal }),
    ],
    pong: () => ['{"type":"pong"}'],
    input: (data, isBinary) => (isBinary ? parseBinary(data) : parseText(data)),
  };
}

function parseBinary(data: Buffer): ClientInput {
  if (data[0] === STDIN) return { kind: 'stdin', bytes: data.subarray(1) };
  return { kind: 'violation', reason: 'a binary frame begins with the byte 0x00' };
}

function parseText(data: Buffer): ClientInput {
  try {
    const control = parseControl(JSON.parse(data.toString('utf8')));
    if (control !== null) return control;
  } catch {
    // answered like a control that nobody knows
  }
  return { kind: 'violation', reason: 'a text frame is a JSON control of a known type' };
}
