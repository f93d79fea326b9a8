import type { Command } from 'commander';
import { addConnectionOptions } from '../../client/session.ts';
import { addCustomerKeyOption } from '../../transfer/customer-key.ts';
import { addVersionOption, type VersionFlags } from '../../transfer/version-option.ts';
import { parseObject } from '../../transfer/object-location.ts';
import { withTransfers, type TransferFlags } from '../../transfer/with-transfer.ts';
import { copyToStream } from './copy.ts';

export function registerObjectCat(parent: Command): void {
  addCustomerKeyOption(addVersionOption(addConnectionOptions(parent.command('cat'))))
    .description('Write an object to standard output and verify its checksum')
    .argument('<location>', 'svc://BUCKET/KEY')
    .action((location: string, flags: TransferFlags & VersionFlags) =>
      withTransfers(flags, ({ context }) => copyToStream(context, parseObject(location), flags.versionId)),
    );
}
