import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo, type Server } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { selfSignedCertificate } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { lendReads } from './lent-reads.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

/** A server's socket and its peer. */
type Dial = () => Promise<{ served: Socket; other: Socket }>;

async function overTcp(): Promise<{ served: Socket; other: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  return dialled(server, 'connection', (port) => connect(port, '127.0.0.1'));
}

async function overTls(): Promise<{ served: Socket; other: Socket }> {
  const certificate = await selfSignedCertificate();
  const server = createTlsServer(certificate).listen(0, '127.0.0.1');
  const options = { host: '127.0.0.1', servername: 'localhost', ca: certificate.cert };
  return dialled(server, 'secureConnection', (port) => connectTls({ ...options, port }));
}

async function dialled(server: Server, event: string, dial: (port: number) => Socket): ReturnType<Dial> {
  servers.push(server);
  await once(server, 'listening');
  const accepted = once(server, event);
  const other = dial((server.address() as AddressInfo).port); // a TCP listener
  const [served] = (await accepted) as [Socket]; // the payload of both events
  sockets.push(served, other);
  return { served, other };
}

describe.each<[string, Dial]>([
  ['TCP', overTcp],
  ['TLS', overTls],
])('lendReads over %s', (_name, dial) => {
  it('reads all bytes into the shared buffer, and reports the end', async () => {
    const { served, other } = await dial();
    const seen = createHash('md5');
    const memories = new Set<unknown>();
    const canLend = lendReads(served, (bytes) => {
      memories.add(bytes.buffer);
      seen.update(bytes);
      bytes.fill(0);
      return true;
    });
    expect(canLend).toBe(true);
    const ended = once(served, 'end');
    const sent = createHash('md5');
    for (let count = 0; count < 40; count += 1) {
      const part = randomBytes(100_003);
      sent.update(part);
      if (!other.write(part)) await once(other, 'drain');
    }
    other.end();
    await ended;
    expect(seen.digest('hex')).toBe(sent.digest('hex'));
    expect(memories.size).toBe(1);
  });

  it('delivers bytes that were read earlier first', async () => {
    const { served, other } = await dial();
    served.unshift(Buffer.from('first '));
    let seen = '';
    const whole = new Promise<void>((resolve) => {
      lendReads(served, (bytes) => {
        seen += bytes.toString();
        if (seen.length >= 12) resolve();
        return true;
      });
    });
    other.write('second');
    await whole;
    expect(seen).toBe('first second');
  });

  it('pauses when told to, and resumes', async () => {
    const { served, other } = await dial();
    let seenBytes = 0;
    let wantsMore = false;
    lendReads(served, (bytes) => {
      seenBytes += bytes.length;
      return wantsMore;
    });
    const total = 32 * 1024 * 1024;
    other.write(Buffer.alloc(total));
    await expect.poll(() => seenBytes).toBeGreaterThan(0);
    served.resume();
    // Check again later, since a violation may take time to show.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(seenBytes).toBeLessThan(total);
    wantsMore = true;
    served.resume();
    await expect.poll(() => seenBytes).toBe(total);
  });

  it('has one borrower at most', async () => {
    const { served } = await dial();
    expect(lendReads(served, () => true)).toBe(true);
    expect(lendReads(served, () => true)).toBe(false);
  });
});

it('leaves an unconnected socket alone', () => {
  expect(lendReads(new Socket(), () => true)).toBe(false);
});
