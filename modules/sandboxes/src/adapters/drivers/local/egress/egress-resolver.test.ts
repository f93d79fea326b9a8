import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { EgressResolver } from './egress-resolver.ts';

it('answers a sandbox over TCP, however many connections another one opens', async () => {
  const resolver = await EgressResolver.open('127.0.0.1', async (message) => message);
  const sockets: Socket[] = [];
  /** Asks from the address of a sandbox. Returns whether an answer came. */
  const ask = async (localAddress: string): Promise<boolean> => {
    const socket = connect({ port: resolver.port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(Buffer.from([0, 2, 1, 2]));
    return await Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
  };
  try {
    let answered = 0;
    for (let count = 0; count < 70; count += 1) if (await ask('127.0.0.2')) answered += 1;
    expect(answered).toBe(8);
    expect(await ask('127.0.0.3')).toBe(true);
  } finally {
    for (const socket of sockets) socket.destroy();
    await resolver.close();
  }
});

it('drops an answer that comes after its end', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Buffer>();
  const resolver = await EgressResolver.open('127.0.0.1', async () => {
    asked.resolve();
    return answer.promise;
  });
  const client = createSocket('udp4');
  try {
    client.send(Buffer.from('query'), resolver.port, '127.0.0.1');
    await asked.promise;
    await resolver.close();
    answer.resolve(Buffer.from('answer'));
    // An error in the continuation would end the process; give it its turn.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    client.close();
    await once(client, 'close');
  }
  expect(resolver.port).toBeGreaterThan(0);
});
