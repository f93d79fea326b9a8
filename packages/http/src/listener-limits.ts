/** Time limits and other bounds of a listener. */
export interface ListenerLimits {
  /** Time limit for a request's headers and for a TLS handshake; slower clients are cut (slowloris). */
  headersTimeoutMs: number;
  /** Time limit for a whole request, body included; 0 = none, since a minimum rate bounds uploads. */
  requestTimeoutMs: number;
  /** Idle connections are closed after this time. */
  keepAliveTimeoutMs: number;
  /** Sockets without traffic in either direction for this long are cut. */
  idleTimeoutMs: number;
  /** Shared between addresses and networks (`ConnectionSharesOptions`). As many HTTP/2 requests may be in progress. */
  maxConnections: number;
  maxHeaderSizeBytes: number;
  /** Requests in progress on one HTTP/2 connection; further ones are refused before they are handled. */
  maxStreamsPerConnection: number;
  /**
   * Minimum body rate over `bodyRateWindowMs`; slower clients are cut unless our side is not reading. 0 = no minimum.
   */
  minBodyBytesPerSecond: number;
  bodyRateWindowMs: number;
}

/** The limits of a listener unless configured otherwise. */
export const DEFAULT_LISTENER_LIMITS: ListenerLimits = {
  headersTimeoutMs: 20_000,
  requestTimeoutMs: 0,
  keepAliveTimeoutMs: 65_000,
  idleTimeoutMs: 120_000,
  maxConnections: 20_000,
  maxHeaderSizeBytes: 32 * 1024,
  maxStreamsPerConnection: 250,
  minBodyBytesPerSecond: 100,
  bodyRateWindowMs: 30_000,
};
