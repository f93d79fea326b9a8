import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Sandbox } from '@svc/sdk';
import { skippedTitle, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const ENVIRONMENT = { SVC_SANDBOXES_IMAGE_REGISTRY: '', SVC_SERVICES: 'object-store,sandboxes' };
/** Programs of this machine that the sandbox gets, so that the test needs no image with them. */
const PROGRAMS = [
  '/usr/bin/git',
  '/usr/lib/git-core/git',
  '/usr/lib/git-core/git-upload-pack',
  '/usr/share/git-core/templates',
  '/usr/bin/python3',
  '/usr/lib/python3/dist-packages/pip',
];
const WHEEL = `
import zipfile
with zipfile.ZipFile("/tmp/hello-1-py3-none-any.whl", "w") as wheel:
    wheel.writestr("hello/__init__.py", "def f(): return 42\\n")
    wheel.writestr("hello-1.dist-info/METADATA", "Metadata-Version: 2.1\\nName: hello\\nVersion: 1\\n")
    wheel.writestr("hello-1.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: t\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("hello-1.dist-info/RECORD", "hello/__init__.py,,\\nhello-1.dist-info/METADATA,,\\nhello-1.dist-info/WHEEL,,\\nhello-1.dist-info/RECORD,,\\n")
`;

const missing = PROGRAMS.filter((file) => !existsSync(file));
const reason =
  process.getuid?.() !== 0 || !existsSync('/dev/fuse')
    ? 'needs root and /dev/fuse'
    : missing.length > 0
      ? `needs git, python3 and pip; install them with: apt-get install -y git python3-pip (${missing.join(', ')})`
      : null;
const title = 'programs that work in a mounted bucket';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let sandbox: Sandbox;

  beforeAll(async () => {
    folder = await temporaryFolder();
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment: ENVIRONMENT });
    const { ready } = platform;
    await apiClient(ready).post(`/api/v1/workspace/${ready.workspace_uuid}/object-store/buckets`, { name: 'work' });
    const { sandboxes } = createClient({ baseUrl: ready.url, credential: { kind: 'token', token: ready.token } });
    const mounts = [{ bucket: 'work', path: '/data' }];
    sandbox = await sandboxes.create({ image: 'busybox', resources: { disk_mb: 1024 }, mounts }, { waitMs: 120_000 });
    const unpacked = await fetch(`${ready.url}/api/sandboxes/${sandbox.id}/files/archive?path=/`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ready.token}`, 'content-type': 'application/x-tar' },
      body: readFileSync(packPrograms(join(folder.path, 'programs.tar'))),
    });
    expect(unpacked.status).toBe(200);
  });
  afterAll(async () => {
    await sandbox.delete();
    await platform.stop();
    await folder.remove();
  });

  const shell = async (command: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await sandbox.run(
      `export HOME=/root PATH=$PATH:/usr/lib/git-core; ${command}`,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    return stdout;
  };

  it('clones a repository, whose objects are whole, and changes, packs and checks it out', async () => {
    await shell('git config --global user.name a && git config --global user.email a@example.org');
    await shell('git config --global init.defaultBranch main && git init -q /root/source');
    await shell(
      'cd /root/source && mkdir d && for i in $(seq 100); do echo $i > d/$i; done && ln -s d/1 l && chmod +x d/2',
    );
    await shell('cd /root/source && git add -A && git commit -qm first && git clone -q --no-local . /data/clone');
    expect(await shell('cd /data/clone && git status --short && git fsck --full && stat -c %a d/2 && cat l')).toBe(
      '755\n1\n',
    );
    await shell('cd /data/clone && echo new >> d/3 && git commit -qam second && git gc -q');
    expect(await shell('cd /data/clone && git fsck --full && git log --format=%s && cat d/3')).toBe(
      'second\nfirst\n3\nnew\n',
    );
    expect(await shell('cd /data/clone && git checkout -q HEAD~1 && cat d/3 && ls d | wc -l')).toBe('3\n100\n');
  });

  it('installs a package, which can be imported', async () => {
    await shell(`cat > /tmp/wheel.py <<'END'\n${WHEEL}\nEND\npython3 /tmp/wheel.py`);
    const flags = '-q --no-index --no-deps --no-warn-script-location --root-user-action=ignore';
    await shell(`python3 -m pip install ${flags} --target /data/site /tmp/hello-1-py3-none-any.whl`);
    expect(await shell('PYTHONPATH=/data/site python3 -c "import hello; print(hello.f(), hello.__file__)"')).toBe(
      '42 /data/site/hello/__init__.py\n',
    );
    expect(await shell('ls /data/site/hello/__pycache__ | wc -l')).toBe('1\n');
  });
});

/** Packs the programs with the libraries that they load. */
function packPrograms(file: string): string {
  const run = (command: string): string => execFileSync('sh', ['-c', command], { cwd: '/', encoding: 'utf8' });
  const libraries = run('ldd /usr/bin/git /usr/bin/python3 | grep -o "/[^ ]*" | grep -v ":$" | sort -u').trim();
  const standard = run('/usr/bin/python3 -c "import sysconfig; print(sysconfig.get_path(\'stdlib\'))"').trim();
  const paths = [...libraries.split('\n'), ...PROGRAMS, standard].map((path) => path.slice(1));
  const skipped = ['*/test', '*/__pycache__', '*/idlelib', '*/ensurepip'].map((each) => `--exclude=${each}`);
  execFileSync('tar', ['-chf', file, ...skipped, ...paths], { cwd: '/' });
  return file;
}
