export interface MuxLimits {
  /** Streams that the other side may have open; more are refused. */
  maxIncomingStreams: number;
  /** Streams that this side may have open; `open` throws above it. */
  maxOutgoingStreams: number;
  /** To where the window of one stream may grow. */
  maxWindowBytes: number;
  /** What all windows of the session together may grow by. */
  windowGrowthBytes: number;
  /** 0 = no PING. */
  pingIntervalMs: number;
  /** The session is closed when nothing arrives for so long after a PING. */
  pongTimeoutMs: number;
  /** After the end was said, so long for the other side to close too. */
  closeTimeoutMs: number;
}

export const DEFAULT_MUX_LIMITS: MuxLimits = {
  maxIncomingStreams: 256,
  maxOutgoingStreams: 256,
  maxWindowBytes: 16 * 1024 * 1024,
  windowGrowthBytes: 64 * 1024 * 1024,
  pingIntervalMs: 15_000,
  pongTimeoutMs: 10_000,
  closeTimeoutMs: 2_000,
};
