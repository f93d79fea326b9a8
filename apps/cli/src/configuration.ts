import { fileURLToPath } from 'node:url';
import type { LoadedConfig } from '@svc/config';
import { createHelperBinaries, type HelperBinaries } from '@svc/helper-binary';
import { loadPlatformConfig, type PlatformConfig } from '@svc/platform';

/**
 * The CLI's configuration; reads the environment. These flags set configuration keys; each command offers some of them.
 */
export interface ConfigFlags {
  data?: string;
  port?: string;
  http?: string;
  httpsPort?: string;
  s3Port?: string;
  s3HttpsPort?: string;
  host?: string;
  config?: string;
}

export function readConfiguration(flags: ConfigFlags): LoadedConfig<PlatformConfig> {
  return loadPlatformConfig({
    file: flags.config ?? process.env['SVC_CONFIG'],
    environment: process.env,
    flags: [
      { flag: '--data', path: 'data', value: flags.data },
      { flag: '--port', path: 'port', value: flags.port },
      { flag: '--http', path: 'http', value: flags.http },
      { flag: '--https-port', path: 'https_port', value: flags.httpsPort },
      { flag: '--s3-port', path: 's3_port', value: flags.s3Port },
      { flag: '--s3-https-port', path: 's3_https_port', value: flags.s3HttpsPort },
      { flag: '--host', path: 'host', value: flags.host },
    ],
  });
}

/** Provides the sandbox helper of this checkout, which is built at its first use. */
export function createHelper(progress: (line: string) => void): HelperBinaries {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  return createHelperBinaries({ root, environment: process.env, progress });
}

/** Returns the search path for commands. */
export function commandPath(): string {
  return process.env['PATH'] ?? '';
}
