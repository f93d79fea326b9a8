import { parseArgs } from 'node:util';
import { ConfigError, configJsonSchema, renderFault, type Environment } from '@svc/config';
import { isAppError } from '@svc/errors';
import { createLogger } from '@svc/telemetry';
import { startAgent, type Agent } from './agent.ts';
import type { BuildInfo } from './build-info.ts';
import { systemClock } from '@svc/runtime';
import { LiveConfig } from './config/live-config.ts';
import { findConfigFile, loadAgentConfig, type AgentConfigSource } from './config/load.ts';
import { agentConfigSchema } from './config/schema.ts';
import { watchFileForChange } from './config/watch-files.ts';

export interface CommandLine {
  arguments: readonly string[];
  environment: Environment;
  /** Build info; read only when printed. */
  build: () => BuildInfo;
  print: (line: string) => void;
  printError: (line: string) => void;
  /** Registers a listener for SIGHUP, SIGTERM and SIGINT; the returned function removes it. */
  onSignal: (listener: (name: 'SIGHUP' | 'SIGTERM' | 'SIGINT') => void) => () => void;
  /** Polling interval for file changes. */
  fileCheckMs?: number;
}

const USAGE = `svc-agent [run] [--config PATH]      run the agent
svc-agent validate [--config PATH]   check the configuration: file and environment
svc-agent schema                     print the JSON Schema of the configuration file
svc-agent version`;

/** Output for a valid configuration, as the contract specifies it. */
export const VALID_LINES: readonly string[] = [
  '✓ Configuration is valid',
  '✓ All required fields present',
  '✓ All values within acceptable ranges',
];

/** Runs one command to its end and returns the exit code. */
export async function runAgentCommand(line: CommandLine): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...line.arguments],
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    line.printError(`svc-agent: ${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.help === true) return printed(line, USAGE);
  const [verb = 'run', ...rest] = positionals;
  if (values.version === true || verb === 'version') return printed(line, line.build().version);
  if (rest.length > 0 || !['run', 'validate', 'schema'].includes(verb)) {
    line.printError(`svc-agent: unknown command ${positionals.join(' ')}\n${USAGE}`);
    return 2;
  }
  if (verb === 'schema') return printed(line, JSON.stringify(publishedSchema(), null, 2));
  const source = { file: findConfigFile(values.config), environment: line.environment };
  return verb === 'validate' ? validate(line, source) : run(line, source);
}

/** The JSON Schema for editors and charts; the same rules as `validate`. */
export function publishedSchema(): Record<string, unknown> {
  return configJsonSchema(agentConfigSchema, { title: 'Configuration of svc-agent' });
}

function validate(line: CommandLine, source: AgentConfigSource): number {
  try {
    const { warnings } = loadAgentConfig(source);
    for (const each of VALID_LINES) line.print(each);
    for (const warning of warnings) line.printError(`warning: ${warning}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const fault of error.faults) line.print(`✗ ${renderFault(fault)}`);
    return 1;
  }
}

async function run(line: CommandLine, source: AgentConfigSource): Promise<number> {
  let agent: Agent;
  let config: LiveConfig;
  try {
    const { config: initial, warnings } = loadAgentConfig(source);
    const log = createLogger({ ...initial.log, name: 'svc-agent' });
    for (const warning of warnings) log.warn(warning);
    config = new LiveConfig(initial, () => loadAgentConfig(source), log);
    config.onChange((changed) => (log.level = changed.log.level));
    agent = await startAgent({
      config,
      log,
      clock: systemClock,
      random: Math.random,
      build: line.build(),
      pod: {
        host: line.environment['KUBERNETES_SERVICE_HOST'],
        port: line.environment['KUBERNETES_SERVICE_PORT'],
      },
    });
  } catch (error) {
    return reportFailure(line, error);
  }
  return untilStopped(line, source, config, agent);
}

async function untilStopped(
  line: CommandLine,
  source: AgentConfigSource,
  config: LiveConfig,
  agent: Agent,
): Promise<number> {
  const { promise: stopAsked, resolve: askStop } = Promise.withResolvers<void>();
  const reload = (cause: string): void => {
    config.reload(cause);
    agent.reconnectNow();
  };
  const intervalMs = line.fileCheckMs ?? 5000;
  const unwatch: (() => void)[] = [];
  if (source.file !== null) unwatch.push(watchFileForChange(source.file, intervalMs, () => reload('the file changed')));
  unwatch.push(watchTokenFile(config, intervalMs, () => agent.reconnectNow()));
  const offSignal = line.onSignal((name) => {
    if (name === 'SIGHUP') reload('SIGHUP');
    else askStop();
  });
  await stopAsked;
  for (const end of unwatch) end();
  await agent.stop();
  offSignal();
  return 0;
}

/**
 * The token is read at each attempt; this only ends the pause after a refusal. Follows changes of the configured path.
 */
function watchTokenFile(config: LiveConfig, intervalMs: number, changed: () => void): () => void {
  let watched: string | undefined;
  let end = (): void => undefined;
  const follow = (): void => {
    const { token_file: file } = config.current.svc;
    if (file === watched) return;
    end();
    watched = file;
    end = file === undefined ? () => undefined : watchFileForChange(file, intervalMs, changed);
  };
  follow();
  config.onChange(follow);
  return () => end();
}

function reportFailure(line: CommandLine, error: unknown): number {
  if (error instanceof ConfigError) {
    line.printError(`svc-agent: the configuration is invalid`);
    for (const fault of error.faults) line.printError(`  ${renderFault(fault)}`);
  } else if (isAppError(error)) {
    const key = error.details['key'];
    const isNamed = typeof key !== 'string' || error.message.includes(key);
    line.printError(`svc-agent: ${error.message}${isNamed ? '' : ` (${key})`}`);
  } else {
    throw error;
  }
  return 1;
}

function printed(line: CommandLine, text: string): number {
  line.print(text);
  return 0;
}
