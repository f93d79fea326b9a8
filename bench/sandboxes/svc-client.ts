import { Agent, request } from 'node:http';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { PROMPT } from './subject.ts';

export interface SvcClient {
  readonly url: string;
  readonly token: string;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Buffer }>;
  open(id: string, query?: string): WebSocket;
  close(): void;
}

/** A minimal client with persistent connections. */
export function svcClient(url: string, token: string): SvcClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const headers = { authorization: `Bearer ${token}` };
  return {
    url,
    token,
    call: (method, path, body) =>
      new Promise((resolve, reject) => {
        const json = body !== undefined && !Buffer.isBuffer(body);
        const content = body === undefined ? null : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
        const type = json ? 'application/json' : 'application/octet-stream';
        const asked = request(
          new URL(path, url),
          {
            method,
            agent,
            headers: {
              ...headers,
              ...(content === null ? {} : { 'content-type': type, 'content-length': String(content.length) }),
            },
          },
          (answer) => {
            const chunks: Buffer[] = [];
            answer.on('data', (chunk: Buffer) => chunks.push(chunk));
            answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
            answer.once('error', reject);
          },
        );
        asked.once('error', reject);
        asked.end(content);
      }),
    open: (id, query = '') =>
      new WebSocket(`${url.replace('http', 'ws')}/ws/terminal/${id}${query}`, { headers, perMessageDeflate: false }),
    close: () => agent.destroy(),
  };
}

/** Resolves when the shell shows its prompt; the terminal stays open. */
export async function untilPrompt(socket: WebSocket): Promise<void> {
  let shown = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const look = (data: Buffer): void => {
    shown += data.toString();
    if (PROMPT.test(shown)) resolve();
  };
  socket.on('message', look);
  socket.once('error', reject);
  socket.once('close', (code) => reject(new Error(`the terminal closed with ${code} after ${JSON.stringify(shown)}`)));
  try {
    await promise;
  } finally {
    socket.off('message', look);
  }
}

export async function closed(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const gone = once(socket, 'close');
  socket.close();
  await gone;
}
