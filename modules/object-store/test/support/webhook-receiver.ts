import { createServer, type IncomingHttpHeaders } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReceivedEvent {
  /** The fields of the event record that tests check. */
  name: string;
  key: string;
  sequencer: string;
}

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  body: string;
  /** From the S3 message; null for the test event. */
  event: ReceivedEvent | null;
}

/** A real receiver that keeps what it receives and answers as a test says. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedWebhook[];
  /** Webhooks answered with 2xx. */
  readonly taken: readonly ReceivedWebhook[];
  /** Response status; `hang` never responds. Default: 200. */
  answer: (webhook: ReceivedWebhook) => number | 'hang';
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const taken: ReceivedWebhook[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const webhook = { headers: request.headers, body, event: parseEvent(body) };
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
  const receiver: WebhookReceiver = {
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

function parseEvent(body: string): ReceivedEvent | null {
  const message = JSON.parse(body) as {
    Records?: { eventName: string; s3: { object: { key: string; sequencer: string } } }[];
  }; // the S3 message; a test fails on any other
  const record = message.Records?.[0];
  if (record === undefined) return null;
  return { name: record.eventName, key: record.s3.object.key, sequencer: record.s3.object.sequencer };
}
