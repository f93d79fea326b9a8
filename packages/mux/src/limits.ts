/** Limits of one session: streams, memory and time. */
export interface MuxLimits {
  /** Maximum streams opened by the peer; more are refused. */
  maxIncomingStreams: number;
  /** Maximum streams opened by this side; `open` throws above it. */
  maxOutgoingStreams: number;
  /** Maximum window of one stream. */
  maxWindowBytes: number;
  /** Maximum growth of all windows of the session together. */
  windowGrowthBytes: number;
  /** 0 = no PING. */
  pingIntervalMs: number;
  /** The session is closed if nothing arrives for this long after a PING. */
  pongTimeoutMs: number;
  /** Time for the peer to close after GOAWAY. */
  closeTimeoutMs: number;
}

/** The limits of a session that sets none. */
export const DEFAULT_MUX_LIMITS: MuxLimits = {
  maxIncomingStreams: 256,
  maxOutgoingStreams: 256,
  maxWindowBytes: 16 * 1024 * 1024,
  windowGrowthBytes: 64 * 1024 * 1024,
  pingIntervalMs: 4000,
  pongTimeoutMs: 6000,
  closeTimeoutMs: 2_000,
};
