import { createLogger } from '@svc/telemetry';
import { startPlatform, type RunningPlatform } from '@svc/platform';
import { readConfiguration, type ConfigFlags } from '../configuration.ts';
import { prepareConsole, prepareSystem } from './prepare.ts';
import { settleMemory } from './settle-memory.ts';
import { onStopSignals } from './signals.ts';
import { renderSummary } from './summary.ts';

export interface StartFlags extends ConfigFlags {
  json?: boolean;
}

/** After the first requests, which a console or script sends immediately. */
const SETTLE_AFTER_MS = 3_000;

/** Prepares and starts the platform, prints the summary when ready, and runs until a signal. */
export async function startFromCommandLine(flags: StartFlags, options: { prepare: boolean }): Promise<void> {
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
  );
  try {
    await prepareSystem(config, { install: options.prepare, progress, signal: stopping.signal });
    const consoleFolder = await prepareConsole({ progress, signal: stopping.signal });
    platform = await startPlatform({ config, log, consoleFolder });
  } catch (error) {
    removeHandlers();
    throw error;
  }
  setTimeout(settleMemory, SETTLE_AFTER_MS).unref();
  if (flags.json === true) process.stdout.write(`${JSON.stringify(platform.ready)}\n`);
  else process.stdout.write(renderSummary(platform.ready, await platform.status(), platform.owner));
}
