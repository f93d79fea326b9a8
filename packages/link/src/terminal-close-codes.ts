/**
 * WebSocket close codes of terminals in sandboxes and of shells in pods. 1xxx are those of RFC 6455 and its registry,
 * 4xxx are ours.
 */
export const TERMINAL_CLOSE_CODES = {
  /** The process has ended; the reason, and `exit` before it, give its status. */
  ended: 1000,
  /** The connection to the process was lost; it may still run. */
  lost: 1011,
  /** The platform restarts: connect again. */
  restarting: 1012,
  /** Another client took over the session. */
  replaced: 4001,
  /** The client is too slow for a protocol without acknowledgements. */
  tooSlow: 4002,
  /** The right to the terminal was revoked. */
  revoked: 4003,
  /** The sandbox was stopped. */
  stopped: 4004,
  /** The sandbox was deleted. */
  deleted: 4005,
  /** The session has ended. */
  sessionEnded: 4006,
  /** The client sent a frame that the protocol does not allow. */
  violation: 4009,
  /** Nothing was run; an `error` frame before it gives the reason. */
  refused: 4010,
} as const;
