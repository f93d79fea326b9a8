import { fileURLToPath } from 'node:url';
import { buildAndRecord } from '@svc/helper-binary';

/** Builds the sandbox helper for every architecture and records the checksums, after a change of its sources. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
process.stdout.write(await buildAndRecord({ root, environment: process.env, progress, write: true }));
