import { createHash, randomBytes, type Hash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { signed } from '../support/raw-request.ts';
import { startStoreProcess, type StoreProcess } from '../support/store-process.ts';
import { sendRaw } from '../support/raw-request.ts';

const MiB = 1024 * 1024;
const CHUNK = randomBytes(MiB);
/** Allowed memory growth while 1 GiB streams through: a fixed number of buffers and slots. */
const ALLOWED_GROWTH_BYTES = 160 * MiB;

describeRequiring(['linux'], 'an object of a gibibyte', () => {
  it('is uploaded and downloaded in one request each with flat memory', async () => {
    await using folder = await temporaryFolder();
    const store = await startStoreProcess(join(folder.path, 'store'));
    try {
      const host = new URL(store.endpoint).host;
      const bucket = await sendRaw(store.endpoint, signed({ method: 'PUT', target: '/large' }, { key: store, host }));
      expect(bucket.status).toBe(200);
      const idleBytes = store.rssBytes();
      const md5 = createHash('md5');
      const etag = await upload(store, 1_024, md5);
      expect(etag).toBe(`"${md5.digest('hex')}"`);
      expect(await download(store)).toBe(etag.replaceAll('"', ''));
      expect(store.peakRssBytes() - idleBytes).toBeLessThan(ALLOWED_GROWTH_BYTES);
    } finally {
      await store.stop();
    }
  });
});

function upload(store: StoreProcess, mebibytes: number, md5: Hash): Promise<string> {
  const { host, hostname, port } = new URL(store.endpoint);
  const headers = { 'content-length': String(mebibytes * MiB) };
  const options = { key: store, host, payloadHash: 'UNSIGNED-PAYLOAD' };
  const request = signed({ method: 'PUT', target: '/large/object', headers }, options);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, method: 'PUT', path: request.target, headers: { ...request.headers } },
      (answer) => {
        answer.resume();
        if (answer.statusCode === 200) resolve(answer.headers.etag ?? '');
        else reject(new Error(`the upload was answered ${String(answer.statusCode)}`));
      },
    );
    outgoing.on('error', reject);
    let left = mebibytes;
    const write = (): void => {
      while (left > 0) {
        left -= 1;
        md5.update(CHUNK);
        if (!outgoing.write(CHUNK)) {
          outgoing.once('drain', write);
          return;
        }
      }
      outgoing.end();
    };
    write();
  });
}

function download(store: StoreProcess): Promise<string> {
  const { host, hostname, port } = new URL(store.endpoint);
  const request = signed({ target: '/large/object' }, { key: store, host });
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { hostname, port, path: request.target, headers: { ...request.headers } },
      (answer) => {
        const md5 = createHash('md5');
        answer.on('data', (chunk: Buffer) => md5.update(chunk));
        answer.on('end', () => resolve(md5.digest('hex')));
        answer.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}
