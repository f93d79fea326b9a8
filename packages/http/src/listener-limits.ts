export interface ListenerLimits {
  /** Time for the whole head of a request, and for a TLS handshake; a slower client is cut (slowloris). */
  headersTimeoutMs: number;
  /** Time for the whole request, body included; 0 = none, for uploads that are bounded by their rate. */
  requestTimeoutMs: number;
  /** A connection that waits for its next request this long is closed. */
  keepAliveTimeoutMs: number;
  /** A socket with no byte in either direction for this long is cut. */
  idleTimeoutMs: number;
  maxConnections: number;
  maxHeaderSizeBytes: number;
  /** A body that arrives slower than this over `bodyRateWindowMs` is cut, unless it is our side that does not read; 0 = never. */
  minBodyBytesPerSecond: number;
  bodyRateWindowMs: number;
}

export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 0,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  maxConnections: 20_000,
  maxHeaderSizeBytes: 32 * 1024,
  minBodyBytesPerSecond: 100,
  bodyRateWindowMs: 30_000,
};
