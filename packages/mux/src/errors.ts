/** Codes of RESET and GOAWAY; 256 and above belong to the application. See PROTOCOL.md. */
export const MUX_CODES = {
  CANCELLED: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  REFUSED: 3,
  FLOW_CONTROL_ERROR: 4,
  GOING_AWAY: 5,
  TIMEOUT: 6,
  /** Never on the wire: the code of streams whose connection was lost. */
  CONNECTION_LOST: 7,
} as const;

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(MUX_CODES).map(([name, code]) => [code, name]));

/** A stream or session that ended prematurely. */
export class MuxError extends Error {
  readonly resetCode: number;
  readonly reason: string;
  /** True if the peer sent the code. */
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

/** The peer violated PROTOCOL.md; ends the session, but nothing else in the process. */
export class ProtocolViolation extends MuxError {}
