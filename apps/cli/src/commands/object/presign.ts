import type { Command } from 'commander';
import { createSigningCredential, objectPath, presignUrl, toQueryParameters } from '@svc/s3-sign';
import { usageFailure } from '../../client/command-failure.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { versionQuery } from '../../s3/s3-operations.ts';
import { REGION } from '../../s3/s3-client.ts';
import { addVersionOption, type VersionFlags } from '../../transfer/version-option.ts';
import { parseObject } from '../../transfer/object-location.ts';
import { withTransfers, type TransferFlags } from '../../transfer/with-transfer.ts';

interface PresignFlags extends TransferFlags, VersionFlags {
  expires?: string;
  method?: string;
}

const MOST_SECONDS = 604_800;
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE']);

export function registerObjectPresign(parent: Command): void {
  addVersionOption(addConnectionOptions(parent.command('presign')))
    .description('Create a presigned URL for one operation')
    .argument('<location>', 'svc://BUCKET/KEY')
    .option('--expires <time>', 'Lifetime, such as 15m or 12h; at most 7d', '15m')
    .option('--method <method>', 'GET, HEAD, PUT, or DELETE', 'GET')
    .action((text: string, flags: PresignFlags) =>
      withTransfers(flags, async ({ session: { output }, context }) => {
        const { bucket, key } = parseObject(text);
        const method = (flags.method ?? 'GET').toUpperCase();
        if (!METHODS.has(method)) throw usageFailure(`${method} cannot be presigned`, [...METHODS].join(', '));
        const expiresSeconds = Math.floor(readDurationMs(flags.expires ?? '15m') / 1000);
        if (expiresSeconds < 1 || expiresSeconds > MOST_SECONDS)
          throw usageFailure('the lifetime of a URL must be between 1 second and 7 days');
        // The URL expires no later than its signing key.
        const access = await context.client.keys.get(expiresSeconds * 1000);
        const nowMs = Date.now();
        const path = objectPath(bucket, key);
        const parameters = toQueryParameters(versionQuery(flags.versionId));
        const wanted = { method, endpoint: access.endpoint, path, parameters, expiresSeconds };
        const url = presignUrl(wanted, createSigningCredential(access, REGION), nowMs);
        output.answer({ url, method, expires_at: new Date(nowMs + expiresSeconds * 1000).toISOString() }, [url]);
      }),
    );
}
