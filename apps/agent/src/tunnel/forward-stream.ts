import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { joinStreams, type MuxStream } from '@svc/mux';
import { TUNNEL_STREAM_CODES } from '@svc/protocol';

const DIAL_TIMEOUT_MS = 10_000;

/**
 * Connects the stream to the configured address. Data sent before waits in the stream's window; a failed dial resets
 * the stream with the reason. `dialled` receives that reason, or null on success.
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
    if (!connected) dialled(describeReason(error, address));
    // Once connected, the join handles the socket's close.
    if (socket.connecting || !stream.destroyed)
      stream.reset(TUNNEL_STREAM_CODES.unreachable, describeReason(error, address));
  });
  socket.once('connect', () => {
    connected = true;
    dialled(null);
    clearTimeout(timer);
    stream.off('close', left);
    void joinStreams(stream, socket, cut);
  });
}

/** An aborted connection is reset on the other side too: a partial body must not look complete. */
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

function describeReason(error: Error, address: string): string {
  const code = 'code' in error ? String(error.code) : '';
  return `${address}: ${code === '' ? error.message : code}`;
}
