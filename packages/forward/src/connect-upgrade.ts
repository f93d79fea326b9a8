import type { IncomingMessage } from 'node:http';
import { request as sendRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { AppError } from '@svc/errors';
import type { PeerAgent } from './peer-agent.ts';

/** Above any error that a replica answers. */
const MAX_REFUSAL_BYTES = 64 * 1024;

/** A connection to another replica that begins as an upgrade. */
export interface UpgradeOfOwn {
  readonly agent: PeerAgent;
  readonly path: string;
  /** Name in the `Upgrade` header. */
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Resolves to the raw connection. Throws the error that the other replica answers, or that of the connection. */
export async function connectUpgrade(options: UpgradeOfOwn): Promise<Duplex> {
  const { agent, path, protocol, headers, signal, timeoutMs } = options;
  signal.throwIfAborted();
  const upgrade = { Connection: 'Upgrade', Upgrade: protocol };
  const outgoing = sendRequest({
    ...agent.connection,
    agent,
    path,
    setHost: false,
    headers: { ...headers, ...upgrade },
  });
  const abort = (): void => void outgoing.destroy(new Error('the client left'));
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => outgoing.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  try {
    return await new Promise<Duplex>((resolve, reject) => {
      outgoing.once('error', reject);
      outgoing.once('upgrade', (_response, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      outgoing.once('response', (response) => void readRefusal(response).then(reject, reject));
      outgoing.end();
    });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

async function readRefusal(response: IncomingMessage): Promise<Error> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    sizeBytes += piece.length;
    if (sizeBytes > MAX_REFUSAL_BYTES) break;
    pieces.push(piece);
  }
  const status = response.statusCode ?? 502;
  const body = JSON.parse(Buffer.concat(pieces).toString('utf8')) as Record<string, unknown>; // the flat format of errors
  const { code, message, details } = body;
  if (typeof code !== 'string' || typeof message !== 'string') return new Error(`the replica answered ${status}`);
  return new AppError({ code, message, status, details: { ...(details as Record<string, unknown> | undefined) } });
}
