import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { renderOpenApi } from '@svc/platform';
import type { Command } from 'commander';

/** `svc openapi`: generates `api/openapi.json` and the SDK's types from the routes. */
export function registerOpenApiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Generate api/openapi.json and the SDK types from the routes')
    .action(async () => {
      const path = fileURLToPath(new URL('../../../../api/openapi.json', import.meta.url));
      await writeFile(path, await renderOpenApi());
      const generator = fileURLToPath(
        new URL('../../../../sdks/typescript/scripts/generate-types.ts', import.meta.url),
      );
      await promisify(execFile)(process.execPath, [generator]);
      process.stdout.write('Wrote api/openapi.json and the SDK types\n');
    });
}
