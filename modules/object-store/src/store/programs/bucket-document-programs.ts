import { parseNotificationDocument } from '../../domain/notifications/notification-document.ts';
import { storeErrors } from '../../errors.ts';
import type { PutBucketDocument, SetBucketEncryption } from '../../domain/ports/bucket-configuration.ts';
import type { MetadataCommands, MetadataQueries } from '../../domain/ports/metadata-store.ts';
import { BUCKET_DOCUMENT_NAMES, type BucketDocumentName } from '../../domain/ports/records.ts';
import { all, change, first, lock, type Program } from '../program.ts';
import { text } from '../row.ts';
import { assertOpenKey } from './key-ring-programs.ts';

type Documents = Readonly<Partial<Record<BucketDocumentName, string>>>;

export function* putBucketDocument(input: PutBucketDocument): Program<void> {
  const { bucketId, name, document, nowMs } = input;
  yield* lock(`bucket/${bucketId}`);
  const [bucket] = yield* change(
    `update bucket set configuration_version = configuration_version + 1
     where id = ? and state = 'active' returning versioning`,
    bucketId,
  );
  if (bucket === undefined) throw storeErrors.NoSuchBucket();
  if (name === 'object-lock' && text(bucket, 'versioning') !== 'enabled') {
    const reason = "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration";
    throw storeErrors.InvalidBucketState({ details: { reason } });
  }
  if (name === 'notification' && document !== null) yield* assertOpenSecrets(document);
  if (document === null) {
    yield* change('delete from bucket_document where bucket_id = ? and name = ?', bucketId, name);
    return;
  }
  yield* change(
    `insert into bucket_document (bucket_id, name, document, updated_at_ms) values (?, ?, ?, ?)
     on conflict (bucket_id, name) do update set document = excluded.document, updated_at_ms = excluded.updated_at_ms`,
    bucketId,
    name,
    document,
    nowMs,
  );
}

function* assertOpenSecrets(document: string): Program<void> {
  const { secret } = parseNotificationDocument(document);
  if (secret !== undefined) yield* assertOpenKey(secret);
}

export function* setBucketEncryption(input: SetBucketEncryption): Program<void> {
  const { bucketId, encryptionMode, document, nowMs } = input;
  yield* putBucketDocument({ bucketId, name: 'encryption', document, nowMs });
  yield* change('update bucket set encryption_mode = ? where id = ?', encryptionMode, bucketId);
}

export function* bucketDocuments(input: Parameters<MetadataQueries['bucketDocuments']>[0]): Program<Documents> {
  const rows = yield* all('select name, document from bucket_document where bucket_id = ?', input.bucketId);
  const found: Partial<Record<BucketDocumentName, string>> = {};
  for (const row of rows) {
    const name = BUCKET_DOCUMENT_NAMES.find((known) => known === text(row, 'name'));
    if (name !== undefined) found[name] = text(row, 'document');
  }
  return found;
}

/** Versioning is a column rather than a document, because every object write reads it. Existing versions are kept. */
export function* setVersioning(input: Parameters<MetadataCommands['setVersioning']>[0]): Program<void> {
  yield* lock(`bucket/${input.bucketId}`);
  if (input.versioning === 'suspended') {
    const locks = yield* first(
      `select 1 as found from bucket_document where bucket_id = ? and name = 'object-lock'`,
      input.bucketId,
    );
    if (locks !== undefined) {
      const reason =
        'An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.';
      throw storeErrors.InvalidBucketState({ details: { reason } });
    }
  }
  const [bucket] = yield* change(
    `update bucket set versioning = ?, configuration_version = configuration_version + 1
     where id = ? and state = 'active' returning id`,
    input.versioning,
    input.bucketId,
  );
  if (bucket === undefined) throw storeErrors.NoSuchBucket();
}
