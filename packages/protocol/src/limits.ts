/**
 * Numbers both sides keep to. The message rate is the contract's; the rest are ours and are told in `welcome`, so that
 * a peer never has to guess why it was refused.
 */
export const PROTOCOL_LIMITS = {
  /** Envelopes a peer may send in a minute, in each direction. */
  messagesPerMinute: 1000,
  /** Envelopes a peer may send at once. */
  messagesBurst: 100,
  /** Part of the rate that output and events may not use, so that acks, results and heartbeats always get through. */
  controlShare: 0.3,
  /** UTF-8 bytes of one text frame. */
  frameSizeBytes: 1024 * 1024,
  /** UTF-8 bytes of a manifest: it must fit into a frame together with its escapes and envelope. */
  manifestSizeBytes: 900 * 1024,
  /** Nested arrays and objects in one envelope. */
  jsonDepth: 64,
  /** Messages an agent keeps for a platform that is away. */
  outboxMessages: 10_000,
  /** UTF-8 bytes an agent keeps for a platform that is away. */
  outboxSizeBytes: 16 * 1024 * 1024,
  /** Output is sent when so many bytes are there or `outputFlushMs` have passed. */
  outputChunkSizeBytes: 64 * 1024,
  outputFlushMs: 250,
  /** Ids in one `result_ack`, and command ids in one `hello`. */
  idsPerMessage: 1000,
} as const;

/** Times that both sides keep to (milliseconds). */
export const PROTOCOL_TIMES = {
  heartbeatIntervalMs: 30_000,
  pingIntervalMs: 15_000,
  pongTimeoutMs: 10_000,
  /** No `hello` or `welcome` after so long, from a peer that did not announce one: it knows only the contract's types. */
  welcomeTimeoutMs: 5000,
  /** From a peer that announced one: the connection is given up. */
  announcedTimeoutMs: 30_000,
  /** A command is acknowledged within this time. */
  acknowledgeTimeoutMs: 1000,
  /** Missed heartbeats after which a cluster counts as offline. */
  missedHeartbeats: 3,
} as const;

export const PROTOCOL_VERSION = 1;

/**
 * Header of the handshake, in both directions, with the version: its sender will say `hello` or `welcome`, however slow it
 * or the network is. Without it, silence would look like a peer of the contract, which never acknowledges anything.
 */
export const PROTOCOL_HEADER = 'x-svc-protocol';
