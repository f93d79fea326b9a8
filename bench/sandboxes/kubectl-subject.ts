import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { runCommand } from '@svc/test/commands';
import { PROMPT, type Subject } from './subject.ts';
import type { BenchCluster } from './svc-subject.ts';

/** What kubectl prints once it is attached: a prompt that the shell showed before is lost, so people press Enter. */
const ATTACHED = 'try pressing enter';
const PULL = '--image-pull-policy=IfNotPresent';

/** `kubectl run` as a user types it, in the same namespace and with the same image. */
export function kubectlSubject(kubectl: string, { kubeconfig, namespace, image }: BenchCluster): Subject {
  const environment = { ...process.env, KUBECONFIG: kubeconfig, NO_PROXY: '*', no_proxy: '*' };
  const run = (...args: string[]): Promise<unknown> =>
    runCommand(kubectl, ['--namespace', namespace, ...args], { env: environment });
  let made = 0;
  return {
    name: 'kubectl run',
    async create() {
      const begunMs = performance.now();
      const name = `bench-${process.pid}-${(made += 1)}`;
      await run('run', name, `--image=${image}`, PULL, '--labels=svc-bench=yes', '--', 'sleep', '100000');
      await run('wait', '--for=condition=Ready', '--timeout=60s', `pod/${name}`);
      const runningMs = performance.now() - begunMs;
      // A separate run, since a run with a terminal is only observable by its prompt.
      const options = `--namespace ${namespace} --image=${image} ${PULL} --labels=svc-bench=yes --restart=Never`;
      const command = `${kubectl} run ${name}-it -it ${options} --command -- sh -il`;
      return { runningMs, promptMs: await promptOf(command, environment) };
    },
    settle: async () => {
      await run('delete', 'pods', '--selector=svc-bench=yes', '--now', '--wait=true');
    },
    stop: async () => {
      await run('delete', 'pods', '--selector=svc-bench=yes', '--now', '--wait=true').catch(() => undefined); // reported before
    },
  };
}

/** `kubectl run -it` requires a terminal, which script(1) provides. */
async function promptOf(command: string, environment: NodeJS.ProcessEnv): Promise<number> {
  const begunMs = performance.now();
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const gone = once(child, 'exit');
  let shown = '';
  let hasTyped = false;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (PROMPT.test(shown)) resolve(performance.now() - begunMs);
    if (hasTyped || !shown.includes(ATTACHED)) return;
    hasTyped = true;
    child.stdin.write('\n');
  });
  void gone.then(() => reject(new Error(`kubectl run ended: ${shown}`)));
  try {
    return await promise;
  } finally {
    child.stdin.end('exit\n');
    await gone;
  }
}
