import { temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTROLS } from './controls.ts';
import { runOutside } from './outside.ts';

/** A short run; use `node test/sandbox-kills/main.ts --kills 1000` for a long one. */
const KILLS = 16;
const SEED = 20_260_101;

async function run(controls: boolean): Promise<{ exitCode: number; lines: string[] }> {
  await using folder = await temporaryFolder('svc-kills-');
  const lines: string[] = [];
  const stop = new AbortController();
  const wanted = { kills: KILLS, seed: SEED, controls, folder: folder.path, stop: stop.signal };
  const exitCode = await runOutside({ ...wanted, say: (line) => lines.push(line) });
  return { exitCode, lines };
}

describe('sandboxes under load whose platform and processes are killed', () => {
  it(`leave nothing behind and match their records, through ${KILLS} kills`, async () => {
    const { exitCode, lines } = await run(false);
    const last = lines.at(-1);
    expect(last, lines.slice(-20).join('\n')).toMatch(/^clean: \d+ kills \(/);
    expect(Number(last?.split(' ')[1])).toBeGreaterThanOrEqual(KILLS);
    expect(exitCode).toBe(0);
  });

  describe('the auditor, given planted faults,', () => {
    let lines: string[] = [];
    beforeAll(async () => {
      ({ lines } = await run(true));
    });
    afterAll(() => expect(lines.at(-1), lines.slice(-20).join('\n')).toBe('clean: the controls'));

    it.each(CONTROLS.map(({ name }) => name))('finds %s', (name) => {
      expect(lines.find((line) => line.startsWith(`control ${name}: `)) ?? lines.join('\n')).toContain(
        `control ${name}: found`,
      );
    });
  });
});
