import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '@svc/testing';
import { runInside, runOutside } from './run.ts';

/**
 * `node test/replica-faults/main.ts --faults 1000 [--seed N] [--log FILE]`, as root; `--controls` tests the auditor
 * afterwards, `--faults 0 --controls` only that. SIGTERM or SIGINT ends it after the current round.
 */
const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '20260101' },
    log: { type: 'string' },
    controls: { type: 'boolean', default: false },
    /** Runs inside the namespaces, on the folder that the outer process prepared. */
    inside: { type: 'string' },
  },
});
const wanted = { faults: Number(values.faults), seed: Number(values.seed), controls: values.controls };
if (![wanted.faults, wanted.seed].every((each) => Number.isSafeInteger(each) && each >= 0)) {
  process.stderr.write('--faults and --seed are whole numbers\n');
  process.exit(2);
}
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
  if (values.log !== undefined) appendFileSync(values.log, `${line}\n`);
};

if (values.inside === undefined) {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  await using folder = await temporaryFolder('svc-replica-faults-');
  process.exitCode = await runOutside({ ...wanted, folder: folder.path, say, stop: stop.signal });
} else {
  process.exitCode = await runInside({ ...wanted, folder: values.inside, say });
  process.exit();
}
