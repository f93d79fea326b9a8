import type { Command } from 'commander';
import { printable, renderBytes } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { listObjects, listVersions, type RemoteObject } from '../../s3/s3-operations.ts';
import { parseRemote, type RemoteLocation } from '../../transfer/object-location.ts';
import { withTransfers, type TransferFlags, type Transfers } from '../../transfer/with-transfer.ts';

interface ListFlags extends TransferFlags {
  recursive?: boolean;
  versions?: boolean;
}

export function registerObjectList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List objects; with --json, one JSON object per line')
    .argument('<location>', 'svc://BUCKET, svc://BUCKET/FOLDER/, or a key prefix')
    .option('-r, --recursive', 'List all levels instead of one')
    .option('--versions', 'List every version and delete marker')
    .action((location: string, flags: ListFlags) =>
      withTransfers(flags, (transfers) =>
        flags.versions === true
          ? showVersions(transfers, parseRemote(location))
          : showObjects(transfers, parseRemote(location), flags.recursive === true),
      ),
    );
}

async function showObjects(
  { session: { output, signal }, context }: Transfers,
  { bucket, key }: RemoteLocation,
  recursive: boolean,
): Promise<void> {
  const list = { bucket, prefix: key, ...(recursive ? {} : { delimiter: '/' }), signal };
  let [objects, sizeBytes] = [0, 0];
  for await (const { object, prefix } of listObjects(context.client, list)) {
    if (prefix !== undefined)
      output.entry({ prefix }, `${' '.repeat(24)}  ${'folder'.padStart(12)}  ${printable(prefix)}`);
    if (object === undefined) continue;
    output.entry(valueOf(object), `${renderLine(object)}  ${printable(object.key)}`);
    objects += 1;
    sizeBytes += object.sizeBytes;
  }
  if (recursive) output.note(`${objects} objects, ${renderBytes(sizeBytes)}`);
}

async function showVersions(
  { session: { output, signal }, context }: Transfers,
  { bucket, key: prefix }: RemoteLocation,
): Promise<void> {
  for await (const version of listVersions(context.client, { bucket, prefix, signal })) {
    const { versionId, isLatest, isDeleteMarker } = version;
    const value = { version_id: versionId, is_latest: isLatest, is_delete_marker: isDeleteMarker };
    const notes = [...(isLatest ? ['latest'] : []), ...(isDeleteMarker ? ['deleted'] : [])].join(', ');
    const line = `${renderLine(version)}  ${versionId.padEnd(32)}  ${printable(version.key)}`;
    output.entry({ ...valueOf(version), ...value }, notes === '' ? line : `${line}  (${notes})`);
  }
}

function valueOf({ key, sizeBytes, etag, modifiedAtMs }: RemoteObject): Record<string, unknown> {
  return { key, size: sizeBytes, etag, last_modified: new Date(modifiedAtMs).toISOString() };
}

function renderLine({ sizeBytes, modifiedAtMs }: RemoteObject): string {
  return `${new Date(modifiedAtMs).toISOString()}  ${String(sizeBytes).padStart(12)}`;
}
