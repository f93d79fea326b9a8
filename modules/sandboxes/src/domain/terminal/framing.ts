import type { ExitStatus } from '../helper/exit-status.ts';
import type { SandboxNotice } from '../notice.ts';
import type { Snapshot } from './screens/session-screen.ts';

/** Requests of a terminal client other than input. */
export type ClientControl =
  | { readonly kind: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly kind: 'signal'; readonly name: string }
  | { readonly kind: 'ack'; readonly bytes: number }
  | { readonly kind: 'eof' }
  | { readonly kind: 'ping' };

export type ClientInput =
  | { readonly kind: 'stdin'; readonly bytes: Uint8Array }
  | ClientControl
  /** A control of a known type with invalid values. */
  | { readonly kind: 'unusable' }
  /** The client violated the framing. Only some framings detect this. */
  | { readonly kind: 'violation'; readonly reason: string };

export interface StartedProcess {
  readonly pid: number;
  readonly path: string;
  readonly cols: number;
  readonly rows: number;
  /** Null for a process that ends with its client. */
  readonly session: string | null;
  /**
   * `offset` is where the following output begins; `end` is where the output was when the client attached. The output
   * in between is a replay.
   */
  readonly offset: number;
  readonly end: number;
  /** Screen to show before the output, if the output begins in the middle. */
  readonly screen: Snapshot | null;
  /** Bytes of input that the process got from the connection that this one resumes; null if that is unknown. */
  readonly inputTakenBytes: number | null;
}

/** Payload of one WebSocket frame, text or bytes. */
export type Message = string | Uint8Array;

/** Maps a terminal's bytes to WebSocket frames. One object per connection. */
export interface Framing {
  started(process: StartedProcess): Message[];
  /** The bytes are only lent; messages must not reference them. */
  output(bytes: Uint8Array, channel: 1 | 2): Message[];
  /** Messages before the close, including held-back bytes. */
  exit(status: ExitStatus): Message[];
  pong(): Message[];
  /** Acks consumed stdin, so that a client's output acks do not queue behind its input. */
  taken(bytes: number): Message[];
  /** Reports lost bytes; null if the framing cannot, in which case the client is disconnected. */
  lagged(bytes: number): Message[] | null;
  /** Reports that input and controls are ignored because the client is read-only. */
  readOnly(): Message[];
  /** Announces what is about to happen to the sandbox. Only some framings can. */
  notice(notice: SandboxNotice): Message[];
  input(data: Buffer, isBinary: boolean): ClientInput;
}

const UNUSABLE = { kind: 'unusable' } as const;
/** Longer than any name; a message to the helper must fit in a frame. */
const MAX_SIGNAL_CHARACTERS = 32;

/** Parses a control from a JSON value; null if the type is unknown. */
export function parseControl(value: unknown): ClientControl | typeof UNUSABLE | null {
  if (typeof value !== 'object' || value === null) return null;
  // A parsed JSON object, checked field by field.
  const { type, cols, rows, name, bytes } = value as Record<string, unknown>;
  switch (type) {
    case 'resize':
      return isExtent(cols) && isExtent(rows) ? { kind: 'resize', cols, rows } : UNUSABLE;
    case 'signal':
      return typeof name === 'string' && name.length <= MAX_SIGNAL_CHARACTERS ? { kind: 'signal', name } : UNUSABLE;
    case 'ack':
      return isCount(bytes) ? { kind: 'ack', bytes } : UNUSABLE;
    case 'eof':
      return { kind: 'eof' };
    case 'ping':
      return { kind: 'ping' };
    default:
      return null;
  }
}

function isExtent(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
