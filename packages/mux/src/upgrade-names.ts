/** Value of `Upgrade` on a raw socket, and the subprotocol of a WebSocket. */
export const MUX_UPGRADE = 'svc-mux/1';
export const MUX_SUBPROTOCOL = 'svc-mux.1';
/** Maximum WebSocket message; `messageTransport` never exceeds it. */
export const MUX_MESSAGE_BYTES = 1024 * 1024;
