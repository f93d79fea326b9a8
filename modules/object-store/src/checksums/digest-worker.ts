import { parentPort, workerData } from 'node:worker_threads';
import { CrcKernel } from './crc-kernel.ts';
import type { DigestReply, DigestRequest, DigestWorkerSettings } from './digest-protocol.ts';
import { MultiHasher } from './hasher.ts';

/** Hashes what is too large to hold up the thread that serves requests. */
function serve(settings: DigestWorkerSettings, send: (reply: DigestReply) => void): (request: DigestRequest) => void {
  const kernel = new CrcKernel();
  const streams = new Map<number, MultiHasher>();
  return (request) => {
    switch (request.kind) {
      case 'begin':
        streams.set(request.stream, new MultiHasher(kernel, request.names));
        return;
      case 'update':
        streams
          .get(request.stream)
          ?.update(new Uint8Array(settings.memory, request.slot * settings.slotBytes, request.length));
        send({ kind: 'free', slot: request.slot });
        return;
      case 'finish':
        send({ kind: 'digest', stream: request.stream, results: streams.get(request.stream)?.digest() ?? {} });
        streams.delete(request.stream);
        return;
      case 'cancel':
        streams.delete(request.stream);
        return;
      case 'close':
        streams.clear();
    }
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const handle = serve(workerData as DigestWorkerSettings, (reply) => port.postMessage(reply)); // given by DigestThread
  port.on('message', (request: DigestRequest) => {
    handle(request);
    if (request.kind === 'close') port.close();
  });
}
