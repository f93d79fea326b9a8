import type { ExitStatus } from '../helper/exit-status.ts';
import type { Snapshot } from './screens/session-screen.ts';

/** What a client may ask of a terminal besides typing. */
export type ClientControl =
  | { readonly kind: 'resize'; readonly cols: number; readonly rows: number }
  | { readonly kind: 'signal'; readonly name: string }
  | { readonly kind: 'ack'; readonly bytes: number }
  | { readonly kind: 'eof' }
  | { readonly kind: 'ping' };

export type ClientInput =
  | { readonly kind: 'stdin'; readonly bytes: Uint8Array }
  | ClientControl
  /** A control of a known type whose values cannot be used. */
  | { readonly kind: 'unusable' }
  /** Only where the framing can tell: the client broke its rules. */
  | { readonly kind: 'violation'; readonly reason: string };

export interface StartedProcess {
  readonly pid: number;
  readonly path: string;
  readonly cols: number;
  readonly rows: number;
  /** Null for what ends with its client. */
  readonly session: string | null;
  /** Where the output that follows begins, and where it was when the client came: what is between is a replay. */
  readonly offset: number;
  readonly end: number;
  /** What is to be shown before the output, when that begins in the middle. */
  readonly screen: Snapshot | null;
}

/** Text or bytes for one WebSocket frame; none when nothing is ready to be shown yet. */
export type Message = string | Uint8Array;

/** How a terminal's bytes stand in WebSocket frames. One object serves one connection. */
export interface Framing {
  started(process: StartedProcess): Message[];
  /** The bytes are only lent: what is made of them are messages of their own. */
  output(bytes: Uint8Array, channel: 1 | 2): Message[];
  /** What comes before the close, held-back bytes included. */
  exit(status: ExitStatus): Message[];
  pong(): Message[];
  /** So much of what was typed has reached the process: a client that waits for that never has its acknowledgements stuck behind. */
  taken(bytes: number): Message[];
  /** So much was lost before what follows; null when the framing cannot tell and the client has to go. */
  lagged(bytes: number): Message[] | null;
  /** What is typed and asked for is not heeded: the client only looks on. */
  readOnly(): Message[];
  input(data: Buffer, isBinary: boolean): ClientInput;
}

const UNUSABLE = { kind: 'unusable' } as const;

/** The control in a JSON value, or null when its type is none that a terminal knows. */
export function parseControl(value: unknown): ClientControl | typeof UNUSABLE | null {
  if (typeof value !== 'object' || value === null) return null;
  const { type, cols, rows, name, bytes } = value as Record<string, unknown>; // a parsed JSON object, checked field by field
  switch (type) {
    case 'resize':
      return isExtent(cols) && isExtent(rows) ? { kind: 'resize', cols, rows } : UNUSABLE;
    case 'signal':
      return typeof name === 'string' ? { kind: 'signal', name } : UNUSABLE;
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
