import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderOpenApiDocument } from '@svc/http';
import { createLogger } from '@svc/telemetry';
import { compose } from './compose.ts';
import { loadPlatformConfig } from './load-config.ts';

/** The OpenAPI document of a platform with every service, generated from its routes without opening a listener. */
export async function renderOpenApi(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-openapi-'));
  try {
    const flags = [{ flag: '--data', path: 'data', value: join(folder, 'data') }];
    const { value: config } = loadPlatformConfig({ environment: {}, flags });
    const log = createLogger({ level: 'silent', name: 'svc' });
    const helperBinaries = () => Promise.reject(new Error('no sandbox is started'));
    const composition = await compose({ config, log, helperBinaries });
    try {
      return renderOpenApiDocument(composition.app);
    } finally {
      // The modules were never started, so close them here.
      for (const [name, module] of Object.entries(composition.modules)) {
        composition.lifecycle.own(name, () => module.close());
      }
      await composition.lifecycle.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
