import { requirement, skippedTitle, temporaryFolder } from '@svc/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONTROLS } from './controls.ts';
import { runOutside } from './run.ts';

/** A short run; use `node test/replica-faults/main.ts --faults 1000` for a long one. */
const FAULTS = 12;
const SEED = 20_260_101;
const WORK = [
  'objects written',
  'objects deleted',
  'commands run',
  'sandboxes created',
  'terminals used',
  'tunnel requests',
];
/** A busy machine takes its time. */
const LIMIT_MS = 15 * 60_000;

const reason = requirement(
  'linux',
  'root',
  'cgroups',
  'command:/usr/lib/postgresql',
  'command:faketime',
  'command:busybox',
  'command:mkfs.ext4',
  'command:nft',
  'command:unshare',
);
const title = 'replicas under load whose processes, links, database and engine fail';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  const lines: string[] = [];
  let exitCode = -1;
  beforeAll(async () => {
    await using folder = await temporaryFolder('svc-replica-faults-');
    const stop = new AbortController();
    const wanted = { faults: FAULTS, minutes: 0, seed: SEED, controls: true, folder: folder.path, stop: stop.signal };
    exitCode = await runOutside({ ...wanted, say: (line) => lines.push(line) });
  }, LIMIT_MS);

  it(`lose nothing, do nothing twice and recover, through ${FAULTS} faults`, () => {
    const last = lines.at(-1);
    expect(last, lines.join('\n')).toMatch(/^clean: \d+ faults \(/);
    expect(Number(last?.split(' ')[1])).toBe(FAULTS);
    for (const work of WORK) expect(last).toMatch(new RegExp(`${work} [1-9]`));
    expect(exitCode).toBe(0);
  });

  it.each(CONTROLS.map(({ name }) => name))('and the auditor finds %s, which is planted', (name) => {
    const control = lines.find((line) => line.startsWith(`control ${name}: `));
    expect(control ?? lines.join('\n')).toContain(`control ${name}: found`);
  });
});
