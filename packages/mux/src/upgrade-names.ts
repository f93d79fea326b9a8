/** Value of `Upgrade` on a raw socket. */
export const MUX_UPGRADE = 'svc-mux/1';
/** Subprotocol of a WebSocket that carries frames (RFC 6455, section 1.9). */
export const MUX_SUBPROTOCOL = 'svc-mux.1';
/** Maximum WebSocket message; `messageTransport` never exceeds it. */
export const MUX_MESSAGE_BYTES = 1024 * 1024;
