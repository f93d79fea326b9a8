/** Codes of RESET and GOAWAY; 256 and above belong to the application. See PROTOCOL.md. */
export const MUX_CODES = {
  CANCELLED: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  REFUSED: 3,
  FLOW_CONTROL_ERROR: 4,
  GOING_AWAY: 5,
  TIMEOUT: 6,
  /** Never on the wire: what a stream ends with when its connection does. */
  CONNECTION_LOST: 7,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(MUX_CODES).map(([name, code]) => [code, name]));

/** How a stream or a session ended before its time. */
export class MuxError extends Error {
  readonly resetCode: number;
  readonly reason: string;
  /** True when the other side said it. */
  readonly remote: boolean;

  constructor(resetCode: number, reason: string, options: { remote?: boolean; cause?: unknown } = {}) {
    const name = NAMES.get(resetCode) ?? `code ${resetCode}`;
    super(
      reason === '' ? name : `${name}: ${reason}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'MuxError';
    this.resetCode = resetCode;
    this.reason = reason;
    this.remote = options.remote ?? false;
  }
}

/** What the other side sent is not what PROTOCOL.md allows: the session ends with it, and nothing else of the process. */
export class ProtocolViolation extends MuxError {}
