import { type ClientInput, type Framing, parseControl } from './framing.ts';
import type { Snapshot } from './screens/session-screen.ts';
import type { SendBuffers } from './send-buffers.ts';

/** The subprotocol of our own SDK and console. */
export const SANDBOX_V1 = 'sandbox.v1';

const STDIN = 0x00;
const REPLAY = 0x03;
const SCREEN = 0x04;
const SCREEN_PIECE_BYTES = 48 * 1024;
const OUTPUT_HEADER_BYTES = 9;
/** Input a client may send before it is acked; less than the limit at which the platform stops reading. */
const INPUT_WINDOW_BYTES = 512 * 1024;

/**
 * `sandbox.v1`: text frames are JSON controls only; binary frames are a type byte and a payload. From the client: 0x00
 * stdin. To the client: 0x01 output (of a terminal, or stdout of a command) and 0x02 stderr, each with the absolute
 * offset of its first byte in that channel (u64, big-endian) before the bytes; 0x03 is output from before this client
 * attached (its terminal queries are already answered); 0x04 draws the screen as it was at that offset, beginning with
 * a full reset, if `ready` announces one. Controls to the client: `ready`, `taken`, `lagged`, `exit`, `error`, `notice`,
 * `pong`.
 */
export function v1Framing(buffers: SendBuffers): Framing {
  const offsets = { 1: 0, 2: 0 };
  let liveFrom = 0;
  const headed = (kind: number, offset: number, bytes: Uint8Array): Buffer => {
    const made = buffers.take(OUTPUT_HEADER_BYTES + bytes.length);
    made.writeUInt8(kind, 0);
    made.writeBigUInt64BE(BigInt(offset), 1);
    made.set(bytes, OUTPUT_HEADER_BYTES);
    return made;
  };
  const frame = (kind: number, channel: 1 | 2, bytes: Uint8Array): Buffer => {
    const made = headed(kind, offsets[channel], bytes);
    offsets[channel] += bytes.length;
    return made;
  };
  return {
    started: ({ pid, path, cols, rows, session, offset, end, screen, inputTakenBytes }) => {
      offsets[1] = offset;
      liveFrom = end;
      const replayed = end - offset;
      const process = { session_id: session, pid, path, cols, rows, offset, replayed };
      const drawn = screen === null ? null : announced(screen);
      const input = { input_window: INPUT_WINDOW_BYTES, input_taken: inputTakenBytes };
      const ready = { type: 'ready', ...process, screen: drawn, ...input };
      const pieces = screen === null ? [] : splitIntoPieces(screen.bytes);
      return [JSON.stringify(ready), ...pieces.map((piece) => headed(SCREEN, offset, piece))];
    },
    output(bytes, channel) {
      const replayed = channel === 1 ? Math.min(bytes.length, Math.max(0, liveFrom - offsets[1])) : 0;
      const frames = replayed === 0 ? [] : [frame(REPLAY, 1, bytes.subarray(0, replayed))];
      if (replayed < bytes.length) frames.push(frame(channel, channel, bytes.subarray(replayed)));
      return frames;
    },
    taken: (bytes) => [JSON.stringify({ type: 'taken', bytes })],
    lagged: (bytes) => {
      const from = offsets[1];
      offsets[1] += bytes;
      return [JSON.stringify({ type: 'lagged', from, to: offsets[1] })];
    },
    readOnly: () => [JSON.stringify({ type: 'error', code: 'READ_ONLY', message: 'This client is read-only' })],
    exit: ({ exitCode, signal, error }) => [
      ...(error === null ? [] : [JSON.stringify({ type: 'error', ...error })]),
      JSON.stringify({ type: 'exit', exit_code: exitCode, signal }),
    ],
    notice: ({ code, message, stopsAt }) => [JSON.stringify({ type: 'notice', code, message, stops_at: stopsAt })],
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
    // answered like an unknown control
  }
  return { kind: 'violation', reason: 'a text frame is a JSON control of a known type' };
}

function announced({ bytes, cols, rows, exact }: Snapshot): unknown {
  return { bytes: bytes.length, cols, rows, exact };
}

function splitIntoPieces(bytes: Uint8Array): Uint8Array[] {
  const count = Math.ceil(bytes.length / SCREEN_PIECE_BYTES);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * SCREEN_PIECE_BYTES, (index + 1) * SCREEN_PIECE_BYTES),
  );
}
