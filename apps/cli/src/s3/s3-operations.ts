import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { S3Client } from './s3-client.ts';
import { childrenOf, childText, escapeXml, parseXml, type XmlElement } from './xml.ts';

/** An object as reported by a listing or HEAD. */
export interface RemoteObject {
  key: string;
  sizeBytes: number;
  /** The ETag without quotes. */
  etag: string;
  modifiedAtMs: number;
  /** Set if a specific version is meant. */
  versionId?: string;
}

/** An entry in the history of a key. */
export interface RemoteVersion extends RemoteObject {
  versionId: string;
  isLatest: boolean;
  /** A delete marker: the object was deleted; it has no bytes. */
  isDeleteMarker: boolean;
}

export interface RemoteObjectDetails extends RemoteObject {
  headers: IncomingHttpHeaders;
}

export interface RemoteEntry {
  object?: RemoteObject;
  /** A folder, if a delimiter was given. */
  prefix?: string;
}

export interface ListQuery {
  bucket: string;
  prefix: string;
  delimiter?: string;
  signal: AbortSignal;
}

/** Lists objects in byte order of their keys, page by page. */
export async function* listObjects(client: S3Client, list: ListQuery): AsyncGenerator<RemoteEntry, void> {
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix: list.prefix,
      ...(list.delimiter === undefined ? {} : { delimiter: list.delimiter }),
      ...(token === undefined ? {} : { 'continuation-token': token }),
    };
    const { text } = await client.sendForText({ method: 'GET', bucket: list.bucket, query, signal: list.signal });
    const root = parseXml(text);
    const objects = childrenOf(root, 'Contents').map((each): RemoteEntry => ({ object: toObject(each) }));
    const prefixes = childrenOf(root, 'CommonPrefixes').map((each): RemoteEntry => ({
      prefix: decodeKey(childText(each, 'Prefix') ?? ''),
    }));
    yield* mergeByName(objects, prefixes);
    token = childText(root, 'NextContinuationToken');
  } while (token !== undefined);
}

function mergeByName(objects: readonly RemoteEntry[], prefixes: readonly RemoteEntry[]): RemoteEntry[] {
  const nameOf = (entry: RemoteEntry): Buffer => Buffer.from(entry.prefix ?? entry.object?.key ?? '');
  return prefixes.length === 0
    ? [...objects]
    : [...objects, ...prefixes].sort((left, right) => Buffer.compare(nameOf(left), nameOf(right)));
}

function toObject(element: XmlElement): RemoteObject {
  return {
    key: decodeKey(childText(element, 'Key') ?? ''),
    sizeBytes: Number(childText(element, 'Size') ?? 0),
    etag: (childText(element, 'ETag') ?? '').replaceAll('"', ''),
    modifiedAtMs: Date.parse(childText(element, 'LastModified') ?? ''),
  };
}

/** Decodes `encoding-type=url`, which is form encoding: a plus may be a space. */
function decodeKey(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

/** An object, or one version of it. */
export interface ObjectName {
  bucket: string;
  key: string;
  versionId?: string | undefined;
  signal: AbortSignal;
}

export async function headObject(
  client: S3Client,
  { versionId, headers, ...name }: ObjectName & { headers?: Readonly<Record<string, string>> },
): Promise<RemoteObjectDetails> {
  const all = { 'x-amz-checksum-mode': 'ENABLED', ...headers };
  const answer = await client.send({ method: 'HEAD', ...name, query: versionQuery(versionId), headers: all });
  answer.body.resume();
  return {
    key: name.key,
    sizeBytes: Number(answer.headers['content-length'] ?? 0),
    etag: (answer.headers.etag ?? '').replaceAll('"', ''),
    modifiedAtMs: Date.parse(answer.headers['last-modified'] ?? ''),
    headers: answer.headers,
    ...(versionId === undefined ? {} : { versionId }),
  };
}

export async function getObjectTags(
  client: S3Client,
  { versionId, ...name }: ObjectName,
): Promise<{ name: string; value: string }[]> {
  const query = { tagging: '', ...versionQuery(versionId) };
  const root = parseXml((await client.sendForText({ method: 'GET', ...name, query })).text);
  const [set] = childrenOf(root, 'TagSet');
  return (set === undefined ? [] : childrenOf(set, 'Tag')).map((tag) => ({
    name: childText(tag, 'Key') ?? '',
    value: childText(tag, 'Value') ?? '',
  }));
}

/** Returns the sizes of the object's parts, in order; empty if it was uploaded whole or they are unknown. */
export async function listObjectParts(
  client: S3Client,
  { versionId, headers, ...name }: ObjectName & { headers: Readonly<Record<string, string>> },
): Promise<number[]> {
  const sizes: number[] = [];
  let marker: string | undefined;
  do {
    const { text } = await client.sendForText({
      method: 'GET',
      ...name,
      query: { attributes: '', ...versionQuery(versionId) },
      headers: {
        ...headers,
        'x-amz-object-attributes': 'ObjectParts',
        ...(marker === undefined ? {} : { 'x-amz-part-number-marker': marker }),
      },
    });
    const [page] = childrenOf(parseXml(text), 'ObjectParts');
    if (page === undefined) return [];
    sizes.push(...childrenOf(page, 'Part').map((part) => Number(childText(part, 'Size'))));
    marker = childText(page, 'IsTruncated') === 'true' ? childText(page, 'NextPartNumberMarker') : undefined;
  } while (marker !== undefined);
  return sizes;
}

export function versionQuery(versionId: string | undefined): Record<string, string> {
  return versionId === undefined ? {} : { versionId };
}

/** Lists every version and delete marker, keys in byte order, newest version first. */
export async function* listVersions(
  client: S3Client,
  { bucket, prefix, signal }: Omit<ListQuery, 'delimiter'>,
): AsyncGenerator<RemoteVersion, void> {
  let markers: Record<string, string> | undefined;
  do {
    const query = { versions: '', 'encoding-type': 'url', prefix, ...markers };
    const { text } = await client.sendForText({ method: 'GET', bucket, query, signal });
    const root = parseXml(text);
    // Some servers return all versions of a page first, then its delete markers.
    const entries = root.children.filter(({ name }) => name === 'Version' || name === 'DeleteMarker');
    yield* entries.map((element) => toVersion(element)).sort(compareVersions);
    const isLast = childText(root, 'IsTruncated') !== 'true';
    markers = isLast
      ? undefined
      : {
          'key-marker': decodeKey(childText(root, 'NextKeyMarker') ?? ''),
          'version-id-marker': childText(root, 'NextVersionIdMarker') ?? '',
        };
  } while (markers !== undefined);
}

function compareVersions(left: RemoteVersion, right: RemoteVersion): number {
  if (left.key !== right.key) return Buffer.compare(Buffer.from(left.key), Buffer.from(right.key));
  if (left.isLatest !== right.isLatest) return left.isLatest ? -1 : 1;
  return right.modifiedAtMs - left.modifiedAtMs;
}

function toVersion(element: XmlElement): RemoteVersion {
  return {
    ...toObject(element),
    versionId: childText(element, 'VersionId') ?? 'null',
    isLatest: childText(element, 'IsLatest') === 'true',
    isDeleteMarker: element.name === 'DeleteMarker',
  };
}

export async function deleteObject(client: S3Client, { versionId, ...name }: ObjectName): Promise<void> {
  await client.sendForText({ method: 'DELETE', ...name, query: versionQuery(versionId) });
}

export const MOST_DELETES = 1_000;

/** An object to delete: the current version, which versioning keeps, or one version permanently. */
export interface DeleteTarget {
  key: string;
  versionId?: string;
}

/** Deletes at most 1,000 at once; returns those that failed. */
export async function deleteObjects(
  client: S3Client,
  { bucket, targets, signal }: { bucket: string; targets: readonly DeleteTarget[]; signal: AbortSignal },
): Promise<(DeleteTarget & { message: string })[]> {
  const objects = targets.map(({ key, versionId }) => {
    const version = versionId === undefined ? '' : `<VersionId>${escapeXml(versionId)}</VersionId>`;
    return `<Object><Key>${escapeXml(key)}</Key>${version}</Object>`;
  });
  const content = Buffer.from(`<Delete><Quiet>true</Quiet>${objects.join('')}</Delete>`);
  const headers = { 'content-md5': createHash('md5').update(content).digest('base64') };
  const body = { sizeBytes: content.length, open: () => content };
  const { text } = await client.sendForText({ method: 'POST', bucket, query: { delete: '' }, headers, body, signal });
  return childrenOf(parseXml(text), 'Error').map((error) => {
    const versionId = childText(error, 'VersionId');
    return {
      key: childText(error, 'Key') ?? '',
      message: childText(error, 'Message') ?? childText(error, 'Code') ?? 'it could not be deleted',
      ...(versionId === undefined || versionId === '' ? {} : { versionId }),
    };
  });
}
