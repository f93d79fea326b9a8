import type { SandboxResources } from '@svc/sandboxes/testing/driver';
import type { EscapeCase } from './escape-case.ts';
import type { Ground, Sandbox } from './ground.ts';
import type { Outcome } from './outcome.ts';

const FOLDER = '/srv/volume';
const NARROW_MB = 64;
const WIDE_MB = 512;
const RESOURCES: SandboxResources = { cpuMillis: 1000, memoryMb: 128, diskMb: 64, pids: 64 };
const REWRITE = `mount -o remount,rw ${FOLDER}; chmod 777 ${FOLDER}; echo changed > ${FOLDER}/file`;

export function volumeCases(): EscapeCase[] {
  return [
    {
      title: 'writes to a volume that it mounts read-only',
      attempt: (ground) => inVolume(ground, 'read-only', NARROW_MB, (sandbox) => succeeds(sandbox, REWRITE)),
      control: (ground) => inVolume(ground, 'writable', NARROW_MB, (sandbox) => succeeds(sandbox, REWRITE)),
    },
    {
      title: 'fills the disk of this host through a volume',
      attempt: (ground) =>
        inVolume(ground, 'narrow', NARROW_MB, (sandbox) => sandbox.probe('take-bytes', '150', FOLDER)),
      control: (ground) => inVolume(ground, 'wide', WIDE_MB, (sandbox) => sandbox.probe('take-bytes', '150', FOLDER)),
    },
  ];
}

/** Runs the work in a sandbox with a volume of this size, which is read-only if its name says so. */
async function inVolume(
  ground: Ground,
  name: string,
  sizeMb: number,
  work: (sandbox: Sandbox) => Promise<Outcome>,
): Promise<Outcome> {
  const { volumes } = ground.driver;
  if (volumes === undefined) throw new Error('the driver has no volumes');
  const volumeId = `vol_${name}-${process.pid}`;
  if (!(await volumes.list()).includes(volumeId)) await volumes.create(volumeId, sizeMb);
  const mount = { volumeId, path: FOLDER, readOnly: name === 'read-only' };
  return work(await ground.sandbox(`volume-${name}`, { resources: RESOURCES, volumes: [mount] }));
}

async function succeeds({ shell }: Sandbox, script: string): Promise<Outcome> {
  const { exitCode, stdout, stderr } = await shell(script);
  return { done: exitCode === 0, detail: `${stdout}${stderr}`.trim() };
}
