import { access, constants, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGo, GO_BUILD_FLAGS, GO_ENVIRONMENT } from '@svc/testing';
import { runCommand } from './commands.ts';

export const KUBERNETES_VERSION = 'v1.34.4';

/** The newest release of metrics-server whose libraries are no newer than those of Kubernetes. */
const METRICS_SERVER_VERSION = 'v0.8.0';
const HELM_VERSION = 'v3.19.0';

/** The package of each program. Built as one module, they share one copy of the Kubernetes libraries. */
const PROGRAMS = {
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
  'kube-scheduler': 'k8s.io/kubernetes/cmd/kube-scheduler',
  'kube-proxy': 'k8s.io/kubernetes/cmd/kube-proxy',
  kubelet: 'k8s.io/kubernetes/cmd/kubelet',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'metrics-server': 'sigs.k8s.io/metrics-server/cmd/metrics-server',
  helm: 'helm.sh/helm/v3/cmd/helm',
} as const;

export type KubernetesProgram = keyof typeof PROGRAMS;

/** Folder of the built programs: kept between runs, one per version. */
export function binariesFolder(env: NodeJS.ProcessEnv = process.env): string {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(cache, 'svc', `kubernetes-${KUBERNETES_VERSION}`);
}

export async function binariesAreBuilt(folder = binariesFolder()): Promise<boolean> {
  const found = await Promise.all(
    Object.keys(PROGRAMS).map((program) =>
      access(join(folder, program), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  );
  return found.every(Boolean);
}

/**
 * Builds Kubernetes, metrics-server and Helm from their Go modules, which needs no container registry: 5 to 10 minutes
 * once on two cores. The
 * finished programs are moved into the cache one by one, so that an interrupted build is never mistaken for a complete
 * one.
 */
export async function ensureBinaries(say: (line: string) => void = () => undefined): Promise<string> {
  const folder = binariesFolder();
  if (await binariesAreBuilt(folder)) return folder;
  const go = findGo();
  if (go === null) throw new Error('Kubernetes must be built and needs Go; run: apt-get install -y golang-go');
  say(`building Kubernetes ${KUBERNETES_VERSION} from source, once: this takes minutes`);
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'svc-kubernetes-build-'));
  try {
    await writeModule(go, work);
    await build(go, work);
    for (const program of Object.keys(PROGRAMS)) await moveInto(join(work, 'bin', program), join(folder, program));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

/** Returns Helm, built with Kubernetes. */
export async function ensureHelm(): Promise<string> {
  return join(await ensureBinaries(), 'helm');
}

/**
 * Kubernetes refers to its libraries by paths inside its own repository, which do not exist when it is used as a
 * module: replaces each with the release of the same minor version (v1.34.4 -> v0.34.4).
 */
async function writeModule(go: string, work: string): Promise<void> {
  await writeFile(join(work, 'go.mod'), 'module svc.test/kubernetes\n');
  const download = await runCommand(go, ['mod', 'download', '-json', `k8s.io/kubernetes@${KUBERNETES_VERSION}`], {
    cwd: work,
    env: goEnvironment(),
  });
  const answer = JSON.parse(download.stdout) as { GoMod: string }; // documented output of `go mod download -json`
  const theirs = await readFile(answer.GoMod, 'utf8');
  const goLine = /^go \S+$/m.exec(theirs)?.[0] ?? 'go 1.24.0';
  const libraries = [...theirs.matchAll(/^\s*(?:replace\s+)?(k8s\.io\/[\w.-]+)\s+=>\s+\.\/staging\//gm)].map(
    (match) => match[1],
  );
  const libraryVersion = KUBERNETES_VERSION.replace('v1.', 'v0.');
  await writeFile(
    join(work, 'go.mod'),
    [
      'module svc.test/kubernetes',
      goLine,
      ...Object.values(PROGRAMS).map((path) => `tool ${path}`), // what `go mod tidy` keeps
      `require k8s.io/kubernetes ${KUBERNETES_VERSION}`,
      `require sigs.k8s.io/metrics-server ${METRICS_SERVER_VERSION}`,
      `require helm.sh/helm/v3 ${HELM_VERSION}`,
      ...libraries.map((library) => `replace ${library} => ${library} ${libraryVersion}`),
      '',
    ].join('\n'),
  );
}

async function build(go: string, work: string): Promise<void> {
  const [major, minor] = KUBERNETES_VERSION.slice(1).split('.');
  const stamp = 'k8s.io/component-base/version';
  const linkerFlags = `-s -w -X ${stamp}.gitVersion=${KUBERNETES_VERSION} -X ${stamp}.gitMajor=${major} -X ${stamp}.gitMinor=${minor}`;
  const options = { cwd: work, env: goEnvironment() };
  await runCommand(go, ['mod', 'tidy'], options);
  await mkdir(join(work, 'bin'));
  const flags = [...GO_BUILD_FLAGS, '-ldflags', linkerFlags, '-o', `${join(work, 'bin')}/`];
  await runCommand(go, ['build', ...flags, ...Object.values(PROGRAMS)], options);
}

function goEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, ...GO_ENVIRONMENT };
}

async function moveInto(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch {
    // Another file system: copy next to the target, then rename, which is atomic.
    await runCommand('cp', [from, `${to}.part`]);
    await rename(`${to}.part`, to);
  }
}
