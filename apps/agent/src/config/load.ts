import { existsSync, readFileSync } from 'node:fs';
import { ConfigError, loadConfig, type Environment } from '@svc/config';
import { parse } from 'yaml';
import { checkTogether, TOKEN_FAULT } from './check.ts';
import { agentConfigSchema, type AgentConfig } from './schema.ts';

/** The mount path of a ConfigMap, then the path of a package installation. */
export const DEFAULT_CONFIG_FILES: readonly string[] = ['/config/config.yaml', '/etc/svc/config.yaml'];

export interface AgentConfigSource {
  /** Null = none was given or found in the default places: environment only. */
  file: string | null;
  environment: Environment;
}

export interface LoadedAgentConfig {
  config: AgentConfig;
  warnings: readonly string[];
}

/** The given file, or the first default one that exists. */
export function findConfigFile(named: string | undefined): string | null {
  return named ?? DEFAULT_CONFIG_FILES.find((file) => existsSync(file)) ?? null;
}

/** Defaults < YAML < environment. Throws a `ConfigError` with every fault. */
export function loadAgentConfig(source: AgentConfigSource): LoadedAgentConfig {
  const environment = withTokenPath(source.environment);
  try {
    const loaded = loadConfig({
      schema: agentConfigSchema,
      files: source.file === null ? [] : [source.file],
      environment,
      check: checkTogether,
    });
    return { config: withNearestToken(loaded.value, environment), warnings: loaded.warnings };
  } catch (error) {
    // Rules over several keys are checked only once each key is valid; report a missing token with the other faults
    // anyway.
    if (!(error instanceof ConfigError) || error.faults.some(({ path }) => path.startsWith('svc.token'))) throw error;
    if (hasToken(source.file, environment)) throw error;
    throw new ConfigError([...error.faults, { ...TOKEN_FAULT, origin: null }]);
  }
}

/** A token in the environment takes precedence over a token file in the YAML, as all environment values do. */
function withNearestToken(config: AgentConfig, environment: Environment): AgentConfig {
  if ((environment['SVC_TOKEN'] ?? '') === '' || (environment['SVC_TOKEN_PATH'] ?? '') !== '') return config;
  const { token_file: _unused, ...svc } = config.svc;
  return { ...config, svc };
}

function hasToken(file: string | null, environment: Environment): boolean {
  if ((environment['SVC_TOKEN'] ?? '') !== '' || (environment['SVC_TOKEN_PATH'] ?? '') !== '') return true;
  try {
    const content: unknown = file === null ? null : parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 });
    const section: unknown = typeof content === 'object' && content !== null && 'svc' in content ? content.svc : null;
    return typeof section === 'object' && section !== null && ('token' in section || 'token_file' in section);
  } catch {
    return true; // an unreadable file is reported separately, and may contain the token
  }
}

/** `SVC_TOKEN_FILE` would be read only once; under this name it is a path that is watched for a rotated token. */
function withTokenPath(environment: Environment): Environment {
  const { SVC_TOKEN_FILE: file, ...rest } = environment;
  return file === undefined || file === '' ? rest : { SVC_TOKEN_PATH: file, ...rest };
}
