import type { Command } from 'commander';
import { printable, renderBytes } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { listObjects } from '../../s3/s3-operations.ts';
import { parseRemote } from '../../transfer/object-location.ts';
import { withTransfers, type TransferFlags } from '../../transfer/with-transfer.ts';

interface ListFlags extends TransferFlags {
  recursive?: boolean;
}

export function registerObjectList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('list objects; with --json one line of JSON each')
    .argument('<location>', 'svc://bucket, svc://bucket/folder/ or the beginning of keys')
    .option('-r, --recursive', 'everything below, instead of one level of folders')
    .action((location: string, flags: ListFlags) =>
      withTransfers(flags, async ({ session: { output, signal }, context }) => {
        const { bucket, key } = parseRemote(location);
        const delimiter = flags.recursive === true ? {} : { delimiter: '/' };
        let [objects, sizeBytes] = [0, 0];
        for await (const { object, prefix } of listObjects(context.client, {
          bucket,
          prefix: key,
          ...delimiter,
          signal,
        })) {
          if (prefix !== undefined)
            output.entry({ prefix }, `${' '.repeat(24)}  ${'folder'.padStart(12)}  ${printable(prefix)}`);
          if (object === undefined) continue;
          const modified = new Date(object.modifiedAtMs).toISOString();
          const value = { key: object.key, size: object.sizeBytes, etag: object.etag, last_modified: modified };
          output.entry(value, `${modified}  ${String(object.sizeBytes).padStart(12)}  ${printable(object.key)}`);
          objects += 1;
          sizeBytes += object.sizeBytes;
        }
        if (flags.recursive === true) output.note(`${objects} objects, ${renderBytes(sizeBytes)}`);
      }),
    );
}
