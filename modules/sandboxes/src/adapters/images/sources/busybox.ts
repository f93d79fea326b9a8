import { access, chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../run-tool.ts';

const INSTALLED = ['/bin/busybox', '/usr/bin/busybox'];
const FOLDERS = ['bin', 'dev', 'etc', 'home', 'proc', 'root', 'run', 'sys', 'tmp', 'usr/bin', 'usr/sbin', 'var/tmp'];
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n',
  'etc/group': 'root:x:0:\ntty:x:5:\nnogroup:x:65534:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'etc/os-release': 'ID=busybox\nNAME="BusyBox"\nPRETTY_NAME="BusyBox"\n',
};

/** Builds the smallest useful system: the distribution's static busybox and a link for each of its programs. */
export async function buildFromBusybox(workFolder: string, signal: AbortSignal): Promise<string> {
  const root = join(workFolder, 'rootfs');
  for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true });
  for (const folder of ['tmp', 'var/tmp']) await chmod(join(root, folder), 0o1777);
  await chmod(join(root, 'root'), 0o700);
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(root, name), content, { mode: 0o644 });

  const busybox = join(root, 'bin/busybox');
  await copyFile(await findBusybox(workFolder, signal), busybox);
  await chmod(busybox, 0o755);
  for (const path of (await runTool(busybox, ['--list-full'], { signal })).split('\n')) {
    const name = path.trim().split('/').at(-1) ?? '';
    if (name === '' || name === 'busybox') continue;
    const folder = path.includes('sbin/') ? 'usr/sbin' : 'bin';
    await symlink('/bin/busybox', join(root, folder, name)).catch(ignoreExisting);
  }

  const archive = join(workFolder, 'rootfs.tar');
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  await runTool('tar', ['-C', root, ...fixed, '-cf', archive, '.'], { signal });
  return archive;
}

/** Returns the installed busybox if it is static, else the one extracted from the package, without installing it. */
async function findBusybox(workFolder: string, signal: AbortSignal): Promise<string> {
  for (const path of INSTALLED) {
    if ((await exists(path)) && (await isStatic(path, signal))) return path;
  }
  const folder = join(workFolder, 'package');
  await mkdir(folder);
  await runTool('apt-get', ['download', 'busybox-static'], { signal, cwd: folder });
  await runTool('sh', ['-c', 'dpkg-deb -x busybox-static_*.deb .'], { signal, cwd: folder });
  for (const path of INSTALLED) {
    if (await exists(join(folder, path))) return join(folder, path);
  }
  throw new Error('the package busybox-static holds no busybox');
}

async function isStatic(path: string, signal: AbortSignal): Promise<boolean> {
  // ldd fails on static programs, which is what this detects.
  return runTool('ldd', [path], { signal }).then(
    (output) => output.includes('statically linked'),
    () => true,
  );
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
