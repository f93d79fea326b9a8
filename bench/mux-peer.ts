/**
 * The peer process of `bench/mux.ts`: serves what a stream's metadata, or the first line of a bare socket, requests.
 */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createServer as createTlsServer } from 'node:tls';
import { duplexTransport, messageTransport, MuxSession, type MuxStream } from '@svc/mux';
import { selfSignedCertificate } from '@svc/testing';
import { WebSocketServer } from 'ws';

export interface PeerPorts {
  rawTcp: number;
  rawTls: number;
  muxTcp: number;
  muxTls: number;
  muxWebSocket: number;
  /** The certificate of the TLS ports. */
  ca: string;
}

const BLOCK = Buffer.alloc(64 * 1024, 'b');

function source(sizeMib: number, target: Duplex): void {
  const blocks = Readable.from(
    (function* () {
      for (let count = 0; count < sizeMib * 16; count += 1) yield BLOCK;
    })(),
  );
  pipeline(blocks, target).catch(() => undefined); // the measuring side disconnects when it is done
}

function serve(stream: MuxStream): void {
  const [kind, size] = stream.metadata.toString().split(' ');
  if (kind === 'source') source(Number(size), stream);
  else pipeline(stream, stream).catch(() => undefined);
}

function bare(socket: Duplex): void {
  socket.on('error', () => undefined);
  socket.once('data', (line: Buffer) => source(Number(line.toString()), socket));
}

const session = (socket: Duplex): void =>
  void new MuxSession(duplexTransport(socket), { role: 'server', onStream: serve });

async function open(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const certificate = await selfSignedCertificate();
const webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const http = createHttpServer().on('upgrade', (request, socket, head) => {
  webSockets.handleUpgrade(request, socket, head, (webSocket) => {
    void new MuxSession(messageTransport(webSocket), { role: 'server', onStream: serve });
  });
});
const ports: PeerPorts = {
  rawTcp: await open(createServer(bare)),
  rawTls: await open(createTlsServer(certificate, bare)),
  muxTcp: await open(createServer(session)),
  muxTls: await open(createTlsServer(certificate, session)),
  muxWebSocket: await open(http),
  ca: certificate.cert,
};
process.once('disconnect', () => process.exit(0));
process.send?.(ports);
