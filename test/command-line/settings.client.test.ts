import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTree, readTree, type Tree } from '../clients/tree.ts';
import { runProgram } from '../system/run-program.ts';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface Configured {
  accessKeyId: string;
  kept_key: boolean;
  files: string[];
}

describe('svc s3 settings in real clients', () => {
  let store: CommandStore;
  let svc: CommandLine;
  let source: string;
  let tree: Tree;
  beforeAll(async () => {
    store = await startCommandStore();
    svc = store.svc;
    await svc.answer(['bucket', 'create', 'configured']);
    source = join(store.folder, 'source');
    tree = await makeTree(source);
  });
  afterAll(async () => store[Symbol.asyncDispose]());

  const configure = async (...args: string[]): Promise<Configured> => {
    const configured = await svc.json<Configured>(['s3', 'configure', ...args]);
    for (const path of configured.files) expect((await stat(path)).mode & 0o777).toBe(0o600);
    return configured;
  };
  const program = (name: string, ...args: string[]): Promise<string> =>
    runProgram(name, args, { environment: { HOME: store.home, LC_ALL: 'C.UTF-8', AWS_EC2_METADATA_DISABLED: 'true' } });

  it('keeps the key on the next run, and creates another one when a flag asks for it', async () => {
    const first = await configure('rclone', '--name', 'again');
    expect(first.kept_key).toBe(false);
    expect(await configure('rclone', '--name', 'again')).toEqual({ ...first, kept_key: true });
    const other = await configure('rclone', '--name', 'again', '--permission', 'read');
    expect([other.kept_key, other.accessKeyId === first.accessKeyId]).toEqual([false, false]);
    await svc.answer(['key', 'rm', other.accessKeyId]);
    expect(await configure('rclone', '--name', 'again')).toMatchObject({ kept_key: false });
  });

  it('keeps unrelated settings, and replaces those of another store only with --force', async () => {
    const path = join(store.folder, 'rclone.conf');
    const before = '# mine\n[other]\ntype = s3\nendpoint = https://elsewhere.example\naccess_key_id = x\n';
    await writeFile(path, before, { mode: 0o644 });
    await configure('rclone', '--file', path);
    expect((await readFile(path, 'utf8')).startsWith(before)).toBe(true);
    const taken = await svc.run(['s3', 'configure', 'rclone', '--file', path, '--name', 'other']);
    expect([taken.exitCode, taken.stderr]).toEqual([2, expect.stringContaining('https://elsewhere.example')]);
    expect(await readFile(path, 'utf8')).toContain('https://elsewhere.example');
    await configure('rclone', '--file', path, '--name', 'other', '--force');
    expect(await readFile(path, 'utf8')).not.toContain('https://elsewhere.example');
  });

  it('prints variables for each shell, with the key of svc object', async () => {
    const variables = await svc.json<Record<string, string>>(['s3', 'env', '--bucket', 'configured']);
    expect(variables).toMatchObject({ AWS_REGION: 'auto', AWS_ENDPOINT_URL_S3: store.platform.ready.s3_endpoint });
    const script = `eval "$1"; printf '%s' "$AWS_SECRET_ACCESS_KEY $RESTIC_REPOSITORY"`;
    const lines = await svc.answer(['s3', 'env', '--bucket', 'configured']);
    const { AWS_SECRET_ACCESS_KEY: secret = '', RESTIC_REPOSITORY: repository = '' } = variables;
    expect(await runProgram('sh', ['-c', script, 'sh', lines])).toBe(`${secret} ${repository}`);
    expect(await svc.answer(['s3', 'env', '--shell', 'fish'])).toContain(`set -gx AWS_SECRET_ACCESS_KEY '${secret}'`);
    expect(await svc.run(['s3', 'env', '--shell', 'tcsh'])).toMatchObject({ exitCode: 2 });
  });

  describeRequiring(['command:aws'], 'aws', () => {
    it('syncs a tree both ways, alongside an existing profile of the user', async () => {
      await mkdir(join(store.home, '.aws'), { recursive: true });
      const own = '[default]\nregion = eu-west-1\n';
      await writeFile(join(store.home, '.aws', 'config'), own);
      await configure('aws');
      expect((await readFile(join(store.home, '.aws', 'config'), 'utf8')).startsWith(own)).toBe(true);
      // Before 2.13 the aws command supports no endpoint in its settings.
      const [, major = 0, minor = 0] =
        /aws-cli\/(\d+)\.(\d+)/.exec(await program('aws', '--version'))?.map(Number) ?? [];
      const knowsEndpoint = major === 1 ? minor >= 29 : minor >= 13;
      const endpoint = knowsEndpoint ? [] : ['--endpoint-url', store.platform.ready.s3_endpoint];
      const aws = (...args: string[]) => program('aws', '--profile', 'svc', ...endpoint, 's3', ...args);
      await aws('sync', '--no-progress', source, 's3://configured/aws');
      const target = join(store.folder, 'by aws');
      await aws('sync', '--no-progress', 's3://configured/aws', target);
      expect(await readTree(target)).toEqual(tree);
    });
  });

  describeRequiring(['command:rclone'], 'rclone', () => {
    it('syncs and checks a tree, with its settings file and with variables', async () => {
      await configure('rclone');
      await program('rclone', 'sync', source, 'svc:configured/rclone');
      await program('rclone', 'check', '--download', source, 'svc:configured/rclone');
      const environment = { ...(await svc.json<Record<string, string>>(['s3', 'env'])), RCLONE_CONFIG: '/dev/null' };
      const listed = await runProgram('rclone', ['lsf', '-R', '--files-only', 'svc:configured/rclone'], {
        environment,
      });
      expect(listed.trim().split('\n').toSorted()).toEqual(Object.keys(tree).toSorted());
    });
  });

  describeRequiring(['command:s3cmd'], 's3cmd', () => {
    it('syncs a tree both ways', async () => {
      await configure('s3cmd');
      await program('s3cmd', '--no-progress', 'sync', `${source}/`, 's3://configured/s3cmd/');
      const target = join(store.folder, 'by s3cmd');
      await mkdir(target);
      await program('s3cmd', '--no-progress', 'sync', 's3://configured/s3cmd/', `${target}/`);
      expect(await readTree(target)).toEqual(tree);
    });
  });

  describeRequiring(['command:restic'], 'restic', () => {
    it('backs up a tree, and checks and restores it with a key limited to that bucket', async () => {
      const { files, accessKeyId } = await configure('restic', '--bucket', 'configured', '--folder', 'backups');
      const keys = await svc.json<{ accessKeyId: string; buckets: string[] }[]>(['key', 'ls']);
      expect(keys.find((key) => key.accessKeyId === accessKeyId)?.buckets).toEqual(['configured']);
      const environment = { HOME: store.home, RESTIC_PASSWORD: 'a password of the backup' };
      const restic = (...args: string[]) =>
        runProgram('sh', ['-c', '. "$0" && restic --no-cache "$@"', files[0] ?? '', ...args], { environment });
      await restic('init');
      await restic('backup', source);
      expect(await restic('check', '--read-data')).toContain('no errors were found');
      const target = join(store.folder, 'by restic');
      await restic('restore', 'latest', '--target', target);
      expect(await readTree(join(target, source))).toEqual(tree);
    });
  });
});
