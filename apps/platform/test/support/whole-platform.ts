import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HelperBinaries } from '@svc/helper-binary';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder } from '@svc/testing';
import { compose } from '../../src/compose.ts';
import { loadPlatformConfig } from '../../src/load-config.ts';
import { startComposition } from '../../src/start.ts';
import { callPlatform, type PlatformApi } from './platform-api.ts';

/** The whole platform in this process, with all listeners and services. */
export interface WholePlatform extends PlatformApi {
  readonly url: string;
  readonly s3Endpoint: string;
  close(): Promise<void>;
}

export interface WholePlatformOptions {
  readonly helperBinaries: HelperBinaries;
  /** Settings as environment variables. */
  readonly environment: Readonly<Record<string, string>>;
}

const ANY_PORTS = { SVC_PORT: '0', SVC_HTTPS_PORT: '0', SVC_S3_PORT: '0', SVC_SANDBOXES_SSH_PORT: '0' };
const OWNER = { email: 'owner@example.com', password: 'correct horse battery' };

export async function startWholePlatform({
  helperBinaries,
  environment,
}: WholePlatformOptions): Promise<WholePlatform> {
  const folder = await temporaryFolder('svc-whole-');
  const flags = [
    { flag: '--data', path: 'data', value: join(folder.path, 'data') },
    { flag: '--owner-email', path: 'owner.email', value: OWNER.email },
  ];
  const { value } = loadPlatformConfig({ environment: { ...ANY_PORTS, ...environment }, flags });
  const limits = { ...value.accounts.limits, teams_per_owner: 1_000, workspaces_per_owner: 1_000 };
  const password = { memory_kib: 8, passes: 1, parallelism: 1 };
  const config = {
    ...value,
    owner: { ...value.owner, ...OWNER },
    accounts: { ...value.accounts, limits, password },
  };
  const options = {
    config,
    log: createLogger({ level: 'silent', name: 'test' }),
    helperBinaries,
    consoleFolder: await emptyConsole(folder.path),
  };
  const composition = await compose(options);
  try {
    const { ready } = await startComposition(options, composition);
    return {
      composition,
      url: ready.url,
      s3Endpoint: ready.s3_endpoint ?? '',
      call: (...request) => callPlatform(Number(new URL(ready.url).port), ...request),
      close: async () => {
        await composition.lifecycle.close();
        await folder.remove();
      },
    };
  } catch (error) {
    await composition.lifecycle.close();
    await folder.remove();
    throw error;
  }
}

async function emptyConsole(folder: string): Promise<string> {
  const path = join(folder, 'console');
  await mkdir(path);
  await writeFile(join(path, 'index.html'), '');
  await writeFile(join(path, 'console.json'), JSON.stringify({ routes: [] }));
  return path;
}
