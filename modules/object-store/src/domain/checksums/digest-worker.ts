import { parentPort, workerData } from 'node:worker_threads';
import type { DigestReply, DigestRequest, DigestWorkerSettings } from './digest-protocol.ts';
import { HashKernels, MultiHasher } from './hasher.ts';
import { XX_HASHES } from './xx-hashes.ts';

/** Hashes bodies that are too large to hash on the thread that serves requests. */
function serve(
  kernels: HashKernels,
  settings: DigestWorkerSettings,
  send: (reply: DigestReply) => void,
): (request: DigestRequest) => void {
  const streams = new Map<number, MultiHasher>();
  return (request) => {
    switch (request.kind) {
      case 'begin':
        streams.set(request.stream, new MultiHasher(kernels, request.names));
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
  const settings = workerData as DigestWorkerSettings; // set by DigestThread
  const kernels = new HashKernels();
  await kernels.prepare(XX_HASHES); // streams cannot wait for loading, and this thread starts with the first large body
  const handle = serve(kernels, settings, (reply) => port.postMessage(reply));
  port.on('message', (request: DigestRequest) => {
    handle(request);
    if (request.kind === 'close') port.close();
  });
}
