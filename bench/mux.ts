/**
 * `node bench/mux.ts [--mib 256] [--rounds 3]`: the mux between two processes on loopback, compared to the bare socket
 * of the same run. Rounds of all kinds are interleaved, so that other load affects each alike; prints the median.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import { connect as connectTls } from 'node:tls';
import { duplexTransport, messageTransport, MuxSession, type MuxStream, type MuxTransport } from '@svc/mux';
import { WebSocket } from 'ws';
import type { PeerPorts } from './mux-peer.ts';

const MIB = 1024 * 1024;
const QUESTION = Buffer.alloc(1024, 'q');
const WINDOW_MS = 2_000;
const { values } = parseArgs({ options: { mib: { type: 'string' }, rounds: { type: 'string' } } });
const sizeMib = Number(values.mib ?? 256);
const rounds = Number(values.rounds ?? 3);

type Kind = 'TCP' | 'TLS' | 'WebSocket';
type Measure = () => Promise<number>;

const peer = fork(new URL('./mux-peer.ts', import.meta.url), { stdio: 'inherit' });
const [ports] = (await once(peer, 'message')) as [PeerPorts]; // the peer's first message
const results = new Map<string, number[]>();

for (let round = 0; round < rounds; round += 1) {
  for (const [name, measure] of measures()) results.set(name, [...(results.get(name) ?? []), await measure()]);
}
for (const [name, figures] of results) console.log(`${name.padEnd(58)} ${median(figures).toFixed(0).padStart(8)}`);
await stalled();
peer.disconnect();

function measures(): [string, Measure][] {
  const kinds: Kind[] = ['TCP', 'TLS', 'WebSocket'];
  return [
    ['bare TCP, MiB/s', () => bare(() => connect(ports.rawTcp, '127.0.0.1'))],
    ['bare TLS, MiB/s', () => bare(() => dialTls(ports.rawTls))],
    ...kinds.flatMap((kind): [string, Measure][] => [
      [`mux over ${kind}, 1 stream, MiB/s`, () => withSession(kind, (session) => bulk(session, 1))],
      [`mux over ${kind}, 8 streams, MiB/s`, () => withSession(kind, (session) => bulk(session, 8))],
      [`mux over ${kind}, 1 KiB there and back, 64 streams, per s`, () => withSession(kind, exchanges)],
      [`mux over ${kind}, 1 KiB there and back, new stream each, per s`, () => withSession(kind, newStreams)],
    ]),
  ];
}

function dialTls(port: number): Duplex {
  return connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: ports.ca });
}

async function withSession(kind: Kind, measure: (session: MuxSession) => Promise<number>): Promise<number> {
  const session = new MuxSession(await dial(kind), { role: 'client' });
  try {
    return await measure(session);
  } finally {
    session.close();
    await session.closed;
  }
}

async function dial(kind: Kind): Promise<MuxTransport> {
  if (kind === 'TCP') return duplexTransport(connect(ports.muxTcp, '127.0.0.1'));
  if (kind === 'TLS') return duplexTransport(dialTls(ports.muxTls));
  const socket = new WebSocket(`ws://127.0.0.1:${ports.muxWebSocket}`, { perMessageDeflate: false });
  await once(socket, 'open');
  return messageTransport(socket);
}

async function bare(open: () => Duplex): Promise<number> {
  const socket = open();
  const started = performance.now();
  socket.write(`${sizeMib}\n`);
  await received(socket, sizeMib * MIB);
  const seconds = (performance.now() - started) / 1000;
  socket.destroy();
  return sizeMib / seconds;
}

async function bulk(session: MuxSession, streams: number): Promise<number> {
  const each = Math.ceil(sizeMib / streams);
  const started = performance.now();
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const stream = session.open(Buffer.from(`source ${each}`));
      stream.end();
      await received(stream, each * MIB);
    }),
  );
  return (each * streams) / ((performance.now() - started) / 1000);
}

async function received(source: Duplex, bytes: number): Promise<void> {
  let missing = bytes;
  await new Promise<void>((resolve, reject) => {
    source.on('data', (chunk: Buffer) => {
      missing -= chunk.length;
      if (missing <= 0) resolve();
    });
    source.once('error', reject).once('close', () => reject(new Error(`${missing} bytes are missing`)));
  });
}

async function exchanges(session: MuxSession): Promise<number> {
  const until = performance.now() + WINDOW_MS;
  const counts = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const stream = session.open(Buffer.from('echo'));
      let count = 0;
      while (performance.now() < until) {
        await exchange(stream);
        count += 1;
      }
      stream.destroy();
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / (WINDOW_MS / 1000);
}

async function newStreams(session: MuxSession): Promise<number> {
  const until = performance.now() + WINDOW_MS;
  const counts = await Promise.all(
    Array.from({ length: 64 }, async () => {
      let count = 0;
      while (performance.now() < until) {
        const stream = session.open(Buffer.from('echo'));
        stream.end(QUESTION);
        await once(stream.resume(), 'end');
        count += 1;
      }
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / (WINDOW_MS / 1000);
}

function exchange(stream: MuxStream): Promise<void> {
  let missing = QUESTION.length;
  return new Promise((resolve) => {
    const take = (chunk: Buffer): void => {
      missing -= chunk.length;
      if (missing > 0) return;
      stream.off('data', take);
      resolve();
    };
    stream.on('data', take);
    stream.write(QUESTION);
  });
}

/** Measures the memory of an unread stream, and its effect on concurrent bulk transfers. */
async function stalled(): Promise<void> {
  await withSession('TCP', async (session) => {
    const blocked = session.open(Buffer.from(`source ${1024 * 1024}`));
    blocked.end();
    while (session.unreadBytes < MIB) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = process.memoryUsage().rss;
    const speed = await bulk(session, 1);
    const grown = (process.memoryUsage().rss - before) / MIB;
    console.log(
      `beside a stalled stream: ${speed.toFixed(0)} MiB/s, RSS ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`,
    );
    return speed;
  });
}

function median(figures: readonly number[]): number {
  return figures.toSorted((left, right) => left - right)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
