import type { Command } from 'commander';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { headObject } from '../../s3/s3-operations.ts';
import { addCustomerKeyOption, customerKeyHeaders } from '../../transfer/customer-key.ts';
import { addVersionOption, type VersionFlags } from '../../transfer/version-option.ts';
import { parseObject } from '../../transfer/object-location.ts';
import { withTransfers, type TransferFlags } from '../../transfer/with-transfer.ts';

/** Headers of the connection or request rather than the object. */
const NOT_OF_THE_OBJECT =
  /^(connection|date|keep-alive|server|accept-ranges|x-amz-id-2|x-amz-request-id|x-request-id)$/;

export function registerObjectStat(parent: Command): void {
  addCustomerKeyOption(addVersionOption(addConnectionOptions(parent.command('stat'))))
    .description('Show the size, type, checksums, and metadata of an object')
    .argument('<location>', 'svc://BUCKET/KEY')
    .action((text: string, flags: TransferFlags & VersionFlags) =>
      withTransfers(flags, async ({ session: { output, signal }, context }) => {
        const { bucket, key } = parseObject(text);
        const { versionId } = flags;
        const secret = customerKeyHeaders(context.customerKey);
        const { headers } = await headObject(context.client, { bucket, key, versionId, headers: secret, signal });
        const kept = Object.entries(headers).filter(([name]) => !NOT_OF_THE_OBJECT.test(name));
        const value = { bucket, key, ...Object.fromEntries(kept) };
        const rows = kept.map(([name, each]) => `${name.padEnd(28)}  ${printable(String(each))}`);
        output.answer(value, [printable(`svc://${bucket}/${key}`), ...rows]);
      }),
    );
}
