import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { makeAuthority } from '@svc/certificates';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SecretGateways } from './secret-gateways.ts';

const ADDRESSES = { ann: '100.96.0.2', bob: '100.96.0.3' } as const;

let door: Server;
let gateways: SecretGateways;
const sockets: Socket[] = [];

beforeEach(async () => {
  const authority = await makeAuthority('inside', new Date());
  gateways = new SecretGateways({
    gateway: '127.0.0.1',
    guard: {
      allowedTargets: () => null,
      openPort: async () => 1,
      resolveFor: async () => [],
      resolvers: [],
      steer: () => undefined,
    },
    load: async () => undefined,
    issue: () => Promise.reject(new Error('not used')),
    nowMs: Date.now,
    shareOf: (workspaceUuid) => workspaceUuid,
    maxConnections: 9,
  });
  for (const [workspaceUuid, address] of Object.entries(ADDRESSES)) {
    const link = { id: workspaceUuid, interfaceName: workspaceUuid, address };
    await gateways.apply(link, { workspaceUuid, rules: [], authority });
  }
  door = createServer().listen(0, '127.0.0.1');
  await once(door, 'listening');
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  door.close();
  await gateways.close();
});

/** Connects as a sandbox of the workspace. Returns whether the connection is served. */
async function open(workspace: keyof typeof ADDRESSES): Promise<boolean> {
  const accepted = once(door, 'connection') as Promise<[Socket]>;
  sockets.push(connect((door.address() as AddressInfo).port, '127.0.0.1')); // a TCP listener
  const [socket] = await accepted;
  gateways.accept(socket, ADDRESSES[workspace], false);
  return !socket.destroyed;
}

it('has room for other workspaces while one holds its share of the connections', async () => {
  const held = [await open('ann'), await open('ann'), await open('ann'), await open('ann')];
  expect(held).toEqual([true, true, true, false]);
  expect([await open('bob'), await open('bob')]).toEqual([true, true]);
});
