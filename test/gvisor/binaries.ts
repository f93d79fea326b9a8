import { access, constants, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findGo, GO_ENVIRONMENT } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';

/** A commit of gVisor's branch `go`, which contains its generated sources as a Go module. */
export const GVISOR_VERSION = 'v0.0.0-20250503011706-39ed1f5ac29c';
const GVISOR_MODULE = 'gvisor.dev/gvisor';
/** With inlining, as it is released: benches measure it. */
const BUILD_FLAGS: readonly string[] = ['-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false'];

export interface Gvisor {
  /** `runsc` itself. */
  readonly program: string;
  /**
   * A wrapper for an engine: with the platform that needs no KVM, no limits of its own, and files on the container's
   * own layer, where they persist and can be committed.
   */
  readonly runtime: string;
}

/** Builds runsc from its Go module once, in half a minute on two cores, and caches it. */
export async function ensureGvisor(env: NodeJS.ProcessEnv = process.env): Promise<Gvisor> {
  const cache = env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'svc', `gvisor-${GVISOR_VERSION}`);
  const runtime = join(folder, 'runsc-engine');
  if (await isProgram(runtime)) return { program: join(folder, 'runsc'), runtime };
  const go = findGo();
  if (go === null) throw new Error('gVisor must be built and needs Go; run: apt-get install -y golang-go');
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(tmpdir(), 'svc-gvisor-build-'));
  try {
    await writeFile(
      join(work, 'go.mod'),
      `module svc.test/gvisor\n\ngo 1.24\n\nrequire ${GVISOR_MODULE} ${GVISOR_VERSION}\n`,
    );
    // `go mod tidy` keeps only imported modules, so import it.
    await writeFile(
      join(work, 'needs.go'),
      `package main\n\nimport _ "${GVISOR_MODULE}/runsc/cli"\n\nfunc main() {}\n`,
    );
    const options = { cwd: work, env: { ...env, ...GO_ENVIRONMENT } };
    await runCommand(go, ['mod', 'tidy'], options);
    await runCommand(
      go,
      ['build', ...BUILD_FLAGS, '-ldflags=-s -w', '-o', join(folder, 'runsc.part'), `${GVISOR_MODULE}/runsc`],
      options,
    );
    await rename(join(folder, 'runsc.part'), join(folder, 'runsc'));
    const script = `#!/bin/sh\nexec "$(dirname "$0")/runsc" --platform=systrap --ignore-cgroups --overlay2=none "$@"\n`;
    await writeFile(`${runtime}.part`, script, { mode: 0o755 });
    await rename(`${runtime}.part`, runtime); // last, so that its presence implies a complete build
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { program: join(folder, 'runsc'), runtime };
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
