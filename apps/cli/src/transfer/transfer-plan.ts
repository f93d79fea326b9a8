import { existsSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { usageFailure } from '../client/command-failure.ts';
import { headObject, listObjects, type RemoteObject } from '../s3/s3-operations.ts';
import { uploadHeaders, type GivenAttributes } from './attribute-options.ts';
import { copyObject } from './copy-object.ts';
import { customerKeyHeaders } from './customer-key.ts';
import { downloadObject } from './download-object.ts';
import { walkFiles, type LocalFile } from './local-files.ts';
import { LocalTarget } from './local-target.ts';
import { folderPrefix, renderRemote, type LocalLocation, type RemoteLocation } from './object-location.ts';
import type { TransferTask } from './run-tasks.ts';
import type { TransferContext } from './transfer-context.ts';
import { uploadFile } from './upload-file.ts';

/** Options for creating tasks. */
export interface PlanOptions {
  takes: (name: string) => boolean;
  attributes: GivenAttributes;
  onSkipped: (path: string, reason: string) => void;
  /** Version of the source, if a specific one is requested. */
  versionId?: string | undefined;
}

/** An object with its name relative to the listing's start. */
export interface NamedObject extends RemoteObject {
  name: string;
  bucket: string;
}

/** Lists the objects below a key as a folder. Skips folder markers, which have neither bytes nor a name. */
export async function* remoteBelow(
  { client, signal }: TransferContext,
  { bucket, key }: RemoteLocation,
): AsyncGenerator<NamedObject, void> {
  const prefix = folderPrefix(key);
  for await (const { object } of listObjects(client, { bucket, prefix, signal })) {
    if (object === undefined || (object.key.endsWith('/') && object.sizeBytes === 0)) continue;
    yield { ...object, bucket, name: object.key.slice(prefix.length) };
  }
}

export async function* localBelow(
  { signal }: TransferContext,
  { path }: LocalLocation,
  { onSkipped }: PlanOptions,
): AsyncGenerator<LocalFile, void> {
  yield* walkFiles(path, { signal, onSkipped });
}

export function uploadTask(
  context: TransferContext,
  file: LocalFile,
  to: RemoteLocation,
  options: PlanOptions,
): TransferTask {
  const { bucket, key } = to;
  return {
    verb: 'upload',
    from: file.path,
    to: renderRemote(to),
    sizeBytes: file.sizeBytes,
    run: () =>
      uploadFile(context, { path: file.path, bucket, key, headers: uploadHeaders(options.attributes, file.path) }),
  };
}

export function downloadTask(context: TransferContext, object: NamedObject, target: LocalTarget): TransferTask {
  return {
    verb: 'download',
    from: renderRemote(object),
    to: join(target.root, object.name),
    sizeBytes: object.sizeBytes,
    run: async () =>
      downloadObject(context, { bucket: object.bucket, object, path: await target.prepare(object.name) }),
  };
}

export function copyTask(
  context: TransferContext,
  object: NamedObject,
  to: RemoteLocation,
  { attributes }: PlanOptions,
): TransferTask {
  return {
    verb: 'copy',
    from: renderRemote(object),
    to: renderRemote(to),
    sizeBytes: object.sizeBytes,
    run: () => copyObject(context, { bucket: object.bucket, object, to, attributes }),
  };
}

/** Plans `cp` of one object. A folder as target keeps the source's name. */
export async function planOne(
  context: TransferContext,
  from: LocalLocation | RemoteLocation,
  to: LocalLocation | RemoteLocation,
  options: PlanOptions,
): Promise<{ task: TransferTask; source: LocalFile | NamedObject }> {
  if (from.kind === 'local') {
    const found = await stat(from.path);
    if (found.isDirectory()) throw usageFailure(`${from.path} is a folder`, 'use --recursive to copy it');
    if (to.kind === 'local') throw usageFailure('neither argument is in a bucket');
    const name = basename(from.path);
    const source = { name, path: from.path, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
    const key = to.key === '' || to.key.endsWith('/') ? `${to.key}${name}` : to.key;
    return { source, task: uploadTask(context, source, { ...to, key }, options) };
  }
  if (from.key === '' || from.key.endsWith('/')) {
    throw usageFailure(`${renderRemote(from)} is a folder`, 'use --recursive to copy it');
  }
  const { headers: _, ...object } = await headObject(context.client, {
    bucket: from.bucket,
    key: from.key,
    versionId: options.versionId,
    headers: customerKeyHeaders(to.kind === 'remote' ? context.sourceCustomerKey : context.customerKey),
    signal: context.signal,
  });
  const name = from.key.split('/').at(-1) ?? '';
  const source: NamedObject = { ...object, bucket: from.bucket, name };
  if (to.kind === 'remote') {
    const key = to.key === '' || to.key.endsWith('/') ? `${to.key}${name}` : to.key;
    return { source, task: copyTask(context, source, { ...to, key }, options) };
  }
  return { source, task: downloadOne(context, source, to.path) };
}

/** Downloads into a folder under the object's own, valid name, or to the given file. */
function downloadOne(context: TransferContext, object: NamedObject, path: string): TransferTask {
  const isFolder = path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory());
  if (isFolder) return downloadTask(context, object, new LocalTarget(path));
  return {
    ...downloadTask(context, object, new LocalTarget(dirname(path))),
    to: path,
    run: () => downloadObject(context, { bucket: object.bucket, object, path }),
  };
}

/** Plans `cp --recursive`. */
export async function* planMany(
  context: TransferContext,
  from: LocalLocation | RemoteLocation,
  to: LocalLocation | RemoteLocation,
  options: PlanOptions,
): AsyncGenerator<{ task: TransferTask; source: LocalFile | NamedObject }, void> {
  if (from.kind === 'local') {
    if (to.kind === 'local') throw usageFailure('neither argument is in a bucket');
    for await (const source of localBelow(context, from, options)) {
      if (!options.takes(source.name)) continue;
      const key = `${folderPrefix(to.key)}${source.name}`;
      yield { source, task: uploadTask(context, source, { ...to, key }, options) };
    }
    return;
  }
  const target = to.kind === 'local' ? new LocalTarget(to.path) : null;
  for await (const source of remoteBelow(context, from)) {
    if (!options.takes(source.name)) continue;
    const task =
      to.kind === 'remote'
        ? copyTask(context, source, { ...to, key: `${folderPrefix(to.key)}${source.name}` }, options)
        : downloadTask(context, source, target ?? new LocalTarget(to.path));
    yield { source, task };
  }
}
