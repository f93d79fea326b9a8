import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { runCommand } from '@svc/test/commands';
import { startDocker } from '@svc/test/docker';
import { PROMPT, type Subject } from './subject.ts';

const IMAGE = 'bench:latest';

/**
 * `docker run` as a user types it, on a separate daemon with a bridge and overlayfs, and with the image already loaded.
 */
export async function startDockerSubject(rootFolder: string): Promise<Subject> {
  const docker = await startDocker();
  const host = `unix://${docker.socket}`;
  const environment = { PATH: process.env['PATH'], HOME: '/nonexistent', DOCKER_HOST: host };
  try {
    await docker.importImage(IMAGE, rootFolder);
  } catch (error) {
    await docker.stop();
    throw error;
  }
  const removeAll = async (): Promise<void> => {
    const { stdout: listed } = await runCommand('docker', ['-H', host, 'ps', '-aq']);
    const ids = listed.split('\n').filter((id) => id !== '');
    if (ids.length > 0) await runCommand('docker', ['-H', host, 'rm', '-f', ...ids]);
  };
  return {
    name: 'docker run',
    async create() {
      const begunMs = performance.now();
      await runCommand('docker', ['-H', host, 'run', '-d', IMAGE, 'sleep', '100000']);
      const runningMs = performance.now() - begunMs;
      // A separate run, since a run with a terminal is only observable by its prompt.
      const promptMs = await promptOf(environment);
      return { runningMs, promptMs };
    },
    settle: removeAll,
    async stop() {
      await removeAll().catch(() => undefined); // reported by the measurement
      await docker.stop();
    },
  };
}

/** `docker run -it` requires a terminal, which script(1) provides. */
async function promptOf(environment: NodeJS.ProcessEnv): Promise<number> {
  const begunMs = performance.now();
  const command = `docker run -it --rm ${IMAGE} sh -c 'if command -v bash >/dev/null; then exec bash -il; else exec sh -il; fi'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const gone = once(child, 'exit');
  let shown = '';
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (PROMPT.test(shown)) resolve(performance.now() - begunMs);
  });
  void gone.then(() => reject(new Error(`docker run ended: ${shown}`)));
  try {
    return await promise;
  } finally {
    child.stdin.end('exit\n');
    await gone;
  }
}
