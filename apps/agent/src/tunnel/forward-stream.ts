import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams, type MuxStream } from '@svc/mux';
import { TUNNEL_STREAM_CODES } from '@svc/protocol';

const DIAL_TIMEOUT_MS = 10_000;

/**
 * Connects the stream with the address that the configuration names. What the caller sent before waits in the stream's
 * own window; a dial that fails resets the stream with its reason. `dialled` hears why it could not be reached, or null.
 */
export function forwardStream(
  stream: MuxStream,
  address: string,
  dialled: (reason: string | null) => void,
  dialTimeoutMs = DIAL_TIMEOUT_MS,
): void {
  const { host, port } = splitAddress(address);
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true });
  const timer = setTimeout(() => {
    const reason = `${address} did not answer in ${dialTimeoutMs} ms`;
    dialled(reason);
    stream.reset(TUNNEL_STREAM_CODES.timedOut, reason);
  }, dialTimeoutMs);
  const left = (): void => {
    clearTimeout(timer);
    socket.destroy();
  };
  stream.once('close', left);
  let connected = false;
  socket.on('error', (error) => {
    if (!connected) dialled(reasonOf(error, address));
    // After the connection stands, the join sees the socket close.
    if (socket.connecting || !stream.destroyed) stream.reset(TUNNEL_STREAM_CODES.unreachable, reasonOf(error, address));
  });
  socket.once('connect', () => {
    connected = true;
    dialled(null);
    clearTimeout(timer);
    stream.off('close', left);
    void joinStreams(stream, socket, cut);
  });
}

/** A connection that was cut ends as a reset on the other side too: half a body must not look whole. */
function cut(from: Duplex, to: Duplex, error: Error | null): void {
  if (isSocket(to)) to.resetAndDestroy();
  else to.destroy(error ?? undefined);
  from.destroy();
}

function isSocket(stream: Duplex): stream is Socket {
  return 'resetAndDestroy' in stream;
}

function splitAddress(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

function reasonOf(error: Error, address: string): string {
  const code = 'code' in error ? String(error.code) : '';
  return `${address}: ${code === '' ? error.message : code}`;
}
