import type { IncomingMessage } from 'node:http';
import { createMemorySource, type ContentSource } from '../../domain/content/content-source.ts';
import { createStoredSource } from '../../domain/content/stored-source.ts';
import { defaultProtection } from '../../domain/new-object-protection.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { ObjectAttributes } from '../../domain/ports/records.ts';
import { pumpBody } from '../../s3/body/pump-body.ts';
import { retryWhileChanging } from '../../s3/copy-request.ts';
import {
  assertNotCut,
  fileKey,
  findFile,
  firstKeys,
  folderKey,
  FolderRefusal,
  type FolderPlace,
} from './folder-place.ts';
import { fileEntry, type FolderEntry } from './folder-reads.ts';

const FILE_TYPE = 'binary/octet-stream';
const FOLDER_TYPE = 'application/x-directory';
/** Keys of a renamed folder that are copied at once. */
const AT_A_TIME = 16;
const PAGE = 500;
const PART_PAGE = 256;
/** Beyond this, an append rewrites the object as one part. */
const MAX_KEPT_PARTS = 5_000;

type Metadata = Readonly<Record<string, string>>;

/** Stores a body as a file, in place of the one that was there. With `isNew`, refuses to replace anything. */
export async function writeFile(
  place: FolderPlace,
  path: string,
  metadata: Metadata,
  isNew: boolean,
  request: IncomingMessage,
): Promise<FolderEntry> {
  const key = fileKey(place, path);
  const before = await findFile(place, key);
  if (isNew && (before !== null || (await isFolder(place, path)))) throw new FolderRefusal('EEXIST');
  await put(place, key, keptAttributes(before, FILE_TYPE, metadata), bodyOf(request));
  return stored(place, path);
}

/** Stores the first bytes of this version of a file, followed by a body. Bytes that are stored in large parts are not rewritten. */
export async function appendFile(
  place: FolderPlace,
  path: string,
  { metadata, etag, keepBytes }: { metadata: Metadata; etag: string; keepBytes: number },
  request: IncomingMessage,
): Promise<FolderEntry> {
  const { services, bucket, origin } = place;
  const { multipart, copies, content } = services;
  const key = fileKey(place, path);
  const source = await findFile(place, key);
  if (source?.version.etag !== etag || keepBytes > source.version.sizeBytes) throw new FolderRefusal('ESTALE');
  const sourceKey = await services.encryption.open(source.version.attributes.encryption, null);
  const protection = await defaultProtection(services, bucket);
  const attributes = { ...keptAttributes(source, FILE_TYPE, metadata), ...protection.attributes };
  const checksums = { checksumAlgorithm: 'CRC64NVME', checksumType: 'FULL_OBJECT' } as const;
  const uploadId = await multipart.create({ bucket, key, initiator: origin.principal, attributes, ...checksums });
  const name = { bucket, key, uploadId };
  try {
    const upload = await multipart.get(name);
    const parts: { partNumber: number; etag: string }[] = [];
    let at = 0;
    for (const end of await partEnds(place, source, keepBytes)) {
      const partNumber = parts.length + 1;
      const range = { start: at, endExclusive: end };
      const part = { ...name, upload, uploadKey: protection.key, partNumber, source, sourceKey, range };
      parts.push({ partNumber, etag: (await copies.part(part)).etag });
      at = end;
    }
    const rest = createStoredSource(services.deps, {
      source,
      sourceKey,
      range: { start: at, endExclusive: keepBytes },
    });
    const last = joinSources(rest, bodyOf(request));
    if (last.sizeBytes > 0) {
      const partNumber = parts.length + 1;
      await using bytes = await content.store({ source: last, bucket, key: protection.key, kind: 'part' });
      await multipart.putPart({ ...name, partNumber, content: bytes });
      parts.push({ partNumber, etag: bytes.etag });
    }
    assertNotCut(place);
    await multipart.complete({ ...name, parts, conditions: { ifMatch: [etag] }, origin });
  } catch (error) {
    await multipart.abort(name).catch(() => undefined); // the janitor does, if this cannot
    throw error;
  }
  return stored(place, path);
}

/** Ends of the leading parts of an object that can be parts of another one as they are. */
async function partEnds(place: FolderPlace, { version }: FoundObject, keepBytes: number): Promise<number[]> {
  const { metadata, config } = place.services.deps;
  const { location, sizeBytes } = version;
  const least = config.limits.part_min_bytes;
  if (location.kind !== 'manifest') return keepBytes >= least ? [Math.min(keepBytes, sizeBytes)] : [];
  const ends: number[] = [];
  for (let start = 0; start < keepBytes;) {
    const wanted = { manifestId: location.manifestId, start, endExclusive: keepBytes, limit: PART_PAGE };
    const page = await metadata.manifestParts(wanted);
    if (page.length === 0) break;
    for (const part of page) {
      const end = Math.min(part.startOffset + part.sizeBytes, keepBytes);
      if (end - start < least) return ends;
      if (ends.length === MAX_KEPT_PARTS) return [];
      ends.push(end);
      start = end;
    }
  }
  return ends;
}

/** Replaces the metadata of a file, or of a folder that has a key of its own from then on. */
export async function changeAttributes(place: FolderPlace, path: string, metadata: Metadata): Promise<FolderEntry> {
  const file = path === '' ? null : await findFile(place, fileKey(place, path));
  if (file === null) {
    await markFolder(place, path, metadata);
    return { name: '', kind: 'folder', size: 0, etag: '', modified_ms: 0, metadata };
  }
  const key = fileKey(place, path);
  await copy(place, key, key, metadata);
  return stored(place, path);
}

/** Creates a folder. */
export async function makeFolder(place: FolderPlace, path: string, metadata: Metadata): Promise<void> {
  if ((await findFile(place, fileKey(place, path))) !== null || (await isFolder(place, path))) {
    throw new FolderRefusal('EEXIST');
  }
  await markFolder(place, path, metadata);
}

/** Removes a file or an empty folder. The folder that it was in stays. */
export async function removeEntry(place: FolderPlace, path: string, kind: string): Promise<void> {
  const { services, bucket, origin } = place;
  if (kind !== 'folder') {
    const key = fileKey(place, path);
    if ((await findFile(place, key)) === null) throw new FolderRefusal('ENOENT');
    await keepParent(place, path);
    await services.objects.delete({ bucket, key }, {}, { origin });
    return;
  }
  const key = folderKey(place, path);
  const keys = await firstKeys(place, key, 2);
  if (keys.some((each) => each !== key)) throw new FolderRefusal('ENOTEMPTY');
  if (keys.length === 0) throw new FolderRefusal('ENOENT');
  await keepParent(place, path);
  await services.objects.delete({ bucket, key }, {}, { origin });
}

/**
 * Renames a file, replacing another one, or a folder, replacing an empty one. Nothing is removed before all is copied. A
 * folder's rename stops between two objects when its connection is cut.
 */
export async function renameEntry(
  place: FolderPlace,
  { from, to, isNew }: { readonly from: string; readonly to: string; readonly isNew: boolean },
): Promise<void> {
  if (from === to) return;
  const [source, target] = [fileKey(place, from), fileKey(place, to)];
  assertObjectKey(target);
  const existing = await findFile(place, target);
  const targetIsFolder = existing === null && (await isFolder(place, to));
  if (isNew && (existing !== null || targetIsFolder)) throw new FolderRefusal('EEXIST');
  if ((await findFile(place, source)) !== null) {
    if (targetIsFolder) throw new FolderRefusal('EISDIR');
    await keepParent(place, from);
    await copy(place, source, target, null);
    await place.services.objects.delete({ bucket: place.bucket, key: source }, {}, { origin: place.origin });
    return;
  }
  if (!(await isFolder(place, from))) throw new FolderRefusal('ENOENT');
  if (existing !== null) throw new FolderRefusal('ENOTDIR');
  if (`${target}/`.startsWith(`${source}/`)) throw new FolderRefusal('EINVAL');
  if ((await firstKeys(place, `${target}/`, 2)).some((key) => key !== `${target}/`))
    throw new FolderRefusal('ENOTEMPTY');
  await keepParent(place, from);
  const renamed = (key: string): string => `${target}/${key.slice(source.length + 1)}`;
  const held = (work: (key: string) => Promise<void>) => async (key: string) => {
    assertNotCut(place);
    await work(key);
  };
  const copyOne = held((key) => copy(place, key, renamed(key), null));
  const removeOne = held(async (key) => {
    if ((await findFile(place, renamed(key))) === null) return; // came after the copies; stays where it is
    await place.services.objects.delete({ bucket: place.bucket, key }, {}, { origin: place.origin });
  });
  await eachKey(place, `${source}/`, copyOne);
  await eachKey(place, `${source}/`, removeOne);
}

async function eachKey(place: FolderPlace, prefix: string, work: (key: string) => Promise<void>): Promise<void> {
  for (let after = ''; ;) {
    const page = await place.services.objects.list(place.bucket, { prefix, delimiter: '', after, limit: PAGE });
    for (let at = 0; at < page.objects.length; at += AT_A_TIME) {
      await Promise.all(page.objects.slice(at, at + AT_A_TIME).map(({ key }) => work(key)));
    }
    if (page.next === null) return;
    after = page.next;
  }
}

/** Copies an object with its attributes; other metadata replaces what has the same names. */
async function copy(place: FolderPlace, from: string, to: string, metadata: Metadata | null): Promise<void> {
  const { services, bucket, origin } = place;
  assertObjectKey(to);
  await retryWhileChanging(async () => {
    const source = await findFile(place, from);
    if (source === null) throw new FolderRefusal('ENOENT');
    assertNotCut(place);
    const { retention } = (await defaultProtection(services, bucket)).attributes;
    const kept = { ...keptAttributes(source, FILE_TYPE, metadata ?? {}), ...keptAccess(source, from === to) };
    await services.copies.object({
      source,
      customerKey: null,
      bucket,
      key: to,
      attributes: retention === undefined ? kept : { ...kept, retention },
      checksumAlgorithm: null,
      encryption: {},
      origin,
      conditions: {},
    });
  });
}

/** A folder stays when the last key below it is gone. */
async function keepParent(place: FolderPlace, path: string): Promise<void> {
  const slash = path.lastIndexOf('/');
  if (slash === -1) return;
  const parent = path.slice(0, slash);
  if ((await findFile(place, folderKey(place, parent))) === null) await markFolder(place, parent, {});
}

async function isFolder(place: FolderPlace, path: string): Promise<boolean> {
  return (await firstKeys(place, folderKey(place, path), 1)).length > 0;
}

async function markFolder(place: FolderPlace, path: string, metadata: Metadata): Promise<void> {
  const key = folderKey(place, path);
  if (key === '') return; // a bucket has no attributes of a folder
  await put(place, key, keptAttributes(await findFile(place, key), FOLDER_TYPE, metadata), createMemorySource([]));
}

async function put(place: FolderPlace, key: string, kept: ObjectAttributes, source: ContentSource): Promise<void> {
  const { services, bucket, origin } = place;
  assertObjectKey(key);
  const protection = await defaultProtection(services, bucket);
  const { contentType } = kept;
  await using content = await services.content.store({
    source,
    bucket,
    key: protection.key,
    kind: 'object',
    contentType,
  });
  assertNotCut(place); // the body may have arrived long before its bytes are stored
  await services.objects.put({ bucket, key, content, attributes: { ...kept, ...protection.attributes }, origin });
}

/**
 * What stays of an object when its content is replaced, or when it is moved: everything but what belongs to the version,
 * and who else may read it. A mount has no right to let others in.
 */
function keptAttributes(before: FoundObject | null, fallback: string, metadata: Metadata): ObjectAttributes {
  const {
    accessControlList: _,
    encryption: __,
    retention: ___,
    legalHold: ____,
    ...kept
  } = before?.version.attributes ?? {
    contentType: fallback,
  };
  return { ...kept, metadata: { ...kept.metadata, ...metadata } };
}

/** The same bytes in the same place stay as public as they are. */
function keptAccess({ version }: FoundObject, isSamePlace: boolean): Pick<ObjectAttributes, 'accessControlList'> {
  const { accessControlList } = version.attributes;
  return isSamePlace && accessControlList !== undefined ? { accessControlList } : {};
}

async function stored(place: FolderPlace, path: string): Promise<FolderEntry> {
  const found = await findFile(place, fileKey(place, path));
  if (found === null) throw new FolderRefusal('ESTALE'); // removed by somebody else already
  return fileEntry(path, found);
}

function bodyOf(request: IncomingMessage): ContentSource {
  const sizeBytes = Number(request.headers['content-length'] ?? 0); // the HTTP parser accepts only digits
  return { sizeBytes, isUpload: true, pump: (consume) => pumpBody(request, consume) };
}

function joinSources(first: ContentSource, second: ContentSource): ContentSource {
  return {
    sizeBytes: first.sizeBytes + second.sizeBytes,
    isUpload: true,
    pump: async (consume) => {
      await first.pump(consume);
      await second.pump(consume);
    },
  };
}
