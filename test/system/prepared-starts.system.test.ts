import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requirement, temporaryFolder, waitFor } from '@svc/testing';
import { runFolderOf } from '@svc/sandboxes/testing/run-folder';
import { describe, expect, it } from 'vitest';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const READY_MS = 120_000;
const without = requirement('root');

async function prepared({ ready }: RunningPlatform): Promise<number> {
  const response = await fetch(new URL('/metrics', ready.url), { headers: { authorization: `Bearer ${ready.token}` } });
  const found = /^svc_sandbox_prepared_starts_ready (\d+)$/m.exec(await response.text());
  return Number(found?.[1] ?? 0);
}

describe('prepared starts of a platform', () => {
  it.skipIf(without !== null)(
    `are removed on the next start after every process was killed${without === null ? '' : ` [skipped: ${without}]`}`,
    async () => {
      await using folder = await temporaryFolder();
      const dataFolder = join(folder.path, 'data');
      const runFolder = runFolderOf(dataFolder);
      const options = { dataFolder, environment: { SVC_SERVICES: 'sandboxes' } };
      const waiting = (): string[] => readdirSync(join(runFolder, 'sandboxes'));
      const filled = (platform: RunningPlatform) =>
        waitFor(async () => (await prepared(platform)) === 2, { timeoutMs: READY_MS, description: 'prepared starts' });

      await using killed = await startPlatform(options);
      await filled(killed);
      const before = waiting();
      expect(before).toHaveLength(2);
      const launcher = Number(readFileSync(join(runFolder, 'launcher.lock'), 'utf8'));
      process.kill(launcher, 'SIGSTOP'); // otherwise it would clean up behind the platform
      process.kill(killed.ready.pid, 'SIGKILL');
      process.kill(launcher, 'SIGKILL');
      expect(waiting()).toEqual(before);

      await using again = await startPlatform(options);
      await filled(again);
      const after = waiting();
      expect(after).toHaveLength(2);
      expect(after.filter((id) => before.includes(id))).toEqual([]);
      const disks = readdirSync(join(dataFolder, 'sandboxes/prepared'));
      expect(disks.toSorted()).toEqual(after.map((id) => `${id}.img`).toSorted());
      const slots = readdirSync('/run/svc/slots').filter((slot) => before.some((id) => readSlot(slot).includes(id)));
      expect(slots).toEqual([]);
      expect(await again.stop()).toBe(0);
      expect(readdirSync(join(dataFolder, 'sandboxes/prepared'))).toEqual([]);
    },
  );
});

/** Empty if another platform releases it meanwhile. */
function readSlot(slot: string): string {
  try {
    return readFileSync(`/run/svc/slots/${slot}`, 'utf8');
  } catch {
    return '';
  }
}
