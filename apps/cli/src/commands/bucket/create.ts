import type { EncryptionMode } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

interface CreateFlags extends ConnectionFlags {
  encryption?: string;
  locationHint?: string;
}

export function registerBucketCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a bucket; names are unique across workspaces')
    .argument('<name>')
    .option('--encryption <mode>', 'Default encryption: none or sse-s3 (default: the platform setting, sse-s3)')
    .option('--location-hint <hint>', 'Preferred location, if the engine supports it')
    .action((name: string, flags: CreateFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { buckets } = (await connect()).store;
        const bucket = await buckets.create(
          { name, encryption_mode: parseEncryption(flags), location_hint: flags.locationHint },
          { signal },
        );
        const changed = bucket.name === name ? '' : ` (made to fit: ${name})`;
        output.answer(bucket, [`Created bucket ${bucket.name}${changed}`]);
      }),
    );
}

function parseEncryption({ encryption }: CreateFlags): EncryptionMode | undefined {
  if (encryption === undefined || encryption === 'none' || encryption === 'sse-s3') return encryption;
  throw usageFailure(`${JSON.stringify(encryption)} is not an encryption mode`, 'use none or sse-s3');
}
