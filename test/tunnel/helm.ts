import { access, constants, mkdtemp, mkdir, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGo } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';

const HELM_VERSION = 'v3.19.0';

/** Null if Helm is present or can be built, otherwise what is missing. */
export async function helmRequirement(): Promise<string | null> {
  const built = await access(helmPath(), constants.X_OK).then(
    () => true,
    () => false,
  );
  return built || findGo() !== null ? null : 'needs Go to build Helm; install it with: apt-get install -y golang-go';
}

/** Returns Helm, built once from its Go module and cached. */
export async function ensureHelm(): Promise<string> {
  const path = helmPath();
  const go = findGo();
  if (
    await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
  )
    return path;
  if (go === null) throw new Error('Go is needed to build Helm');
  const work = await mkdtemp(join(tmpdir(), 'svc-helm-build-'));
  try {
    const env = { ...process.env, CGO_ENABLED: '0', GOBIN: work };
    await runCommand(go, ['install', '-trimpath', '-ldflags', '-s -w', `helm.sh/helm/v3/cmd/helm@${HELM_VERSION}`], {
      env,
    });
    await mkdir(join(path, '..'), { recursive: true });
    await runCommand('cp', [join(work, 'helm'), `${path}.part`]);
    await rename(`${path}.part`, path); // atomic
    return path;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function helmPath(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(cache, 'svc', `helm-${HELM_VERSION}`, 'helm');
}
