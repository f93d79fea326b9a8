import { requirement, skippedTitle, temporaryFolder } from '@svc/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { CONTROLS } from './controls.ts';
import { runOutside } from './run.ts';

/** A short run; use `node test/replica-faults/main.ts --faults 1000` for a long one. */
const FAULTS = 12;
const SEED = 20_260_101;

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

async function run(controls: boolean): Promise<{ exitCode: number; lines: string[] }> {
  await using folder = await temporaryFolder('svc-replica-faults-');
  const lines: string[] = [];
  const stop = new AbortController();
  const wanted = { faults: FAULTS, seed: SEED, controls, folder: folder.path, stop: stop.signal };
  const exitCode = await runOutside({ ...wanted, say: (line) => lines.push(line) });
  return { exitCode, lines };
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  it(`lose nothing, do nothing twice and recover, through ${FAULTS} faults`, async () => {
    const { exitCode, lines } = await run(false);
    const last = lines.at(-1);
    expect(last, lines.join('\n')).toMatch(/^clean: \d+ faults \(/);
    expect(Number(last?.split(' ')[1])).toBe(FAULTS);
    for (const work of ['objects written', 'objects deleted', 'commands run', 'sandboxes created', 'terminals used']) {
      expect(last).toMatch(new RegExp(`${work} [1-9]`));
    }
    expect(exitCode).toBe(0);
  });

  describe('the auditor, given planted faults,', () => {
    let lines: string[] = [];
    beforeAll(async () => {
      ({ lines } = await run(true));
    });

    it.each(CONTROLS.map(({ name }) => name))('finds %s', (name) => {
      expect(lines.find((line) => line.startsWith(`control ${name}: `)) ?? lines.join('\n')).toContain(
        `control ${name}: found`,
      );
    });
  });
});
