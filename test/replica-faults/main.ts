import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '@svc/testing';
import { runInside, runOutside } from './run.ts';

/**
 * `node test/replica-faults/main.ts --faults 1000 [--minutes N] [--seed N] [--log FILE]`, as root; `--controls` tests the
 * auditor afterwards, `--faults 0 --controls` only that. SIGTERM or SIGINT ends it after the current round.
 */
const { values } = parseArgs({
  options: {
    faults: { type: 'string', default: '1000' },
    minutes: { type: 'string', default: '0' },
    seed: { type: 'string', default: '20260101' },
    log: { type: 'string' },
    controls: { type: 'boolean', default: false },
    /** Runs inside the namespaces, on the folder that the outer process prepared. */
    inside: { type: 'string' },
  },
});
const { controls } = values;
const numbers = { faults: Number(values.faults), minutes: Number(values.minutes), seed: Number(values.seed) };
if (!Object.values(numbers).every((each) => Number.isSafeInteger(each) && each >= 0)) {
  process.stderr.write('--faults, --minutes and --seed are whole numbers\n');
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
  process.exitCode = await runOutside({ ...numbers, controls, folder: folder.path, say, stop: stop.signal });
} else {
  process.exitCode = await runInside({ ...numbers, controls, folder: values.inside, say });
  process.exit();
}
