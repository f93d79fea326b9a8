import { fileURLToPath } from 'node:url';
import { buildAndRecord } from '@svc/helper-binary';

/** Builds the programs of `native/` for every architecture and records the checksums, after a change of their sources. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
for (const program of ['sandbox-agent', 'bucket-mount'] as const) {
  process.stdout.write(await buildAndRecord({ root, environment: process.env, progress, write: true, program }));
}
