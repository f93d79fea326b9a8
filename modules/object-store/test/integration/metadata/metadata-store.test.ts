import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import {
  POSTGRES_URL_VARIABLE,
  postgresSource,
  requirement,
  skippedTitle,
  sqliteRunsHere,
  temporaryFolder,
  type DatabaseSource,
} from '@svc/testing';
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBlobRecords } from '../../contract/blob-records-contract.ts';
import { describeCopies } from '../../contract/copy-contract.ts';
import { tenantLimits, type OpenMetadata } from '../../support/metadata-bench.ts';
import { describeDomains } from '../../contract/domain-contract.ts';
import { describeForks } from '../../contract/fork-contract.ts';
import { describeKeyRotation } from '../../contract/key-rotation-contract.ts';
import { describeLifecycle } from '../../contract/lifecycle-contract.ts';
import { describeMetadataStore } from '../../contract/metadata-contract.ts';
import { describeNotifications } from '../../contract/notification-contract.ts';
import { describeQuotas } from '../../contract/quota-contract.ts';
import { describeUploads } from '../../contract/upload-contract.ts';
import { describeUsageHistory } from '../../contract/usage-contract.ts';
import { describeVersions } from '../../contract/version-contract.ts';
import { openPostgresMetadataStore } from '../../../src/store/postgres/store.ts';
import { openSqliteMetadataStore } from '../../../src/store/sqlite/store.ts';

const CONTRACTS: Readonly<Record<string, (open: OpenMetadata) => void>> = {
  'buckets and objects': describeMetadataStore,
  'uploads and keys': describeUploads,
  domains: describeDomains,
  blobs: describeBlobRecords,
  versions: describeVersions,
  copies: describeCopies,
  quotas: describeQuotas,
  events: describeNotifications,
  lifecycle: describeLifecycle,
  usage: describeUsageHistory,
  'key rotation': describeKeyRotation,
  forks: describeForks,
};

/** One `describe` for each contract, so that a test opens its own store only and none for the other contracts. */
function describeContracts(open: OpenMetadata): void {
  for (const [name, describeContract] of Object.entries(CONTRACTS)) describe(name, () => describeContract(open));
}

describe.runIf(sqliteRunsHere())('the metadata store on SQLite', () => {
  const open: OpenMetadata = async () => {
    const folder = await temporaryFolder();
    const store = await openSqliteMetadataStore({ file: join(folder.path, 'objects.db'), migrations });
    return {
      store,
      close: async () => {
        await store.close();
        await folder.remove();
      },
    };
  };
  describeContracts(open);
});

const title = 'the metadata store on PostgreSQL';
const reason = requirement('postgres');
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let source: DatabaseSource | undefined;
  beforeAll(async () => {
    source = await postgresSource(process.env[POSTGRES_URL_VARIABLE] ?? '', migrations);
  });
  afterAll(() => source?.close());
  const open: OpenMetadata = async () => {
    if (source === undefined) throw new Error('the server is there only while the suite runs');
    const database = await source.open<unknown>();
    const store = await openPostgresMetadataStore({ database, migrations });
    return {
      store,
      close: async () => {
        await store.close();
        await database.close();
      },
    };
  };
  describeContracts(open);

  it('keeps every key and exact counts when two replicas write the same keys in opposite orders', async () => {
    if (source === undefined) throw new Error('the server is there only while the suite runs');
    const database = await source.open<unknown>();
    const stores = [
      await openPostgresMetadataStore({ database, migrations }),
      await openPostgresMetadataStore({ database, migrations }),
    ];
    const [first] = stores;
    if (first === undefined) throw new Error('no store');
    const bucket = { name: 'shared', workspaceUuid: randomUUID(), encryptionMode: 'none', locationHint: null } as const;
    const tenant = tenantLimits(bucket.workspaceUuid, { buckets: 10 });
    const { id: bucketId } = await first.createBucket({ ...bucket, id: 7, nowMs: 1, tenant });
    const keys = Array.from({ length: 40 }, (_, index) => `key-${index}`);
    for (let round = 0; round < 5; round += 1) {
      const writes = stores.flatMap((store, replica) =>
        (replica === 0 ? keys : keys.toReversed()).map((key) =>
          store.putObject({
            bucketId,
            key,
            nowMs: round + 1,
            versionToken: randomBytes(8).toString('hex'),
            content: { kind: 'inline', data: Buffer.from(key) },
            sizeBytes: key.length,
            etag: 'e',
            attributes: { contentType: 'x' },
            checksum: null,
            conditions: {},
            trashDueAtMs: 1,
          }),
        ),
      );
      await Promise.all(writes);
    }
    const [drift] = await first.usageDrift({ after: -1, limit: 10 });
    expect(drift?.counted).toEqual(drift?.actual);
    expect(drift?.actual.objectCount).toBe(keys.length);
    for (const store of stores) await store.close();
    await database.close();
  });
});
