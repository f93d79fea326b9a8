import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook<Event> {
  headers: IncomingHttpHeaders;
  body: string;
  event: Event;
}

/** A real receiver that keeps what it receives and answers as a test says. */
export interface WebhookReceiver<Event> {
  readonly url: string;
  readonly received: readonly ReceivedWebhook<Event>[];
  /** Webhooks answered with 2xx. */
  readonly taken: readonly ReceivedWebhook<Event>[];
  /** Response status; `hang` never responds. Default: 200. */
  answer: (webhook: ReceivedWebhook<Event>) => number | 'hang';
  close(): Promise<void>;
}

/** Starts a receiver on the loopback address. `parse` reads the event from a body. */
export async function startWebhookReceiver<Event>(parse: (body: string) => Event): Promise<WebhookReceiver<Event>> {
  const received: ReceivedWebhook<Event>[] = [];
  const taken: ReceivedWebhook<Event>[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const webhook = { headers: request.headers, body, event: parse(body) };
      received.push(webhook);
      const status = receiver.answer(webhook);
      if (status === 'hang') return;
      if (status < 300) taken.push(webhook);
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('noted');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  const receiver: WebhookReceiver<Event> = {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    taken,
    answer: () => 200,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
