import {
  changeMasterKey,
  rotateInternalAuthority,
  rotateStoreKeys,
  rotateTokenKeys,
  storeKeyUsage,
} from '@svc/platform';
import type { Command } from 'commander';
import { readConfiguration } from '../../configuration.ts';

interface KeyFlags {
  data?: string;
  config?: string;
  master?: boolean;
  wait?: boolean;
  json?: boolean;
}

/** `svc admin keys` and `svc admin rotate-keys`. */
export function registerKeyCommands(admin: Command): void {
  admin
    .command('keys')
    .description('List encryption keys and how many records each one protects')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print JSON')
    .action(async (flags: KeyFlags) => {
      const keys = (await storeKeyUsage(readConfiguration(flags).value)).map(({ id, key, rows }) => ({
        id,
        wrapped_by: key?.wrapper ?? 'the master key itself',
        created_at: key === null ? null : new Date(key.createdAtMs).toISOString(),
        objects: rows.object,
        uploads: rows.upload,
        secrets: rows['access-key'] + rows.certificate + rows['acme-account'] + rows.notification,
      }));
      const newest = keys.at(-1)?.id;
      const lines = keys.map(
        ({ id, wrapped_by: by, created_at: made, objects, uploads, secrets }) =>
          `key ${id}${id === newest ? ' (in use)' : ' (being replaced)'}: ${objects} objects, ${uploads} uploads, ` +
          `${secrets} secrets; wrapped by ${by}${made === null ? '' : `, created ${made}`}`,
      );
      print(
        flags,
        keys,
        lines.length === 0 ? ['No keys yet: the first write of something encrypted makes one'] : lines,
      );
    });
  admin
    .command('rotate-keys')
    .description('Rotate the encryption keys and the token signing key, without downtime')
    .option('--master', 'Rotate the master key as well')
    .option('--no-wait', 'Return immediately; the running platform re-encrypts in the background')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .action(rotate);
}

async function rotate(flags: KeyFlags): Promise<void> {
  const config = readConfiguration(flags).value;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const { keyId: tokenKey } = await rotateTokenKeys(config);
  say(`New access tokens are signed with key ${tokenKey}; old ones stay valid until they expire`);
  const internal = await rotateInternalAuthority(config);
  if (internal !== null)
    say(`Replicas use a new authority among themselves from ${internal.usedFrom.toISOString()} on`);
  const wait = flags.wait !== false || flags.master === true;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let left = 0;
  const onProgress = (older: number): void => {
    left = older;
  };
  const rotated = await rotateStoreKeys(config, { wait, signal: stop.signal, onProgress });
  if (rotated !== null) {
    say(`Key ${rotated.keyId} encrypts stored data from now on`);
    if (!wait || left > 0) {
      say(
        'Older keys are still in use; the platform replaces them in the background (svc admin keys shows how far it is)',
      );
      return;
    }
    say('Everything is encrypted under it, and older keys are removed');
  }
  if (flags.master === true) say(`The master key is changed (${(await changeMasterKey(config)).id})`);
}

function print(flags: KeyFlags, value: unknown, lines: readonly string[]): void {
  process.stdout.write(flags.json === true ? `${JSON.stringify(value)}\n` : `${lines.join('\n')}\n`);
}
