import { createHash } from 'node:crypto';
import { startSvc } from '../engines/svc.ts';
import { median } from '../compare.ts';
import { ask } from '../load/run-load.ts';
import { sha256, Signer } from '../load/signature.ts';
import { BUCKET, fill, makeBucket } from '../measures/bucket.ts';
import type { Figure } from './figure.ts';

const PARTS = 10_000;
const ROUNDS = 3;

/** Ten thousand parts of one KiB, with the minimum size disabled; completion reads none of their bytes. */
export async function measureCompletion(folder: string, say: (line: string) => void): Promise<Figure[]> {
  const engine = await startSvc(folder, { SVC_OBJECT_STORE_LIMITS_PART_MIN_BYTES: '0' });
  try {
    await makeBucket(engine);
    const signer = new Signer(engine);
    const body = Buffer.alloc(1024, 'p');
    const payloadHash = sha256(body);
    const milliseconds: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const path = `/${BUCKET}/parts-${round}`;
      const begun = await ask(engine.endpoint, signer.head({ method: 'POST', path, query: { uploads: '' } }));
      const uploadId = /<UploadId>(.+)<\/UploadId>/.exec(begun)?.[1] ?? '';
      const parts = Array.from({ length: PARTS }, (_, index) => {
        const query = { partNumber: String(index + 1), uploadId };
        return { head: signer.head({ method: 'PUT', path, query, bodyBytes: body.length, payloadHash }), body };
      });
      await fill(engine, parts, 32);
      const document = completion(body);
      const head = signer.head({
        method: 'POST',
        path,
        query: { uploadId },
        bodyBytes: document.length,
        payloadHash: sha256(document),
      });
      const startedAt = performance.now();
      await ask(engine.endpoint, head, document);
      milliseconds.push(performance.now() - startedAt);
      say(`completing ${PARTS} parts, round ${round + 1}: ${milliseconds.at(-1)?.toFixed(0)} ms`);
    }
    return [
      { name: 'completing an upload of 10,000 parts', value: median(milliseconds), unit: 'ms', aim: '<= 200 ms' },
    ];
  } finally {
    await engine.stop();
  }
}

function completion(body: Buffer): Buffer {
  const etag = createHash('md5').update(body).digest('hex');
  const parts = Array.from(
    { length: PARTS },
    (_, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`,
  );
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
}
