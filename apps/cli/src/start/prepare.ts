import { fileURLToPath } from 'node:url';
import { ensureConsoleBuilt } from '@svc/console/build';
import { missingSystemRequirements, type PlatformConfig } from '@svc/platform';
import { commandPath } from '../configuration.ts';
import { ensureSystemPackages, type EnsureResult } from '@svc/system-packages';

interface PrepareOptions {
  /** False only checks. */
  install: boolean;
  progress: (line: string) => void;
  signal: AbortSignal;
}

/** Installs system packages for the configured services, or reports what is missing. */
export function prepareSystem(config: PlatformConfig, options: PrepareOptions): Promise<EnsureResult> {
  return ensureSystemPackages(missingSystemRequirements(config), {
    path: commandPath(),
    isRoot: options.install && process.getuid?.() === 0,
    progress: options.progress,
    signal: options.signal,
  });
}

/** Returns the folder of the built console; rebuilds it only if its sources changed. */
export function prepareConsole(options: { progress: (line: string) => void; signal: AbortSignal }): Promise<string> {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  return ensureConsoleBuilt({
    root,
    cacheDir: `${root}.cache`,
    onBuild: () => options.progress('building the console (once)'),
    signal: options.signal,
  });
}
