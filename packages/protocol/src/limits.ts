/**
 * Limits for both sides. The message rate is the contract's; the rest are ours and announced in `welcome`, so that a
 * peer always knows why it was refused.
 */
export const PROTOCOL_LIMITS = {
  /** Envelopes per minute and direction. */
  messagesPerMinute: 1000,
  /** Envelopes in one burst. */
  messagesBurst: 100,
  /** Share of the rate reserved for control messages, so that acks, results and heartbeats always get through. */
  controlShare: 0.3,
  /** Maximum size of a text frame in UTF-8 bytes. */
  frameSizeBytes: 1024 * 1024,
  /** Maximum size of a manifest in UTF-8 bytes: it must fit into a frame with its escapes and envelope. */
  manifestSizeBytes: 900 * 1024,
  /** Maximum nesting of arrays and objects in an envelope. */
  jsonDepth: 64,
  /** Messages an agent buffers while disconnected. */
  outboxMessages: 10_000,
  /** UTF-8 bytes an agent buffers while disconnected. */
  outboxSizeBytes: 16 * 1024 * 1024,
  /** Output is sent at this size or after `outputFlushMs`. */
  outputChunkSizeBytes: 64 * 1024,
  outputFlushMs: 250,
  /** Maximum ids in one `result_ack`, and command ids in one `hello`. */
  idsPerMessage: 1000,
} as const;

/** Times for both sides, in milliseconds. */
export const PROTOCOL_TIMES = {
  heartbeatIntervalMs: 30_000,
  /** A replica that hangs, or whose machine is gone, loses its agents to another one after about 10 seconds. */
  pingIntervalMs: 4000,
  pongTimeoutMs: 6000,
  /**
   * How long to wait for `hello` or `welcome` from a peer that announced none; after that, it only knows the contract's
   * types.
   */
  welcomeTimeoutMs: 5000,
  /** How long to wait for it from a peer that announced it; after that, the connection is closed. */
  announcedTimeoutMs: 30_000,
  /** Time limit for acknowledging a command. */
  acknowledgeTimeoutMs: 1000,
  /** Missed heartbeats after which a cluster is offline. */
  missedHeartbeats: 3,
} as const;

/** Version of the agent protocol. */
export const PROTOCOL_VERSION = 1;

/**
 * Handshake header in both directions with the protocol version: the sender will send `hello` or `welcome`, even if it
 * or the network is slow. Without it, silence would look like a contract-only peer, which never acknowledges anything.
 */
export const PROTOCOL_HEADER = 'x-svc-protocol';
