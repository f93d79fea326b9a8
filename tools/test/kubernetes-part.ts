import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestKind } from './kinds.ts';
import type { Part, PartContext } from './part.ts';
import { runInGroup } from './process-group.ts';
import { runVitest, vitestPart } from './vitest-part.ts';

const BUILD_TIMEOUT_MS = 75 * 60_000;

/** Where Linux groups processes by session, niceness counts only within a session, and the session has its own. */
const LEAST_PRIORITY = 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 10 "$@"';

/**
 * Tests against a real Kubernetes. Building its programs from source once takes minutes, so it runs alongside the
 * previous parts at low priority, and at normal priority once this part waits for it.
 */
export function kubernetesPart(kind: TestKind, root: string): Part {
  return vitestPart(kind, root, {
    needsGo: true,
    prepare: buildKubernetes,
    run: (context) => runVitest(context, { name: kind.name, kind, ...sharedCluster(context) }),
    impossible: ({ isRoot }) => {
      if (process.platform !== 'linux') return 'needs Linux';
      return isRoot ? null : 'needs root; run it with: sudo ./svc test kubernetes';
    },
  });
}

/** One cluster for all files, since each start costs ten seconds. An external cluster is shared anyway. */
function sharedCluster({ root, environment }: PartContext): { within?: readonly string[] } {
  if ((environment['KUBECONFIG_UNDER_TEST'] ?? '') !== '') return {};
  return { within: [join(root, 'test/kubernetes/main.ts'), 'share', '--metrics', '--', process.execPath] };
}

async function buildKubernetes(context: PartContext, awaited: AbortSignal): Promise<void> {
  const { exitCode, timedOut } = await runInGroup({
    command: 'sh',
    args: ['-c', LEAST_PRIORITY, 'sh', process.execPath, join(context.root, 'test/kubernetes/main.ts'), 'build'],
    cwd: context.root,
    environment: context.environment,
    timeoutMs: BUILD_TIMEOUT_MS,
    signal: context.signal,
    logFile: join(context.outFolder, 'kubernetes-build.log'),
    onLine: (line) => context.progress(`kubernetes: ${line}`),
    onStarted: (pid) => {
      if (awaited.aborted) raisePriority(pid);
      else awaited.addEventListener('abort', () => raisePriority(pid), { once: true });
    },
  });
  if (timedOut) throw new Error(`the Kubernetes build took longer than ${BUILD_TIMEOUT_MS / 60_000} minutes`);
  if (exitCode !== 0)
    throw new Error(`the Kubernetes build ended with exit code ${exitCode}; see kubernetes-build.log`);
}

/** Has no effect where sessions have no priority, or once the build has ended. */
function raisePriority(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, '0');
  } catch {
    return;
  }
}
