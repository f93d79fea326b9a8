import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LocalMounts } from './local-mounts.ts';

const OF_ANN = `sbx_${'a'.repeat(26)}`;
const OF_BOB = `sbx_${'b'.repeat(26)}`;

describe('the socket for mounts of buckets', () => {
  let folder: TemporaryFolder;
  let mounts: LocalMounts;
  const agents: Agent[] = [];
  const sockets: Socket[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder('svc-mounts-');
    mounts = new LocalMounts({
      dataFolder: folder.path,
      runFolder: folder.path,
      helperBinaries: () => Promise.reject(new Error('not used')),
      serve: async (_sandboxId, _index, incoming, response) => {
        incoming.resume();
        response.end('served');
      },
      tenants: {
        workspaceOf: async (sandboxId) => (sandboxId === OF_ANN ? 'ann' : 'bob'),
        shareOf: (workspaceUuid) => workspaceUuid,
      },
      log: createLogger({ level: 'silent', name: 'test' }),
      maxConnections: 9,
    });
    await mounts.open();
    for (const id of [OF_ANN, OF_BOB]) {
      await mkdir(join(folder.path, 'disks', id), { recursive: true });
      const mountKeys = [createHash('sha256').update(keyOf(id)).digest('hex')];
      await writeFile(join(folder.path, 'disks', id, 'sandbox.json'), JSON.stringify({ digest: 'd', mountKeys }));
    }
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.destroy();
    for (const socket of sockets.splice(0)) socket.destroy();
    await mounts.close();
    await folder.remove();
  });

  const keyOf = (id: string): string => `${id}.0.${'0'.repeat(64)}`;
  const socketPath = (): string => join(folder.path, 'mounts.sock');
  /** Sends a request over a connection of its own, which stays open. */
  const ask = (id: string): Promise<number | 'cut'> => {
    const agent = new Agent({ keepAlive: true });
    agents.push(agent);
    return new Promise((resolve) => {
      const headers = { authorization: `Bearer ${keyOf(id)}` };
      const sent = request({ socketPath: socketPath(), path: '/list', headers, agent }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      });
      sent.once('error', () => resolve('cut'));
      sent.end();
    });
  };

  it('has room for other workspaces while one holds its share of the connections', async () => {
    for (let count = 0; count < 3; count += 1) expect(await ask(OF_ANN)).toBe(200);
    expect(await ask(OF_ANN)).toBe('cut');
    expect(await ask(OF_BOB)).toBe(200);
    agents[0]?.destroy();
    await waitFor(async () => (await ask(OF_ANN)) === 200);
  });

  it('serves programs with a key, however many connections show none', async () => {
    for (let count = 0; count < 300; count += 1) {
      const socket = connect(socketPath());
      socket.on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    expect(await ask(OF_BOB)).toBe(200);
    await waitFor(() => sockets[0]?.resume().destroyed === true);
  });
});
