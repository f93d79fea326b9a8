import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { EgressResolver } from './egress-resolver.ts';

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
