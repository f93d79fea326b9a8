import { spawn } from 'node:child_process';
import { ensureBinaries } from './binaries.ts';
import { SHARED_CLUSTER_VARIABLE } from './shared-cluster.ts';
import { startKubernetes } from './start.ts';
import { type Kubernetes } from './shared-cluster.ts';
import { clusterPrograms, ensurePrograms } from './system-packages.ts';

const USAGE = `A real Kubernetes on this machine.
  node test/kubernetes/main.ts build                           packages and programs, cached
  node test/kubernetes/main.ts up [--api-only] [--metrics] [--dir DIR]  runs until Ctrl-C; prints the kubeconfig's path
  node test/kubernetes/main.ts run [--api-only] [--metrics] -- COMMAND     runs COMMAND with KUBECONFIG_UNDER_TEST
  node test/kubernetes/main.ts share [--metrics] -- COMMAND    runs COMMAND, whose test files all use this one cluster
`;

const [verb, ...rest] = process.argv.slice(2);
const separator = rest.indexOf('--');
const flags = separator === -1 ? rest : rest.slice(0, separator);
const command = separator === -1 ? [] : rest.slice(separator + 1);
const dirAt = flags.indexOf('--dir');
const dir = dirAt === -1 ? undefined : flags[dirAt + 1];
const say = (line: string): void => console.error(line);
const start = () =>
  startKubernetes({
    apiOnly: flags.includes('--api-only'),
    metrics: flags.includes('--metrics'),
    say,
    ...(dir === undefined ? {} : { dir }),
  });

switch (verb) {
  case 'build':
    await ensurePrograms('Kubernetes', clusterPrograms(false));
    console.log(await ensureBinaries(say));
    break;
  case 'up':
    await untilSignal();
    break;
  case 'run':
    process.exitCode = await runWithCluster((kubernetes) => ({
      KUBECONFIG_UNDER_TEST: kubernetes.kubeconfig,
      KUBERNETES_UNDER_TEST_HOST_ADDRESS: kubernetes.hostAddress ?? '',
    }));
    break;
  case 'share':
    process.exitCode = await runWithCluster((kubernetes) => ({
      [SHARED_CLUSTER_VARIABLE]: JSON.stringify(kubernetes.shared),
    }));
    break;
  default:
    console.error(USAGE);
    process.exitCode = 2;
}

async function untilSignal(): Promise<void> {
  const kubernetes = await start();
  console.log(kubernetes.kubeconfig);
  await new Promise<void>((resolve) => {
    const keepAlive = setInterval(() => undefined, 60_000);
    const end = (): void => {
      clearInterval(keepAlive);
      resolve();
    };
    process.once('SIGINT', end).once('SIGTERM', end);
  });
  await kubernetes.stop();
}

async function runWithCluster(settings: (kubernetes: Kubernetes) => Record<string, string>): Promise<number> {
  const [program, ...args] = command;
  if (program === undefined) throw new Error(`${verb} needs -- COMMAND`);
  const kubernetes = await start();
  try {
    const child = spawn(program, args, {
      stdio: 'inherit',
      env: { ...process.env, ...settings(kubernetes) },
    });
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    await kubernetes.stop();
  }
}
