import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { assertPortsFree, type ListenAddress, type ListenFlag } from './listen.ts';

describe('ports', () => {
  const servers: Server[] = [];
  const take = async (flag: ListenFlag): Promise<ListenAddress> => {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return { port: (server.address() as AddressInfo).port, host: '127.0.0.1', flag }; // TCP: never a string
  };
  const free = async (flag: ListenFlag): Promise<ListenAddress> => {
    const address = await take(flag);
    servers.pop()?.close();
    return address;
  };
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('that are in use are all named, with the flag of each', async () => {
    const [plain, tls, s3] = [await take('--port'), await free('--https-port'), await take('--s3-port')];
    await expect(assertPortsFree([plain, tls, s3])).rejects.toMatchObject({
      code: 'PORTS_IN_USE',
      message:
        `port ${plain.port} on 127.0.0.1 and port ${s3.port} on 127.0.0.1 are in use; ` +
        'choose others with --port and --s3-port (0 = any free one)',
    });
  });

  it('are named alone when only one is in use', async () => {
    const [plain, s3] = [await free('--port'), await take('--s3-port')];
    await expect(assertPortsFree([plain, s3])).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      message: `port ${s3.port} on 127.0.0.1 is in use; choose another with --s3-port (0 = any free one)`,
    });
  });

  it('that are free stay free, and any free one always is', async () => {
    const address = await free('--port');
    await assertPortsFree([address, { ...address, port: 0 }]);
    await assertPortsFree([address]);
  });
});
