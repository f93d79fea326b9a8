import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { residentBytes } from '@svc/test/process-facts';
import { startSvc, type SvcEngine } from '../engines/svc.ts';
import { ask, runLoad } from '../load/run-load.ts';
import { sendStream } from '../load/send-stream.ts';
import { Signer } from '../load/signature.ts';
import { BUCKET, makeBucket } from '../measures/bucket.ts';
import type { Figure } from './figure.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const PART_BYTES = GIB;
const PARTS = 100;
const UPLOADS = 20;
const IDLE_MS = 30_000;

/** Memory of the process at rest, while reading an object of 100 GiB, and while writing 20 GiB. */
export async function measureMemory(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const engine = await startSvc(folder, { SVC_OBJECT_STORE_TRASH_GRACE_SECONDS: '0' });
  try {
    await delay(IDLE_MS); // memory used for the start is released
    const idle = residentBytes(engine.pid);
    say(`at rest: ${(idle / MIB).toFixed(0)} MiB`);
    await makeBucket(engine);
    const write = await sampled(engine, () => writeParts(engine, 'written', UPLOADS));
    say(`writing ${UPLOADS} GiB: at most ${(write / MIB).toFixed(0)} MiB`);
    await makeLargeObject(engine);
    const read = await sampled(engine, () => readObject(engine, 'large'));
    say(`reading ${PARTS} GiB: at most ${(read / MIB).toFixed(0)} MiB`);
    return [
      { name: 'memory at rest', value: idle / MIB, unit: 'MiB', aim: '<= 150 MB' },
      { name: `memory while ${UPLOADS} GiB are written, at most`, value: write / MIB, unit: 'MiB', aim: 'flat' },
      { name: `memory while one object of ${PARTS} GiB is read, at most`, value: read / MIB, unit: 'MiB', aim: 'flat' },
    ];
  } finally {
    await engine.stop();
  }
}

/** Returns the peak memory of the process during the work, sampled ten times a second. */
async function sampled(engine: SvcEngine, work: () => Promise<void>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, residentBytes(engine.pid))), 100);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most;
}

/** Puts objects of one GiB sequentially under one key. The body repeats one buffer. */
async function writeParts(engine: SvcEngine, key: string, count: number): Promise<void> {
  const chunk = randomBytes(64 * MIB);
  const body = function* (): Generator<Uint8Array> {
    for (let sent = 0; sent < PART_BYTES; sent += chunk.length) yield chunk;
  };
  for (let index = 0; index < count; index += 1) {
    const request = { method: 'PUT', path: `/${BUCKET}/${key}`, bodyBytes: PART_BYTES } as const;
    const head = new Signer(engine).head({ ...request, payloadHash: 'UNSIGNED-PAYLOAD' });
    await sendStream(engine.endpoint, head, body());
  }
}

/** One hundred parts copied from one object: they share its bytes on disk, but each is read and sent. */
async function makeLargeObject(engine: SvcEngine): Promise<void> {
  const signer = new Signer(engine);
  const path = `/${BUCKET}/large`;
  const begun = await ask(engine.endpoint, signer.head({ method: 'POST', path, query: { uploads: '' } }));
  const uploadId = /<UploadId>(.+)<\/UploadId>/.exec(begun)?.[1] ?? '';
  const etags: string[] = [];
  for (let number = 1; number <= PARTS; number += 1) {
    const query = { partNumber: String(number), uploadId };
    const headers = { 'x-amz-copy-source': `/${BUCKET}/written` };
    const copied = await ask(engine.endpoint, signer.head({ method: 'PUT', path, query, headers, bodyBytes: 0 }));
    etags.push(/([0-9a-f]{32}(-\d+)?)/.exec(copied)?.[1] ?? '');
  }
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`);
  const document = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const request = { method: 'POST', path, query: { uploadId }, bodyBytes: document.length } as const;
  await ask(engine.endpoint, signer.head({ ...request, payloadHash: 'UNSIGNED-PAYLOAD' }), document);
}

async function readObject(engine: SvcEngine, key: string): Promise<void> {
  const head = new Signer(engine).head({ method: 'GET', path: `/${BUCKET}/${key}` });
  const options = { endpoint: engine.endpoint, connections: 1, milliseconds: 3_600_000, repeat: false };
  const { bytes } = await runLoad([{ head }], options);
  if (bytes !== PARTS * PART_BYTES) throw new Error(`${bytes} bytes were read`);
}
