import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex } from 'node:stream';
import { HELPER_PATH } from '../oci-config.ts';

/**
 * A byte stream to the helper of a gVisor sandbox: the standard streams of a program that `runsc` starts inside. The
 * stream ends when either side does. `stateFolder` is where runsc keeps the state of its sandboxes.
 */
export function runscStream(runsc: string, stateFolder: string, id: string): Duplex {
  const argv = ['--root', stateFolder, 'exec', '--user', '0:0', id, HELPER_PATH, 'bridge'];
  const child: ChildProcessWithoutNullStreams = spawn(runsc, argv, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // so that Ctrl-C does not end it before the platform
  });
  child.stderr.resume();
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  stream.once('close', () => {
    child.stdin.destroy();
    child.stdout.destroy();
    child.kill('SIGKILL');
  });
  child.once('error', (error) => stream.destroy(error));
  child.once('close', () => stream.destroy());
  return stream;
}
