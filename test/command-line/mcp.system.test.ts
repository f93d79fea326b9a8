import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface Answer {
  isError: boolean;
  text: string;
  value: Record<string, unknown>;
}

/** Uses the protocol's own client to start `svc mcp`, against a real platform. */
describeRequiring(['linux', 'root'], 'svc mcp', () => {
  let store: CommandStore;
  let client: Client;
  let sandbox: string;

  const connect = async (...flags: string[]): Promise<Client> => {
    const { url, token } = store.platform.ready;
    const env = { PATH: process.env['PATH'] ?? '', HOME: store.home, SANDBOX_URL: url, SANDBOX_TOKEN: token };
    const command = join(PROJECT_ROOT, 'svc');
    const connected = new Client({ name: 'test', version: '1' });
    await connected.connect(new StdioClientTransport({ command, args: ['mcp', ...flags], env, cwd: store.folder }));
    return connected;
  };
  const call = async (name: string, input: Record<string, unknown>, by = client): Promise<Answer> => {
    const { isError = false, content, structuredContent } = await by.callTool({ name, arguments: input });
    const [first] = content;
    const text = first?.type === 'text' ? first.text : '';
    return { isError, text, value: (structuredContent ?? {}) as Record<string, unknown> }; // each test names its fields
  };

  beforeAll(async () => {
    store = await startCommandStore();
    client = await connect('--folder', store.folder);
    const { value } = await call('create_sandbox', { image: 'busybox', environment: { COLOR: 'blue' } });
    expect(value).toMatchObject({ status: 'running', image: 'busybox' });
    sandbox = String(value['id']);
  });
  afterAll(async () => {
    await client.close();
    await store.svc.run(['sandbox', 'rm', '--all']);
    await store[Symbol.asyncDispose]();
  });

  it('describes each tool and its arguments', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'create_sandbox',
      'create_snapshot',
      'delete_file',
      'delete_sandbox',
      'download_file',
      'list_files',
      'list_images',
      'list_sandboxes',
      'preview_url',
      'read_file',
      'run_command',
      'start_sandbox',
      'stop_sandbox',
      'upload_file',
      'write_file',
    ]);
    expect(tools.filter(({ description = '' }) => description.length < 20)).toEqual([]);
    const run = tools.find(({ name }) => name === 'run_command');
    expect(run?.inputSchema.required).toEqual(['sandbox', 'command']);
    expect(client.getInstructions()).toContain('delete_sandbox when it is no longer needed');
  });

  it('runs commands with both outputs, the exit code, a folder, variables and stdin', async () => {
    const { value } = await call('run_command', {
      sandbox,
      command: 'cat; echo "$COLOR $SHAPE"; pwd >&2; exit 4',
      cwd: '/tmp',
      environment: { SHAPE: 'round' },
      stdin: 'typed ',
    });
    expect(value).toMatchObject({ exit_code: 4, stdout: 'typed blue round\n', stderr: '/tmp\n' });
    expect((await call('run_command', { sandbox, command: ['echo', '$COLOR'] })).value).toMatchObject({
      stdout: '$COLOR\n',
    });
    expect((await call('run_command', { sandbox, command: 'sleep 600', timeout_seconds: 1 })).value).toMatchObject({
      timed_out: true,
      note: expect.stringContaining('killed'),
    });
  });

  it('truncates output and reports how much', async () => {
    const { text, value } = await call('run_command', { sandbox, command: 'seq 1 1000000', max_output_bytes: 2048 });
    expect(value).toMatchObject({ truncated: true, hint: expect.stringContaining('file') });
    expect(value['stdout']).toMatch(/^1\n2\n.*\n\[\d+ bytes omitted\]\n.*\n1000000\n$/s);
    expect(text.length).toBeLessThan(5_000);
  });

  it('reports the progress of a command and ends it when the client cancels', async () => {
    const told: string[] = [];
    const stop = new AbortController();
    const command = { name: 'run_command', arguments: { sandbox, command: 'echo working; exec sleep 601' } };
    const running = client.callTool(command, {
      signal: stop.signal,
      onprogress: ({ message = '' }) => {
        told.push(message);
        stop.abort();
      },
    });
    await expect(running).rejects.toThrow();
    expect(told).toEqual(['working']);
    const isGone = async (): Promise<boolean> =>
      !String((await call('run_command', { sandbox, command: ['ps'] })).value['stdout']).includes('sleep 601');
    await expect.poll(isGone).toBe(true);
  });

  it('writes, lists and reads files: in ranges, and in base64 unless they are text', async () => {
    expect(
      (await call('write_file', { sandbox, path: '/srv/a/text', content: 'grün\n', mode: '0600' })).value,
    ).toMatchObject({ size: 6, created: true });
    await call('write_file', { sandbox, path: '/srv/a/bytes', content: 'AP8=', encoding: 'base64' });
    expect((await call('list_files', { sandbox, path: '/srv/a' })).value).toMatchObject({
      entries: [
        { name: 'bytes', size: 2 },
        { name: 'text', type: 'file', mode: '-rw-------' },
      ],
    });
    expect((await call('read_file', { sandbox, path: '/srv/a/bytes' })).value).toMatchObject({
      encoding: 'base64',
      content: 'AP8=',
    });
    // The piece ends in the middle of a character.
    expect((await call('read_file', { sandbox, path: '/srv/a/text', max_bytes: 3 })).value).toMatchObject({
      encoding: 'utf-8',
      content: 'gr',
      note: '4 more bytes; continue with offset 2.',
    });
    expect((await call('read_file', { sandbox, path: '/srv/a/text', offset: 2 })).value).toMatchObject({
      content: 'ün\n',
    });
    expect((await call('list_files', { sandbox, path: '/bin', limit: 3 })).value).toMatchObject({
      note: 'Only the first 3 are listed.',
    });
    expect((await call('delete_file', { sandbox, path: '/srv/a' })).value).toMatchObject({ deleted: true });
  });

  it('moves files between this machine and a sandbox, only inside the allowed folder', async () => {
    const bytes = Buffer.alloc(3_000_000, 'upload');
    await writeFile(join(store.folder, 'here'), bytes);
    expect((await call('upload_file', { sandbox, local_path: 'here', path: '/root/there' })).value).toMatchObject({
      size: bytes.length,
    });
    await call('download_file', { sandbox, path: '/root/there', local_path: 'back' });
    expect((await readFile(join(store.folder, 'back'))).equals(bytes)).toBe(true);
    expect(await call('upload_file', { sandbox, local_path: '/etc/passwd', path: '/root/x' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('outside the folder'),
    });
  });

  it('answers mistakes with a remedy', async () => {
    expect(await call('create_sandbox', { image: 'no-such-image' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('Unknown image'),
    });
    expect(await call('create_sandbox', {})).toMatchObject({
      isError: true,
      text: expect.stringContaining('list_images'),
    });
    expect(await call('run_command', { sandbox: 'nobody', command: 'true' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('sandbox nobody not found'),
    });
    expect(await call('read_file', { sandbox, path: '/none' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('No such file'),
    });
    expect(await call('run_command', { sandbox, command: [] })).toMatchObject({ isError: true });
  });

  it('stops, starts and deletes, and exposes nothing of this machine by default', async () => {
    const other = await connect('--ephemeral');
    const { tools } = await other.listTools();
    expect(tools.filter(({ name }) => name.endsWith('load_file'))).toEqual([]);
    const made = await call('create_sandbox', { image: 'busybox', name: 'passing' }, other);
    expect((await call('stop_sandbox', { sandbox: 'passing' }, other)).value).toMatchObject({ status: 'stopped' });
    expect((await call('start_sandbox', { sandbox: 'passing' }, other)).value).toMatchObject({ status: 'running' });
    await call('create_sandbox', { image: 'busybox', name: 'gone' }, other);
    expect((await call('delete_sandbox', { sandbox: 'gone' }, other)).value).toMatchObject({ deleted: true });
    await other.close();
    // An ephemeral session deletes the sandboxes it created.
    const { text } = await call('list_sandboxes', {});
    expect(text).toContain(sandbox);
    const left = async (): Promise<string> => (await call('list_sandboxes', {})).text;
    await expect.poll(left).not.toContain(String(made.value['id']));
  });
});
