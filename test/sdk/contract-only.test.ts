import { readdir } from 'node:fs/promises';
import { createClient, type Sandbox, type SandboxClient } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startContractServer, type ContractServer } from './contract-server.ts';

/** Other servers of the sandbox API have only what its contract specifies. */
describeRequiring(['linux', 'command:script'], 'the SDK on a server that implements only the contract', () => {
  let server: ContractServer;
  let client: SandboxClient;
  let sandbox: Sandbox;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-contract-');
    server = await startContractServer();
    client = createClient({ baseUrl: server.url, credential: { kind: 'token', token: server.token } });
    expect(await client.sandboxes.page()).toEqual({ items: [], nextCursor: null, limit: 5 });
    sandbox = await client.sandboxes.create({ image: 'ubuntu', name: 'played' });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder.remove();
  });

  it('polls until the sandbox runs when the server does not support long polling', () => {
    expect(sandbox.status).toBe('running');
    expect(server.seen.filter((line) => line === 'GET /api/containers/c0').length).toBeGreaterThan(1);
  });

  it('runs a command on the raw terminal with separate, byte-exact outputs and the exit code', async () => {
    const result = await sandbox.run('printf "no end"; printf "\\033[31mr\\r\\n" >&2; exit 3');
    expect(result).toMatchObject({
      stdout: 'no end',
      stderr: '\u001b[31mr\r\n',
      exitCode: 3,
      timedOut: false,
      truncated: false,
    });
    expect(await sandbox.run(['echo', "it's", '$HOME', 'a  b'])).toMatchObject({
      stdout: "it's $HOME a  b\n",
      exitCode: 0,
    });
    expect(await sandbox.run(['no-such-program'])).toMatchObject({ exitCode: 127 });
  });

  it('passes input, folder and variables', async () => {
    const options = { cwd: folder.path, env: { WORD: "d'or $x" }, stdin: 'line\n'.repeat(5_000) };
    const { stdout } = await sandbox.run('wc -l | tr -d " "; pwd; echo "$WORD"', options);
    expect(stdout).toBe(`5000\n${folder.path}\nd'or $x\n`);
  });

  it('ignores output that looks like the end of a command, and handles long output', async () => {
    const { stdout, exitCode } = await sandbox.run("printf '\\036%032d:0\\037' 0; seq 1 100000; exit 9");
    expect(exitCode).toBe(9);
    expect(stdout).toContain('\n100000\n');
    const bounded = await sandbox.run('seq 1 100000', { maxOutputBytes: 1000 });
    expect(bounded).toMatchObject({
      truncated: true,
      stdout: expect.stringMatching(/^1\n.*bytes omitted.*\n100000\n$/s),
    });
  });

  it('ends a command at its timeout, even one that ignores Ctrl-C', async () => {
    expect(await sandbox.run('sleep 600', { limitMs: 300 })).toMatchObject({ timedOut: true, exitCode: -1 });
    const deaf = await sandbox.run("trap '' INT; echo deaf; while :; do sleep 0.1; done", { limitMs: 300 });
    expect(deaf).toMatchObject({ timedOut: true, stdout: 'deaf\n' });
  });

  it('runs several commands at once, and leaves nothing behind', async () => {
    const listScripts = async () => (await readdir('/tmp')).filter((name) => name.startsWith('.run-'));
    const before = await listScripts();
    const results = await Promise.all([1, 2, 3].map((number) => sandbox.run(`sleep 0.1; echo ${number}`)));
    expect(results.map(({ stdout }) => stdout)).toEqual(['1\n', '2\n', '3\n']);
    expect(await listScripts()).toEqual(before);
  });

  it('aborts a command with its signal', async () => {
    const stop = new AbortController();
    const running = sandbox.run('sleep 600', { signal: stop.signal });
    setTimeout(() => stop.abort(new Error('enough')), 300);
    await expect(running).rejects.toThrow('enough');
  });

  it('opens a shell on the raw terminal', async () => {
    const terminal = await sandbox.terminal({ cols: 100, rows: 30 });
    let text = '';
    terminal.onData(({ bytes }) => {
      text += new TextDecoder().decode(bytes);
    });
    terminal.resize(90, 20);
    await terminal.write('echo sum$((40+2))\n');
    await expect.poll(() => text).toContain('sum42');
    await terminal.write('exit\n');
    expect(await terminal.ended).toMatchObject({ code: 1000 });
  });

  it('writes, lists, reads and removes files', async () => {
    const path = `${folder.path}/made`;
    expect(await sandbox.files.mkdir(path)).toBe(true);
    for await (const entry of sandbox.files.list(path)) expect.fail(entry.name);
    await sandbox.files.write(`${path}/a`, Uint8Array.of(0, 255, 10));
    const names: string[] = [];
    for await (const { name } of sandbox.files.list(path)) names.push(name);
    expect(names).toEqual(['a']);
    expect(await sandbox.files.readBytes(`${path}/a`)).toEqual(Uint8Array.of(0, 255, 10));
    await sandbox.files.remove(path);
  });

  it('throws errors with a status and a message', async () => {
    await expect(client.sandboxes.get('nobody')).rejects.toMatchObject({ status: 404, message: 'not found' });
    await expect(client.sandboxes.of('nobody').run('true')).rejects.toMatchObject({ status: 404 });
    const stranger = createClient({ baseUrl: server.url, credential: { kind: 'token', token: 'wrong' } });
    await expect(stranger.containers.page()).rejects.toMatchObject({ status: 401, message: 'unauthorized' });
  });
});
