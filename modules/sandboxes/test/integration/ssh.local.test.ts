import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { collectStream, requirement, skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { SshClient } from '../support/ssh-client.ts';

const reason =
  localDriverReason() ?? requirement('command:ssh', 'command:sftp', 'command:scp', 'command:rsync', 'command:script');
const title = 'SSH to a real sandbox';

/** Many times more than all buffers on the way hold. */
const FLOOD_BYTES = 150_000_000;
const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Answers one request after the other; Perl is part of every Debian image. */
const HTTP_PROGRAM = `
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 5, ReuseAddr => 1) or die;
print "ready\\n"; $| = 1; close STDOUT;
while (my $client = $server->accept) {
  while (<$client>) { last if /^\\r?$/ }
  print $client "HTTP/1.0 200 OK\\r\\n\\r\\n" . ("x" x 1000000); close $client;
}`;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let ssh: SshClient;
  let id: string;

  beforeAll(async () => {
    platform = await startPlatform({ config: { ssh: { port: 0, max_connections: 100 } } });
    const body = { image: 'debian', name: 'dev', environment: { COLOR: 'blue' } };
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
    ssh = await SshClient.create(platform);
  });
  afterAll(async () => {
    await ssh.dispose();
    await platform.dispose();
  });

  const run = (script: string, input?: Buffer) => ssh.run(id, [script], input === undefined ? {} : { input });
  const sftp = async (batch: readonly string[]) => {
    await writeFile(join(ssh.folder, 'batch'), `${batch.join('\n')}\n`);
    // A batch turns password prompts off, unless told otherwise.
    const args = ['-F', 'none', ...ssh.options, '-o', 'BatchMode=no', '-b', 'batch', `${id}@127.0.0.1`];
    const { child, result } = ssh.start('sftp', args);
    child.stdin.end();
    return await result;
  };
  const scp = async (...args: string[]) => {
    const { child, result } = ssh.start('scp', ['-F', 'none', ...ssh.options, ...args]);
    child.stdin.end();
    return await result;
  };

  describe('a command', () => {
    it('has two outputs, an exit code, and the environment of the sandbox', async () => {
      const { code, stdout, stderr } = await run('echo out $COLOR; echo err >&2; exit 3');
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 3, stdout: 'out blue\n', stderr: 'err\n' });
    });

    it('passes input and output unchanged, and ends with its input', async () => {
      const input = randomBytes(8 * 1024 * 1024);
      const { code, stdout } = await run('cat', input);
      expect([code, hash(stdout)]).toEqual([0, hash(input)]);
    });

    it('passes all input to a program that reads it slowly', async () => {
      const input = randomBytes(600_000); // more than may be on its way to the program
      const script = `perl -e 'while (sysread STDIN, $part, 8192) { print $part; select undef, undef, undef, 0.01 }'`;
      const { code, stdout } = await run(script, input);
      expect([code, stdout.length, hash(stdout)]).toEqual([0, input.length, hash(input)]);
    });

    it('keeps both outputs complete when both fill the window', async () => {
      const bytes = 6_000_000;
      const script = `head -c ${bytes} /dev/zero >&2 & head -c ${bytes} /dev/zero | tr '\\0' x; wait`;
      const { code, stdout, stderr } = await run(script);
      expect([code, stdout.length, stderr.length]).toEqual([0, bytes, bytes]);
      expect(stdout.every((byte) => byte === 120)).toBe(true);
      expect(/^\0+$/.test(stderr)).toBe(true);
    });

    it('reports the signal that ended it', async () => {
      const { child, result } = ssh.open(id, ['-v', 'kill -TERM $$']);
      child.stdin.end();
      const { code, stderr } = await result;
      expect(code).toBe(255);
      expect(stderr).toContain('exit-signal');
    });

    it('ends when its client is gone', async () => {
      const { child } = ssh.open(id, ['echo $$; exec sleep 1000']);
      const [first] = (await once(child.stdout, 'data')) as [Buffer];
      child.kill('SIGKILL');
      await waitFor(async () => (await run(`kill -0 ${first.toString().trim()}`)).code !== 0);
    });

    it('takes variables that the client sends', async () => {
      expect((await ssh.run(id, ['-oSetEnv=GREETING=hello', 'echo $GREETING'])).stdout.toString()).toBe('hello\n');
    });
  });

  it('holds a flood back for a client that does not read, without buffering it', async () => {
    const { child } = ssh.open(id, [`head -c ${FLOOD_BYTES} /dev/zero; echo done >&2`]);
    child.stdout.pause();
    child.stdout.removeAllListeners();
    await once(child.stdout, 'readable');
    const before = process.memoryUsage.rss();
    // Other sessions go on meanwhile.
    for (let round = 0; round < 5; round += 1) expect((await run('echo $((6*7))')).stdout.toString()).toBe('42\n');
    expect(process.memoryUsage.rss() - before).toBeLessThan(96 * 1024 * 1024);
    child.kill('SIGKILL');
  });

  describe('a terminal', () => {
    it('has the size of the window, follows it, and passes keys on', async () => {
      const args = ['-F', 'none', ...ssh.options, '-tt', `${id}@127.0.0.1`].map((each) => `'${each}'`).join(' ');
      const script = `tty; stty rows 31 cols 97; exec env TERM=vt220 ssh ${args}`;
      const { child, result } = ssh.start('script', ['-qec', script, '/dev/null']);
      const shown: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => shown.push(chunk));
      const shows = (pattern: RegExp): Promise<RegExpExecArray> =>
        waitFor(() => pattern.exec(Buffer.concat(shown).toString()));
      const [tty] = await shows(/\/dev\/pts\/\d+/);
      await shows(/# $/);
      child.stdin.write('stty size; echo "$TERM"\n');
      await shows(/31 97\r\nvt220\r\n/);
      execFileSync('stty', ['-F', tty, 'rows', '42', 'cols', '111']);
      await waitFor(() => {
        child.stdin.write('stty size\n');
        return Buffer.concat(shown).toString().includes('42 111');
      });
      child.stdin.write('sleep 1000\n');
      await shows(/sleep 1000/);
      await waitFor(() => {
        child.stdin.write("\u0003echo co''de $?\n");
        return Buffer.concat(shown).toString().includes('code 130');
      });
      child.stdin.write('exit 5\n');
      expect((await result).code).toBe(5);
    });

    it('of a command has a terminal, too', async () => {
      const { child, result } = ssh.open(id, ['-tt', 'test -t 0 && test -t 1 && echo terminal']);
      child.stdin.end();
      expect((await result).stdout.toString()).toContain('terminal\r\n');
    });

    it('without one, a shell reads its input', async () => {
      const { code, stdout } = await ssh.run(id, ['-T'], { input: 'echo one\ncd /etc && pwd\nexit 6\n' });
      expect({ code, stdout: stdout.toString() }).toEqual({ code: 6, stdout: 'one\n/etc\n' });
    });
  });

  describe('files', () => {
    it('are moved by sftp, with modes and times', async () => {
      const content = randomBytes(5 * 1024 * 1024 + 7);
      await writeFile(join(ssh.folder, 'put'), content, { mode: 0o640 });
      const done = await sftp([
        'mkdir files',
        'cd files',
        'put -p put first',
        'rename first second',
        'symlink second link',
        'get link got',
        'chmod 600 second',
        'ls -l',
        'df .',
      ]);
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.stdout.toString()).toMatch(/-rw------- .* second/);
      expect(hash(await readFile(join(ssh.folder, 'got')))).toBe(hash(content));
      expect((await run('stat -c "%a %s" files/second; readlink files/link')).stdout.toString()).toBe(
        `600 ${content.length}\nsecond\n`,
      );
      expect(await sftp(['get files/absent'])).toMatchObject({ code: 1 });
      expect(await sftp(['rm files/*', 'rmdir files'])).toMatchObject({ code: 0 });
      expect((await run('ls -d files')).code).not.toBe(0);
    });

    it('are resumed by sftp', async () => {
      const content = randomBytes(400_000);
      await writeFile(join(ssh.folder, 'half'), content);
      await run('cat > half', content.subarray(0, 100_000));
      expect(await sftp(['reput half half'])).toMatchObject({ code: 0 });
      expect((await run('sha256sum half')).stdout.toString()).toContain(hash(content));
    });

    it('are copied by scp, folders too', async () => {
      await mkdir(join(ssh.folder, 'tree/deep'), { recursive: true });
      const content = randomBytes(1_000_000);
      await writeFile(join(ssh.folder, 'tree/deep/file'), content);
      expect(await scp('-r', 'tree', `${id}@127.0.0.1:`)).toMatchObject({ code: 0, stderr: '' });
      expect((await run('sha256sum tree/deep/file')).stdout.toString()).toContain(hash(content));
      expect(await scp('-r', `${id}@127.0.0.1:tree`, 'back')).toMatchObject({ code: 0, stderr: '' });
      expect(hash(await readFile(join(ssh.folder, 'back/deep/file')))).toBe(hash(content));
    });

    it('are synchronized by rsync, where the image has it', async () => {
      // The image is of the same suite as this machine, so its programs run there.
      const program = execFileSync('sh', ['-c', 'command -v rsync']).toString().trim();
      const libraries = [
        ...execFileSync('ldd', [program])
          .toString()
          .matchAll(/=> (\/\S+)/g),
      ].map((found) => found[1]);
      await run('mkdir -p /opt/rsync');
      const files = [program, ...libraries.filter((each) => each !== undefined)];
      expect(await scp(...files, `${id}@127.0.0.1:/opt/rsync/`)).toMatchObject({ code: 0 });
      await mkdir(join(ssh.folder, 'sync'), { recursive: true });
      const content = randomBytes(2_000_000);
      await writeFile(join(ssh.folder, 'sync/data'), content, { mode: 0o600 });
      const shell = ['ssh', '-F', 'none', ...ssh.options].join(' ');
      const there = 'env LD_LIBRARY_PATH=/opt/rsync /opt/rsync/rsync';
      const sync = async (...args: string[]) => {
        const { child, result } = ssh.start('rsync', ['-a', '-e', shell, `--rsync-path=${there}`, ...args]);
        child.stdin.end();
        return await result;
      };
      expect(await sync('sync/', `${id}@127.0.0.1:/srv/sync/`)).toMatchObject({ code: 0, stderr: '' });
      expect((await run('stat -c "%a %s" /srv/sync/data')).stdout.toString()).toBe('600 2000000\n');
      content.fill(1, 1000, 2000);
      await writeFile(join(ssh.folder, 'sync/data'), content);
      expect(await sync('--checksum', 'sync/', `${id}@127.0.0.1:/srv/sync/`)).toMatchObject({ code: 0, stderr: '' });
      expect(await sync(`${id}@127.0.0.1:/srv/sync/`, 'mirror/')).toMatchObject({ code: 0, stderr: '' });
      expect(hash(await readFile(join(ssh.folder, 'mirror/data')))).toBe(hash(content));
      expect((await stat(join(ssh.folder, 'mirror/data'))).mode & 0o777).toBe(0o600);
    });
  });

  describe('a forwarded port', () => {
    it('reaches a program on the loopback of the sandbox', async () => {
      const server = ssh.open(id, [`perl -e '${HTTP_PROGRAM.replaceAll("'", `'\\''`)}'`]);
      await once(server.child.stdout, 'data');
      for (const host of ['127.0.0.1', 'localhost']) {
        const { stdout } = await ssh.run(id, [`-W${host}:8080`], { input: 'GET / HTTP/1.0\r\n\r\n' });
        expect(stdout.toString()).toMatch(/^HTTP\/1\.0 200 OK\r\n\r\nx{1000000}$/);
      }
      server.child.kill('SIGKILL');
    });

    it('is refused where nothing listens', async () => {
      expect(await ssh.run(id, ['-W127.0.0.1:9'])).toMatchObject({
        code: 255,
        stderr: expect.stringContaining('stdio forwarding failed'),
      });
    });
  });

  /** What VS Code Remote and JetBrains Gateway do: upload a server, start it, and talk to it through a forwarded port. */
  it('carries an editor: files, commands and forwarded ports over one connection', async () => {
    const shared = ['-oControlPath=./editor'];
    const master = ssh.open(id, ['-oControlMaster=yes', ...shared, '-N', '-L./editor-port:127.0.0.1:8090']);
    await waitFor(async () => (await ssh.run(id, [...shared, '-Ocheck'])).code === 0);

    await writeFile(join(ssh.folder, 'server.pl'), HTTP_PROGRAM.replace('8080', '8090'));
    await writeFile(join(ssh.folder, 'batch'), 'mkdir .editor\nput server.pl .editor/server.pl\n');
    const upload = ssh.start('sftp', ['-F', 'none', ...shared, '-b', 'batch', `${id}@127.0.0.1`]);
    upload.child.stdin.end();
    expect(await upload.result).toMatchObject({ code: 0 });

    // The server outlives the command that starts it.
    const start = 'setsid perl .editor/server.pl < /dev/null > .editor/log 2>&1 & echo $!';
    const { stdout } = await ssh.run(id, [...shared, start]);
    await waitFor(async () => (await ssh.run(id, [...shared, 'cat .editor/log'])).stdout.toString() === 'ready\n');
    const fetched = Array.from({ length: 4 }, () => fetchOver(join(ssh.folder, 'editor-port')));
    const { code } = await ssh.run(id, [...shared, 'test -d /proc/$$ && exit 5']);
    expect(code).toBe(5);
    expect(await Promise.all(fetched)).toEqual(Array.from({ length: 4 }, () => 1_000_000));

    await ssh.run(id, [...shared, `kill ${stdout.toString().trim()}`]);
    await ssh.run(id, [...shared, '-Oexit']);
    await master.result;
  });

  it('resumes a paused sandbox', async () => {
    expect((await platform.call('POST', `/api/sandboxes/${id}/pause`)).status).toBe(200);
    expect((await run('echo awake')).stdout.toString()).toBe('awake\n');
    expect((await platform.call('POST', `/api/sandboxes/${id}/pause`)).status).toBe(200);
    expect((await sftp(['ls /'])).code).toBe(0);
  });

  it('cuts a client without a right in the middle of a transfer', async () => {
    const caller = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
    const flood = ssh.open(id, ['cat /dev/zero'], { caller });
    flood.child.stdout.removeAllListeners();
    flood.child.stdout.resume();
    await once(flood.child.stdout, 'data');
    platform.access.revoke(caller);
    const [code] = (await once(flood.child, 'exit')) as [number];
    expect(code).toBe(255);
  });
});

/** Number of bytes that the server behind a socket answers. */
async function fetchOver(socketPath: string): Promise<number> {
  const [response] = (await once(get({ socketPath, path: '/', agent: false }), 'response')) as [IncomingMessage];
  return (await collectStream(response)).length;
}
