import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { createNameResolver } from '@svc/addresses';
import { startNameServer, startWebhookReceiver, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { createWebhookSender, WebhookFailure } from './webhook-sender.ts';

const signal = AbortSignal.timeout(60_000);
const open = createWebhookSender({ allowedNetworks: ['127.0.0.0/8'], timeoutMs: 30_000 });

it('refuses receivers that are not public, by address and by name, unless the operator allows them', async () => {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.adopt(await startWebhookReceiver((body) => body), (each) => each.close());
  const closed = createWebhookSender({ allowedNetworks: [], timeoutMs: 30_000 });
  const named = receiver.url.replace('127.0.0.1', 'localhost');
  for (const url of [
    receiver.url,
    named,
    'http://169.254.169.254/latest',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706433/',
  ]) {
    const refused = closed.send({ url, headers: {}, body: '' }, signal);
    await expect(refused).rejects.toThrow('the webhook leads to an address that is not public');
  }
  expect(receiver.received).toHaveLength(0);
  expect(await open.send({ url: receiver.url, headers: {}, body: 'hello' }, signal)).toEqual({ status: 200 });
  expect(receiver.received.map(({ body }) => body)).toEqual(['hello']);
});

it.each(['ftp://example.com/', 'example.com', 'https://user:secret@example.com/', 'https://example.com/#part'])(
  'objects to %s',
  (url) => {
    expect(open.objection(url)).toMatch(/^the webhook must/);
  },
);

it('fails with the status of the response and follows no redirect', async () => {
  await using resources = new AsyncDisposableStack();
  const receiver = resources.adopt(await startWebhookReceiver((body) => body), (each) => each.close());
  receiver.answer = () => 302;
  const failure: unknown = await open
    .send({ url: receiver.url, headers: {}, body: '' }, signal)
    .catch((error) => error);
  expect(failure).toBeInstanceOf(WebhookFailure);
  expect(failure).toMatchObject({ status: 302, message: 'HTTP 302' });
  expect(receiver.received).toHaveLength(1);
});

it('fails if the receiver switches protocols', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // cut by the sender
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  try {
    const sent = open.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: 'hello' }, signal);
    await expect(sent).rejects.toThrow(WebhookFailure);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Names of receivers on a real name server, which never answers for `silent.test`. */
async function startNamed({ timeoutMs = 60_000, queryMs = 60_000 } = {}) {
  const resources = new AsyncDisposableStack();
  const receiver = resources.adopt(await startWebhookReceiver((body) => body), (each) => each.close());
  const server = resources.adopt(
    await startNameServer({
      'hook.test': ['127.0.0.1'],
      'mixed.test': ['10.0.0.1', '127.0.0.1', 'fd00::1'],
      'inside.test': ['10.0.0.1', '169.254.169.254', 'fd00::1'],
      'mapped.test': ['::ffff:a00:1'],
      'silent.test': 'silent',
    }),
    (each) => each.close(),
  );
  const resolver = createNameResolver({ servers: [server.address], timeoutMs: queryMs });
  const sender = createWebhookSender({ allowedNetworks: ['127.0.0.0/8'], timeoutMs, resolver });
  const send = (host: string, until = signal) =>
    sender.send({ url: receiver.url.replace('127.0.0.1', host), headers: {}, body: host }, until);
  return { receiver, send, asked: server.asked, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

it('connects to the allowed addresses of a name, and to no others', async () => {
  await using named = await startNamed();
  const { receiver, send } = named;
  expect(await send('hook.test')).toEqual({ status: 200 });
  expect(await send('mixed.test')).toEqual({ status: 200 });
  for (const host of ['inside.test', 'mapped.test']) {
    await expect(send(host)).rejects.toThrow('the webhook leads to an address that is not public');
  }
  await expect(send('gone.test')).rejects.toThrow('the host gone.test does not exist');
  expect(receiver.received.map(({ body }) => body)).toEqual(['hook.test', 'mixed.test']);
});

it('keeps no file work waiting while the name server does not answer', async () => {
  await using named = await startNamed();
  const stopping = new AbortController();
  const sending = Array.from({ length: 16 }, () => named.send('silent.test', stopping.signal));
  const settled = Promise.allSettled(sending);
  await waitFor(() => named.asked.length >= sending.length);
  await readFile(new URL(import.meta.url)); // in the threads that getaddrinfo would keep
  expect(process.getActiveResourcesInfo()).not.toContain('GetAddrInfoReqWrap');
  stopping.abort();
  expect((await settled).filter(({ status }) => status === 'fulfilled')).toEqual([]);
});

it('fails if the name server does not answer', async () => {
  await using named = await startNamed({ queryMs: 100 });
  const late = 'the name servers did not answer for silent.test (ETIMEOUT)';
  await expect(named.send('silent.test')).rejects.toThrow(late);
});

it('gives up at its own timeout while the name server does not answer', async () => {
  await using named = await startNamed({ timeoutMs: 50 });
  await expect(named.send('silent.test')).rejects.toThrow('no answer in time');
});
