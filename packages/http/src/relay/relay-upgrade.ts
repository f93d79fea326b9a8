import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endToEndHeaders, type HeaderList } from './relay-headers.ts';
import { RelayTimeout, send, type RelayTarget } from './relay-request.ts';

/**
 * An upgrade request, as the server's `upgrade` event delivers it. `head` holds bytes that the client sent after the
 * request.
 */
export interface RelayedUpgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** Joins two sockets; resolves when both are closed. */
export type Join = (client: Duplex, server: Duplex) => Promise<void>;

/**
 * Relays an upgrade and, once accepted, every byte in both directions, for any protocol. Passes a refusal back
 * unchanged. Rejects only before anything is written, so that the caller can answer.
 */
export async function relayUpgrade(upgrade: RelayedUpgrade, target: RelayTarget, join: Join): Promise<void> {
  const { request, socket, head } = upgrade;
  if (socket.destroyed) return; // the client left, and `close` is not emitted again
  const extra = ['Connection', 'Upgrade', 'Upgrade', request.headers.upgrade ?? ''];
  const outgoing = send(request, target, extra);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => outgoing.destroy(new RelayTimeout(target.timeoutMs)), target.timeoutMs);
    const left = (): void => void outgoing.destroy();
    socket.once('close', left);
    const settled = (): void => {
      clearTimeout(timer);
      socket.off('close', left);
    };
    outgoing.once('upgrade', (response, upgraded, upgradedHead) => {
      settled();
      target.onAnswer?.(101);
      if (socket.destroyed) {
        upgraded.destroy();
        resolve();
        return;
      }
      beRaw(socket);
      beRaw(upgraded);
      socket.write(headText(response, ['Connection', 'Upgrade', 'Upgrade', response.headers.upgrade ?? '']));
      // Write instead of `unshift`: a side may already have ended.
      if (head.length > 0) upgraded.write(head);
      if (upgradedHead.length > 0) socket.write(upgradedHead);
      void join(socket, upgraded);
      resolve();
    });
    outgoing.once('response', (response) => {
      settled();
      target.onAnswer?.(response.statusCode ?? 502);
      refuseAs(response, socket);
      resolve();
    });
    outgoing.once('error', (error) => {
      settled();
      if (socket.destroyed) resolve();
      else reject(error);
    });
    outgoing.end();
  });
}

function beRaw(socket: Duplex): void {
  if (!(socket instanceof Socket)) return;
  socket.setNoDelay(true);
  socket.setTimeout(0); // a shell may be silent for hours
}

function refuseAs(response: IncomingMessage, socket: Duplex): void {
  if (socket.destroyed) {
    response.destroy();
    return;
  }
  // The body arrives decoded; closing the connection marks its end.
  socket.write(headText(response, ['Connection', 'close']));
  response.pipe(socket);
  response.once('close', () => {
    if (response.complete) socket.end(() => socket.destroy());
    else socket.destroy();
  });
  socket.once('close', () => response.destroy());
}

function headText(response: IncomingMessage, connection: HeaderList): string {
  const headers = [...endToEndHeaders(response), ...connection];
  let text = `HTTP/1.1 ${response.statusCode ?? 502} ${response.statusMessage ?? ''}\r\n`;
  for (let index = 0; index + 1 < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}
