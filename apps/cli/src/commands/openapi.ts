import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { renderOpenApi } from '@svc/platform';
import type { Command } from 'commander';

/** `svc openapi`: writes `api/openapi.json` from the routes, for whoever adds one. */
export function registerOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('write api/openapi.json from the routes')
    .action(async () => {
      const path = fileURLToPath(new URL('../../../../api/openapi.json', import.meta.url));
      await writeFile(path, await renderOpenApi());
      process.stdout.write('api/openapi.json is written\n');
    });
}
