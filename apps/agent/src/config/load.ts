import { existsSync, readFileSync } from 'node:fs';
import { ConfigError, loadConfig, type ConfigFault, type Environment } from '@svc/config';
import { parse } from 'yaml';
import { agentConfigSchema, type AgentConfig } from './schema.ts';

/** Where a ConfigMap is mounted, then where a package installs. */
export const DEFAULT_CONFIG_FILES: readonly string[] = ['/config/config.yaml', '/etc/svc/config.yaml'];

export interface AgentConfigSource {
  /** Null = none was named and none stands in the usual places: environment only. */
  file: string | null;
  environment: Environment;
}

export interface LoadedAgentConfig {
  config: AgentConfig;
  warnings: readonly string[];
}

/** The named file, or the first usual one that exists. */
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
    return { config: loaded.value, warnings: loaded.warnings };
  } catch (error) {
    // Rules over several keys wait until each key is right; a missing token is told with the others all the same.
    if (!(error instanceof ConfigError) || error.faults.some(({ path }) => path.startsWith('svc.token'))) throw error;
    if (hasToken(source.file, environment)) throw error;
    throw new ConfigError([...error.faults, { ...TOKEN_FAULT, origin: null }]);
  }
}

const TOKEN_FAULT: Omit<ConfigFault, 'origin'> = {
  path: 'svc.token',
  message: 'is required; set it in the file, by SVC_TOKEN or by svc.token_file',
};

function hasToken(file: string | null, environment: Environment): boolean {
  if ((environment['SVC_TOKEN'] ?? '') !== '' || (environment['SVC_TOKEN_PATH'] ?? '') !== '') return true;
  try {
    const content: unknown = file === null ? null : parse(readFileSync(file, 'utf8'), { maxAliasCount: 0 });
    const section: unknown = typeof content === 'object' && content !== null && 'svc' in content ? content.svc : null;
    return typeof section === 'object' && section !== null && ('token' in section || 'token_file' in section);
  } catch {
    return true; // a file that cannot be read is a fault of its own, and the token may stand in it
  }
}

/** `SVC_TOKEN_FILE` would be read once; under this name it is a path that is watched for a rotated token. */
function withTokenPath(environment: Environment): Environment {
  const { SVC_TOKEN_FILE: file, ...rest } = environment;
  return file === undefined || file === '' ? rest : { SVC_TOKEN_PATH: file, ...rest };
}

/** Rules over several keys. */
function checkTogether(config: AgentConfig): { path: string; message: string }[] {
  const faults: { path: string; message: string }[] = [];
  const { token, token_file: tokenFile, tls, api_url: apiUrl } = config.svc;
  if (token === undefined && tokenFile === undefined) {
    faults.push(TOKEN_FAULT);
  }
  if ((tls.client_cert === undefined) !== (tls.client_key === undefined)) {
    faults.push({ path: 'svc.tls.client_cert', message: 'and svc.tls.client_key belong together' });
  }
  if (URL.parse(apiUrl) === null) faults.push({ path: 'svc.api_url', message: 'must be a URL' });
  if (config.metrics.enabled && config.metrics.port !== 0 && config.metrics.port === config.http.port) {
    faults.push({ path: 'metrics.port', message: 'must differ from http.port, which serves metrics as well' });
  }
  faults.push(...forwardFaults(config));
  return faults;
}

function forwardFaults(config: AgentConfig): { path: string; message: string }[] {
  const faults: { path: string; message: string }[] = [];
  const names = new Set<string>();
  for (const [index, { name, local_addr: address }] of config.tunnel.forwards.entries()) {
    const path = `tunnel.forwards.${index}`;
    if (names.has(name)) faults.push({ path: `${path}.name`, message: `is there twice: ${name}` });
    if (name === 'kubernetes') faults.push({ path: `${path}.name`, message: 'is taken by the Kubernetes API' });
    names.add(name);
    const portText = address.slice(address.lastIndexOf(':') + 1);
    if (Number(portText) < 1 || Number(portText) > 65_535) {
      faults.push({ path: `${path}.local_addr`, message: 'must end with a port from 1 to 65535' });
    }
  }
  return faults;
}
