import { isAppError } from '@svc/errors';
import { loadConfig, type Environment, type FlagValue, type LoadedConfig } from '@svc/config';
import { parsePostgresUrl } from '@svc/sql';
import { hostClashes } from './host-clashes.ts';
import { type PlatformConfig, platformConfigSchema } from './config.ts';

export interface ConfigSources {
  file?: string | undefined;
  environment: Environment;
  flags: readonly FlagValue[];
}

export function loadPlatformConfig(sources: ConfigSources): LoadedConfig<PlatformConfig> {
  return loadConfig({
    schema: platformConfigSchema,
    files: sources.file === undefined ? [] : [sources.file],
    environment: sources.environment,
    environmentPrefix: 'SVC',
    flags: sources.flags,
    check: checkTogether,
  });
}

function checkTogether(config: PlatformConfig): { path: string; message: string }[] {
  const faults: { path: string; message: string }[] = [];
  if ((config.tls.cert_file === undefined) !== (config.tls.key_file === undefined)) {
    faults.push({ path: 'tls.key_file', message: 'and tls.cert_file must be set together' });
  }
  if (config.http !== 'serve' && config.public_url?.startsWith('http:') === true) {
    faults.push({ path: 'public_url', message: `must be https with http: ${config.http}` });
  }
  const { port: plain, https_port: secure, s3_port: s3, s3_https_port: s3Secure = 0, metrics } = config;
  const ports = [plain, secure, s3, s3Secure, metrics.port ?? 0].filter((each) => each !== 0);
  if (new Set(ports).size !== ports.length) {
    faults.push({ path: 'port', message: ', https_port, s3_port, s3_https_port and metrics.port must differ' });
  }
  if (config.services.length === 0) faults.push({ path: 'services', message: 'must name at least one service' });
  return [...faults, ...databaseFaults(config), ...hostClashes(config)];
}

function databaseFaults({ database: { url } }: PlatformConfig): { path: string; message: string }[] {
  if (url === undefined) return [];
  try {
    parsePostgresUrl(url);
    return [];
  } catch (error) {
    if (!isAppError(error)) throw error;
    return [{ path: 'database.url', message: `is not usable: ${String(error.details?.['reason'])}` }];
  }
}
