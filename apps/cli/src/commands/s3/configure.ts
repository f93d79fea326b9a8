import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { Connection, ConnectionFlags } from '../../client/connection.ts';
import { addKeyOptions, readKeyRequest, type KeyFlags } from '../../client/key-request.ts';
import { printable } from '../../client/output.ts';
import { readIfThere, writePrivateFile } from '../../client/private-file.ts';
import { addConnectionOptions, withSession, type Session } from '../../client/session.ts';
import { resticVariables, type StoreAccess } from '../../s3-settings/program-settings.ts';
import { PROGRAM_NAMES, createProgram, type Program, type ProgramName } from '../../s3-settings/programs.ts';
import { parseVariables, renderVariables } from '../../s3-settings/render-variables.ts';
import { readSettings, writeSettings } from '../../s3-settings/settings-file.ts';

interface ConfigureFlags extends ConnectionFlags, KeyFlags {
  name: string;
  file?: string;
  folder: string;
  force?: boolean;
}

interface Configured {
  accessKeyId: string;
  /** Whether the existing key was kept. */
  kept: boolean;
  files: readonly string[];
  example: string;
}

export function registerS3Configure(parent: Command): void {
  addKeyOptions(addConnectionOptions(parent.command('configure')))
    .description('Configure an S3 client with a new access key')
    .addArgument(new Argument('<program>', 'S3 client to configure').choices(PROGRAM_NAMES))
    .option('--name <text>', 'Name of the profile (aws) or remote (rclone)', 'svc')
    .option('--file <path>', 'Configuration file (default: the usual one of the program); for aws, a folder')
    .option('--folder <path>', 'Folder of the repository in the bucket (restic)', '')
    .option('--force', 'Overwrite existing settings that point to another store')
    .addHelpText(
      'after',
      '\nOther settings in the files are kept. Running the command again keeps the key, unless a flag requests a new one.',
    )
    .action((program: ProgramName, flags: ConfigureFlags) =>
      withSession(flags, async (session) => {
        const configured =
          program === 'restic' ? await configureRestic(session, flags) : await configure(session, program, flags);
        const { accessKeyId, kept, files, example } = configured;
        session.output.answer({ program, accessKeyId, kept_key: kept, files, example }, [
          ...files.map((file) => `Wrote ${printable(file)}`),
          `Access key: ${accessKeyId}${kept ? ' (unchanged)' : ''}. Try: ${printable(example)}`,
        ]);
      }),
    );
}

async function configure(
  session: Session,
  name: Exclude<ProgramName, 'restic'>,
  flags: ConfigureFlags,
): Promise<Configured> {
  const { environment, connect, signal } = session;
  if (!/^[\w.-]{1,64}$/.test(flags.name)) throw usageFailure(`${JSON.stringify(flags.name)} is not a valid name`);
  const program = createProgram(name, environment, flags);
  const connection = await connect();
  const { s3_endpoint: endpoint } = await connection.store.status({ signal });
  const before = await keyThere(program, endpoint, flags.force === true);
  const kept = before !== null && !asksForKey(flags) && (await isAlive(connection, before.accessKeyId, signal));
  const access = kept ? { ...before, endpoint } : await makeKey(session, name, flags);
  for (const part of program.parts(access)) await writeSettings(part);
  const files = program.parts(access).map(({ path }) => path);
  return { accessKeyId: access.accessKeyId, kept, files, example: program.example };
}

/** restic reads variables, so write them to a file. */
async function configureRestic(session: Session, flags: ConfigureFlags): Promise<Configured> {
  const { environment, connect, signal } = session;
  const buckets = flags.bucket?.flatMap((each) => each.split(',')) ?? [];
  const [bucket] = buckets;
  if (bucket === undefined || buckets.length > 1)
    throw usageFailure('restic requires a bucket for its repository', 'select it with --bucket');
  const folder = flags.folder.replaceAll(/^\/+|(?<!\/)\/+$/g, '');
  const path = flags.file ?? join(environment.configFolder, `restic-${bucket}.env`);
  const connection = await connect();
  const { s3_endpoint: endpoint } = await connection.store.status({ signal });
  const text = await readIfThere(path);
  const there = parseVariables(text ?? '');
  const [accessKeyId, secretAccessKey] = [there.get('AWS_ACCESS_KEY_ID'), there.get('AWS_SECRET_ACCESS_KEY')];
  const isOurs = there.get('RESTIC_REPOSITORY')?.startsWith(`s3:${endpoint}/${bucket}`) === true;
  if (text !== null && !isOurs && flags.force !== true)
    throw usageFailure(`${path} exists and was not created by svc`, 'use --force to replace it');
  const asks = asksForKey({ ...flags, bucket: undefined });
  const before = isOurs && accessKeyId !== undefined && secretAccessKey !== undefined && !asks;
  const kept = before && (await isAlive(connection, accessKeyId, signal));
  const access = kept ? { endpoint, accessKeyId, secretAccessKey } : await makeKey(session, 'restic', flags);
  const lines = renderVariables(resticVariables(access, { bucket, folder }), 'sh');
  await writePrivateFile(path, `${lines.join('\n')}\n`);
  const example = `. ${path} && restic init`;
  return { accessKeyId: access.accessKeyId, kept, files: [path], example };
}

/** Refuses to overwrite settings of the same name for another store. */
async function keyThere(
  { parts, keyName, endpoint }: Program,
  storeEndpoint: string,
  force: boolean,
): Promise<{ accessKeyId: string; secretAccessKey: string } | null> {
  const wanted = { endpoint: storeEndpoint, accessKeyId: '', secretAccessKey: '' };
  const [credentials] = parts(wanted);
  const there = await readSettings(credentials.path, credentials.section);
  const accessKeyId = there?.get(keyName);
  if (there === null || accessKeyId === undefined) return null;
  const found = (await readSettings(endpoint.path, endpoint.section))?.get(endpoint.name);
  if (found !== endpoint.of(wanted)) {
    if (force) return null;
    const hint = 'choose another --name or --file, or replace them with --force';
    throw usageFailure(`${credentials.path} already has settings with that name for ${found ?? 'another store'}`, hint);
  }
  const secretName = credentials.entries.find(([name]) => name.includes('secret'))?.[0] ?? '';
  const secretAccessKey = there.get(secretName);
  return secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey };
}

function asksForKey({
  label,
  permission,
  bucket,
  expires,
}: { [Name in keyof KeyFlags]: KeyFlags[Name] | undefined }): boolean {
  return [label, permission, bucket, expires].some((flag) => flag !== undefined);
}

async function isAlive({ store }: Connection, accessKeyId: string, signal: AbortSignal): Promise<boolean> {
  const key = (await store.keys.list({ signal })).find((each) => each.accessKeyId === accessKeyId);
  if (key === undefined) return false;
  return key.expires_at === null || Date.parse(key.expires_at) > Date.now();
}

async function makeKey(
  { environment, connect, signal }: Session,
  program: ProgramName,
  flags: KeyFlags,
): Promise<StoreAccess> {
  const { store } = await connect();
  const label = `${program} on ${environment.hostname}`.slice(0, 255);
  const made = await store.keys.create(readKeyRequest(flags, Date.now(), label), { signal });
  return { endpoint: made.s3_endpoint, accessKeyId: made.accessKeyId, secretAccessKey: made.secretAccessKey };
}
