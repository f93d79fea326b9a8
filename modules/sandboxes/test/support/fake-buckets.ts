import { defineErrors } from '@svc/errors';
import type { ServedBuckets } from '../../src/routes/mounts/mount-server.ts';

const storeErrors = defineErrors({ QuotaExceeded: [403, 'The workspace is full'] });

/** Buckets by workspace and name. */
export class FakeBuckets implements ServedBuckets {
  readonly ids = new Map<string, number>();
  readonly served: unknown[] = [];
  /** Forks that succeed before the next ones are refused. */
  forksLeft = Number.MAX_SAFE_INTEGER;
  readonly find: ServedBuckets['find'] = async (workspace, name) => this.ids.get(`${workspace}/${name}`) ?? null;
  readonly exists: ServedBuckets['exists'] = async ({ workspaceUuid, bucketName, bucketId }) =>
    this.ids.get(`${workspaceUuid}/${bucketName}`) === bucketId;
  readonly forkName = (bucketName: string): string => `${bucketName}-fork-${100 + this.ids.size}`;
  fork: ServedBuckets['fork'] = async ({ workspaceUuid }, { name }) => {
    if (this.forksLeft <= 0) throw storeErrors.QuotaExceeded();
    this.forksLeft -= 1;
    const bucketId = 100 + this.ids.size;
    this.ids.set(`${workspaceUuid}/${name}`, bucketId);
    return { workspaceUuid, bucketName: name, bucketId };
  };
  readonly discard: ServedBuckets['discard'] = async (bucket) => {
    if (!(await this.exists(bucket))) return false;
    return this.ids.delete(`${bucket.workspaceUuid}/${bucket.bucketName}`);
  };
  discardFork: ServedBuckets['discardFork'] = async ({ workspaceUuid, bucketName }) =>
    this.ids.delete(`${workspaceUuid}/${bucketName}`);
  readonly serve: ServedBuckets['serve'] = async (folder, request, response) => {
    this.served.push(folder);
    if (request.url === '/slow') response.writeHead(200).write('begun');
    else response.end('{}');
  };
}
