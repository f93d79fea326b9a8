import { usageFailure } from '../client/command-failure.ts';

export interface RemoteLocation {
  kind: 'remote';
  bucket: string;
  /** Empty for the bucket itself. */
  key: string;
}

export interface LocalLocation {
  kind: 'local';
  path: string;
}

/** Stdin or stdout. */
export interface StreamLocation {
  kind: 'stream';
}

export type Location = RemoteLocation | LocalLocation | StreamLocation;

const SCHEMES = ['svc://', 's3://'];

/** Parses `svc://bucket/key`, `s3://bucket/key` or `bucket/key`. The key is taken literally, without decoding. */
export function parseRemote(text: string): RemoteLocation {
  const scheme = SCHEMES.find((each) => text.startsWith(each));
  const rest = scheme === undefined ? text : text.slice(scheme.length);
  const slash = rest.indexOf('/');
  const bucket = slash === -1 ? rest : rest.slice(0, slash);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw usageFailure(`${JSON.stringify(text)} does not name a bucket`, 'use svc://BUCKET/KEY');
  }
  return { kind: 'remote', bucket, key: slash === -1 ? '' : rest.slice(slash + 1) };
}

/** Like `parseRemote`, but requires a key. */
export function parseObject(text: string): RemoteLocation {
  const location = parseRemote(text);
  if (location.key === '')
    throw usageFailure(`${JSON.stringify(text)} does not name an object`, 'use svc://BUCKET/KEY');
  return location;
}

/**
 * Interprets the two arguments of `cp`, `mv` and `sync`. An argument with a scheme is remote; one without is a path,
 * unless the other cannot be remote: then it means `bucket/key`, provided no such file exists.
 */
export function readLocations(source: string, target: string, exists: (path: string) => boolean): [Location, Location] {
  const [from, to] = [certain(source), certain(target)];
  const locations: [Location, Location] = [
    from ?? (to === null ? guess(exists(source), source) : to.kind === 'remote' ? local(source) : parseRemote(source)),
    to ??
      (from === null ? guess(!exists(source), target) : from.kind === 'remote' ? local(target) : parseRemote(target)),
  ];
  if (locations.every(({ kind }) => kind !== 'remote')) {
    throw usageFailure('neither argument is in a bucket', 'write one of them as svc://BUCKET/KEY');
  }
  return locations;
}

/** Returns null if only the other argument can decide. */
function certain(text: string): Location | null {
  if (text === '-') return { kind: 'stream' };
  if (SCHEMES.some((scheme) => text.startsWith(scheme))) return parseRemote(text);
  return /^(\/|\.{1,2}(\/|$)|~)/.test(text) ? local(text) : null;
}

function guess(isLocal: boolean, text: string): Location {
  return isLocal ? local(text) : parseRemote(text);
}

function local(path: string): LocalLocation {
  if (path === '') throw usageFailure('an argument is empty');
  return { kind: 'local', path };
}

export function renderRemote({ bucket, key }: { bucket: string; key: string }): string {
  return `svc://${bucket}/${key}`;
}

/** Returns the key as a folder: empty, or with a trailing slash. */
export function folderPrefix(key: string): string {
  return key === '' || key.endsWith('/') ? key : `${key}/`;
}
