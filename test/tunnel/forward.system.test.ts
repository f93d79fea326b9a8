import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandLine } from '../command-line/command-line.ts';
import { commandLineOf, forwardPort, type ForwardedPort } from './forwarded-port.ts';
import { startTunnels, type TunnelFixture } from './tunnel-fixture.ts';

/** Responds only after its client has half-closed the connection. */
let server: Server;
let open: Socket[];
let fixture: TunnelFixture;
let folder: TemporaryFolder;
let svc: CommandLine;
let forwarded: ForwardedPort;

beforeAll(async () => {
  open = [];
  server = createServer({ allowHalfOpen: true }, (socket) => {
    open.push(socket);
    socket.on('error', () => undefined);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('end', () => socket.end(`got ${Buffer.concat(chunks).toString()}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP listener
  folder = await temporaryFolder('svc-forward-');
  fixture = await startTunnels({
    forwards: { late: `127.0.0.1:${port}`, nobody: `127.0.0.1:${await freePort()}` },
  });
  svc = commandLineOf(fixture, folder.path);
  forwarded = await forwardPort(svc, 'late');
});
afterAll(async () => {
  await forwarded?.[Symbol.asyncDispose]();
  await fixture?.[Symbol.asyncDispose]();
  for (const socket of open) socket.destroy();
  server.close();
  await folder.remove();
});

function dial(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  return socket;
}

describe('svc forward', () => {
  it('carries concurrent connections, each of which can half-close and continue in the other direction', async () => {
    const sockets = Array.from({ length: 20 }, () => dial(forwarded.port));
    const answers = await Promise.all(
      sockets.map((socket, index) => {
        socket.end(`question ${index}`);
        return text(socket);
      }),
    );
    expect(answers).toEqual(sockets.map((_socket, index) => `got question ${index}`));
  });

  it('closes the service’s connection with the client’s, and the client’s with the service’s', async () => {
    const before = open.length;
    const leaving = dial(forwarded.port);
    leaving.write('x');
    const accepted = await waitFor(() => open[before]);
    leaving.resetAndDestroy();
    await waitFor(() => accepted.destroyed);

    const left = dial(forwarded.port);
    left.write('x');
    const cutting = await waitFor(() => open[before + 1]);
    cutting.resetAndDestroy();
    await waitFor(() => left.destroyed);
  });

  it('continues after the agent was offline', async () => {
    await fixture.restartAgent();
    const socket = dial(forwarded.port);
    socket.end('again');
    expect(await text(socket)).toBe('got again');
  });

  it('keeps the token out of the process list', async () => {
    const shown = await readFile(`/proc/${forwarded.pid}/cmdline`, 'utf8');
    expect(shown).toContain('forward');
    expect(shown).not.toContain(fixture.platform.ready.token);
  });

  it('closes connections to an unknown forward, and exits with an error for an unknown cluster', async () => {
    await using nobody = await forwardPort(svc, 'nobody');
    const socket = dial(nobody.port);
    socket.resume();
    await waitFor(() => socket.destroyed);
    const { exitCode, stderr } = await svc.run(['forward', 'elsewhere', 'late', '0']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('svc: No cluster elsewhere in this workspace');
  });
});
