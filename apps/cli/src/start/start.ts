import { createLogger } from '@svc/telemetry';
import {
  shutdownDeadlineMs,
  startPlatform,
  type RunningPlatform,
  missingSystemRequirements,
  type PlatformConfig,
} from '@svc/platform';
import { commandPath, createHelper, readConfiguration, type ConfigFlags } from '../configuration.ts';
import { settleOwnMemory } from './settle-memory.ts';
import { renderSummary } from './summary.ts';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ensureSystemPackages, type EnsureResult } from '@svc/system-packages';

export interface StartFlags extends ConfigFlags {
  json?: boolean;
}

/** A supervisor restarts the process, whose start then names the remedy. */
const TAKEN_EXIT_CODE = 1;

interface StartOptions {
  /** Whether to install missing system packages and build what is missing. */
  prepare: boolean;
  /** Called when the platform serves, before the summary is printed. */
  onReady: () => void;
}

/** Prepares and starts the platform, prints the summary when ready, and runs until a signal. */
export async function startFromCommandLine(flags: StartFlags, options: StartOptions): Promise<void> {
  const loaded = readConfiguration(flags);
  const config = loaded.value;
  const log = createLogger({ ...config.log, name: 'svc' });
  for (const warning of loaded.warnings) log.warn(warning);
  const progress = (line: string): void => void process.stderr.write(`svc: ${line}\n`);

  const stopping = new AbortController();
  let platform: RunningPlatform | undefined;
  const removeHandlers = onStopSignals(
    async () => {
      stopping.abort();
      await platform?.close();
    },
    (code) => process.exit(code),
    shutdownDeadlineMs(config),
  );
  try {
    await prepareSystem(config, { install: options.prepare, progress, signal: stopping.signal });
    const consoleFolder = await prepareConsole({ progress, signal: stopping.signal });
    platform = await startPlatform({
      config,
      log,
      consoleFolder,
      helperBinaries: createHelper(progress),
      onTaken: () => process.exit(TAKEN_EXIT_CODE),
    });
  } catch (error) {
    removeHandlers();
    throw error;
  }
  options.onReady();
  settleOwnMemory({
    signal: stopping.signal,
    onError: (err) => log.warn({ err }, 'memory could not be collected'),
  });
  if (flags.json === true) process.stdout.write(`${JSON.stringify(platform.ready)}\n`);
  else process.stdout.write(renderSummary(platform.ready, await platform.status(), platform.owner));
}

interface PrepareOptions {
  /** False only checks. */
  install: boolean;
  progress: (line: string) => void;
  signal: AbortSignal;
}

/** Installs system packages for the configured services, or reports what is missing. */
function prepareSystem(config: PlatformConfig, options: PrepareOptions): Promise<EnsureResult> {
  return ensureSystemPackages(missingSystemRequirements(config), {
    path: commandPath(),
    isRoot: options.install && process.getuid?.() === 0,
    progress: options.progress,
    signal: options.signal,
  });
}

/** Returns the folder of the built console: that of an installed svc, or a checkout's, rebuilt if its sources changed. */
async function prepareConsole(options: { progress: (line: string) => void; signal: AbortSignal }): Promise<string> {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const installed = `${root}console`;
  if (existsSync(`${installed}/index.html`)) return installed;
  const { ensureConsoleBuilt } = await import('@svc/console/build');
  return ensureConsoleBuilt({
    root,
    cacheDir: `${root}.cache`,
    onBuild: () => options.progress('building the console (once)'),
    signal: options.signal,
  });
}

/** The first SIGTERM or Ctrl-C starts a drain; the second ends the process immediately. */
function onStopSignals(drain: () => Promise<void>, exit: (code: number) => void, deadlineMs: number): () => void {
  let draining = false;
  const handler = (signal: NodeJS.Signals): void => {
    if (draining) {
      exit(signal === 'SIGINT' ? 130 : 143);
      return;
    }
    draining = true;
    // Even if the drain hangs.
    const deadline = setTimeout(() => exit(1), deadlineMs);
    drain().then(
      () => {
        clearTimeout(deadline);
        exit(0);
      },
      () => exit(1),
    );
  };
  process.on('SIGTERM', handler);
  process.on('SIGINT', handler);
  return () => {
    process.removeListener('SIGTERM', handler);
    process.removeListener('SIGINT', handler);
  };
}
