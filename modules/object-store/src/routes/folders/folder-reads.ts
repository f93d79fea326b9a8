import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseByteRange } from '../../domain/byte-range.ts';
import { compareKeys } from '../../domain/key-order.ts';
import { parseTags } from '../../domain/read-conditions.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { ObjectSummary } from '../../domain/ports/records.ts';
import { ContentHead, sendContent } from '../../s3/send-content.ts';
import {
  fileKey,
  findFile,
  firstKeys,
  folderKey,
  FolderRefusal,
  isFileName,
  keyOf,
  type FolderPlace,
} from './folder-place.ts';

/** An object or a folder, as the program that serves the mount reads it. */
export interface FolderEntry {
  name: string;
  kind: 'file' | 'folder';
  size: number;
  etag: string;
  modified_ms: number;
  metadata: Readonly<Record<string, string>>;
}

const PAGE = 1_000;

export function fileEntry(path: string, { version }: FoundObject): FolderEntry {
  const { sizeBytes: size, etag, modifiedAtMs, attributes } = version;
  return {
    name: lastPart(path),
    kind: 'file',
    size,
    etag,
    modified_ms: modifiedAtMs,
    metadata: attributes.metadata ?? {},
  };
}

/** A folder without a key of its own is as old as its bucket. */
function folderEntry({ bucket }: FolderPlace, path: string, marker: FoundObject | null): FolderEntry {
  const { modifiedAtMs = bucket.createdAtMs, attributes } = marker?.version ?? {};
  const metadata = attributes?.metadata ?? {};
  return { name: lastPart(path), kind: 'folder', size: 0, etag: '', modified_ms: modifiedAtMs, metadata };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Finds a file, or else a folder: a key hides those that continue it. The folder of the mount itself always exists. */
export async function statEntry(place: FolderPlace, path: string): Promise<FolderEntry> {
  if (path !== '') {
    const file = await findFile(place, keyOf(place, path));
    if (file !== null) return fileEntry(path, file);
  }
  const key = folderKey(place, path);
  const marker = await findFile(place, key);
  if (marker === null && path !== '' && (await firstKeys(place, key, 1)).length === 0)
    throw new FolderRefusal('ENOENT');
  return folderEntry(place, path, marker);
}

/** Lists one page of a folder in the order of keys. `next` is null on the last one. */
export async function listFolder(
  place: FolderPlace,
  path: string,
  after: string,
): Promise<{ entries: FolderEntry[]; next: string | null }> {
  const { services, bucket } = place;
  const prefix = folderKey(place, path);
  if (after !== '' && !after.startsWith(prefix)) throw new FolderRefusal('EINVAL');
  const page = await services.objects.list(bucket, { prefix, delimiter: '/', after, limit: PAGE, detailed: true });
  const files = new Map(page.objects.map((object) => [object.key, object]));
  const keys = [...files.keys(), ...page.commonPrefixes].toSorted(compareKeys);
  const entries: FolderEntry[] = [];
  for (const key of keys) {
    const object = files.get(key);
    const name = key.slice(prefix.length, object === undefined ? -1 : undefined);
    if (!isFileName(name)) continue;
    if (object !== undefined) entries.push(listedEntry(name, object));
    else if (!(await isHidden(place, key.slice(0, -1), files, after))) entries.push(folderEntry(place, name, null));
  }
  return { entries, next: page.next };
}

/** A file of the same name hides a folder. It may have been on an earlier page. */
async function isHidden(
  place: FolderPlace,
  key: string,
  files: ReadonlyMap<string, unknown>,
  after: string,
): Promise<boolean> {
  if (files.has(key)) return true;
  return after !== '' && compareKeys(key, after) <= 0 && (await findFile(place, key)) !== null;
}

function listedEntry(name: string, { sizeBytes, etag, modifiedAtMs, details }: ObjectSummary): FolderEntry {
  const metadata = details?.metadata ?? {};
  return { name, kind: 'file', size: sizeBytes, etag, modified_ms: modifiedAtMs, metadata };
}

/** Sends a range of one version of a file. */
export async function sendFile(
  place: FolderPlace,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { services, bucket } = place;
  const found = await findFile(place, fileKey(place, path));
  const wanted = request.headers['if-match'];
  if (found === null || wanted === undefined || !parseTags(wanted).includes(found.version.etag)) {
    throw new FolderRefusal('ESTALE');
  }
  const { version } = found;
  const range = parseByteRange(request.headers.range, version.sizeBytes);
  await sendContent(services.deps, response, {
    workspaceUuid: bucket.workspaceUuid,
    found,
    key: await services.encryption.open(version.attributes.encryption, null),
    range: range ?? { start: 0, endExclusive: version.sizeBytes },
    status: 200,
    head: ContentHead.decide({}, { reader: 'browser', disposition: 'attachment', embedders: 'same-origin', key: '' }),
    isHead: false,
  });
}
