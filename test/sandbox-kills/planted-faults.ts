import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { answered } from './api.ts';
import { controllerMounts } from './ground.ts';
import { isFrozen, launchersIn, PARENT_GROUP, processes } from './machine.ts';
import { file, folder, run, type Control } from './planting.ts';

/** Faults of sandboxes, snapshots and images. */
export const SANDBOX_CONTROLS: readonly Control[] = [
  {
    name: 'a process outside of any sandbox',
    expected: /process \d+ of no sandbox is left over: sleep/,
    plant: async () => sleeper(),
  },
  {
    name: 'a process in the group of a stopped sandbox',
    expected: /process \d+ of sbx_\w+ is left over: sleep/,
    plant: async ({ stopped }) => {
      const groups = makeGroups(stopped);
      const [end, pid] = await sleeperOf();
      for (const group of groups) writeFileSync(join(group, 'cgroup.procs'), String(pid));
      return async () => {
        await end();
        for (const group of groups) rmdirSync(group);
      };
    },
  },
  {
    name: 'a second launcher',
    expected: /launchers: \d+ of \d+, \d+ of/,
    plant: async ({ runFolder }) => {
      const child = spawn('sh', ['-c', 'sleep 1000 & wait', 'host', 'host', '--run', runFolder]);
      await once(child, 'spawn');
      return async () => {
        for (const { pid, parentPid } of processes()) if (parentPid === child.pid) process.kill(pid, 'SIGKILL');
        child.kill('SIGKILL');
        await once(child, 'exit');
      };
    },
  },
  {
    name: 'a control group',
    expected: /control group of sbx_\w+ is left over/,
    plant: async ({ stopped }) => {
      const groups = makeGroups(stopped);
      return () => groups.forEach((group) => rmdirSync(group));
    },
  },
  {
    name: 'a control group that has no sandbox for a name',
    expected: /control group \S+planted is left over/,
    plant: async () => {
      const groups = controllerMounts().map((point) => join(point, 'planted'));
      for (const group of groups) mkdirSync(group);
      return () => groups.forEach((group) => rmdirSync(group));
    },
  },
  {
    name: 'a mount on this machine',
    expected: /mount \S+planted \(tmpfs\) is left over/,
    plant: async ({ runFolder }) => mount(join(runFolder, 'planted'), ['env']),
  },
  {
    name: "a mount that only the launcher's namespace has",
    expected: /mount \S+planted \(tmpfs\) is left over/,
    plant: async ({ runFolder }) => {
      const [launcher] = launchersIn(processes(), runFolder);
      return mount(join(runFolder, 'planted'), ['nsenter', '--mount', '--target', String(launcher?.pid)]);
    },
  },
  {
    name: 'a network namespace that a mount keeps',
    expected: /mount \S+planted \(nsfs\) is left over/,
    plant: async () => {
      run('ip', 'netns', 'add', 'planted');
      return () => run('ip', 'netns', 'delete', 'planted');
    },
  },
  {
    name: 'a link',
    expected: /link svcsb15999 is left over/,
    plant: async () => {
      run('ip', 'link', 'add', 'svcsb15999', 'type', 'veth', 'peer', 'name', 'planted0');
      return () => run('ip', 'link', 'delete', 'svcsb15999');
    },
  },
  {
    name: 'a firewall table',
    expected: /firewall table inet svc_egress_svcsb15999 is left over/,
    plant: async () => {
      run('nft', 'add', 'table', 'inet', 'svc_egress_svcsb15999');
      return () => run('nft', 'delete', 'table', 'inet', 'svc_egress_svcsb15999');
    },
  },
  {
    name: 'a slot',
    expected: /slot sbx_\w+ is left over/,
    plant: async ({ runFolder, stopped }) => file('/run/svc/slots/15999', `${runFolder}/sandboxes/${stopped}`),
  },
  {
    name: 'a disk that is attached',
    expected: /attached disk \S+disk.img is left over/,
    plant: async ({ dataFolder, stopped }) => {
      const disk = join(dataFolder, 'sandboxes/disks', stopped, 'disk.img');
      const device = run('losetup', '--find', '--show', disk).trim();
      return () => run('losetup', '--detach', device);
    },
  },
  {
    name: 'half of a disk',
    expected: /disk.img.new is left over/,
    plant: async ({ dataFolder, running }) => file(join(dataFolder, 'sandboxes/disks', running, 'disk.img.new')),
  },
  {
    name: 'the disk of nobody',
    expected: /disks\/sbx_planted is left over/,
    plant: async ({ dataFolder }) => folder(join(dataFolder, 'sandboxes/disks/sbx_planted')),
  },
  {
    name: 'a snapshot of nobody',
    expected: /snapshots\/snp_planted is left over/,
    plant: async ({ dataFolder }) => folder(join(dataFolder, 'sandboxes/snapshots/snp_planted')),
  },
  {
    name: 'a snapshot that was deleted and that its sandbox needs no more',
    expected: /snapshots\/snp_(?!planted)\w+ is left over/,
    plant: async ({ api, dataFolder, running }) => {
      const { body: snapshot } = await answered(api('POST', `/api/containers/${running}/snapshots`, { json: {} }));
      const json = { snapshot_id: snapshot['id'] };
      const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json }));
      await answered(api('DELETE', `/api/snapshots/${String(snapshot['id'])}`));
      const undo = folder(join(dataFolder, 'sandboxes/snapshots', String(snapshot['id'])));
      return async () => {
        undo();
        await answered(api('DELETE', `/api/containers/${String(body['id'])}`));
      };
    },
  },
  {
    name: 'an image that somebody holds who is gone',
    expected: /holds\/\S+sbx_planted is left over/,
    plant: async ({ dataFolder }) => {
      const holds = join(dataFolder, 'sandboxes/images/holds');
      const [group = ''] = run('ls', holds).split('\n');
      return file(join(holds, group, 'sbx_planted'));
    },
  },
  {
    name: 'an image that nothing stands for',
    expected: /image sha256-0 is left over/,
    plant: async ({ dataFolder }) => folder(join(dataFolder, 'sandboxes/images/images/sha256-0')),
  },
  {
    name: 'a layer that no image has',
    expected: /layer planted is left over/,
    plant: async ({ dataFolder }) => folder(join(dataFolder, 'sandboxes/images/layers/planted')),
  },
  {
    name: 'an image of which a layer is gone',
    expected: /layer planted is missing/,
    plant: async ({ dataFolder }) => {
      // An unused image, because a warm sandbox may be created at any moment.
      const image = join(dataFolder, 'sandboxes/images/images/sha256-0');
      const undo = folder(image);
      writeFileSync(join(image, 'image.json'), JSON.stringify({ layers: [{ name: 'planted' }], settings: {} }));
      return undo;
    },
  },
  {
    name: 'the work folder of an image that nobody prepares',
    expected: /images\/work\/planted is left over/,
    plant: async ({ dataFolder }) => folder(join(dataFolder, 'sandboxes/images/work/planted')),
  },
  {
    name: 'half of a file in a sandbox',
    expected: /root\/root\/\.svc-write-planted is left over/,
    plant: async ({ api, running }) => {
      const json = { command: 'touch /root/.svc-write-planted' };
      await answered(api('POST', `/api/containers/${running}/exec`, { json }));
      return () => undefined;
    },
  },
  {
    name: 'a sandbox that stands still and is not said to',
    expected: /sbx_\w+ stands still/,
    plant: async ({ running }) => {
      const freeze = (state: 'FROZEN' | 'THAWED'): void => {
        const [point = ''] = controllerMounts().filter((each) => each.includes('freezer') || each === '/sys/fs/cgroup');
        const isV2 = point === '/sys/fs/cgroup';
        const name = join(point, PARENT_GROUP, running, isV2 ? 'cgroup.freeze' : 'freezer.state');
        writeFileSync(name, isV2 ? String(Number(state === 'FROZEN')) : state);
      };
      freeze('FROZEN');
      await waitFor(() => isFrozen(running)); // each process stops at its next step
      return () => freeze('THAWED');
    },
  },
  {
    name: 'a limit that is not the one of the record',
    expected: /has the limit 63 of pids, expected 64/,
    plant: async ({ running }) => {
      const files = controllerMounts().map((point) => join(point, PARENT_GROUP, running, 'pids.max'));
      const [name = ''] = files.filter((each) => exists(each));
      writeFileSync(name, '63');
      return () => writeFileSync(name, '64');
    },
  },
  {
    name: 'a record of something that does not run',
    expected: /is said to run, and has no first process/,
    plant: async ({ runFolder, running }) => {
      // As the launcher left it, but with another process.
      const name = join(runFolder, 'sandboxes', running, 'state.json');
      const before = readFileSync(name, 'utf8');
      writeFileSync(name, before.replace(/"pid":\d+/, '"pid":999999'));
      return () => writeFileSync(name, before);
    },
  },
  {
    name: 'a record that says another state than was answered',
    expected: /is stopped \(STOPPED_BY_USER\), expected running/,
    plant: async ({ api, running }) => {
      await answered(api('POST', `/api/containers/${running}/stop`));
      return () => undefined;
    },
  },
  {
    name: 'a sandbox that no client created',
    expected: /no client created sandbox/,
    plant: async ({ api }) => {
      const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json: { image: 'busybox' } }));
      return async () => void (await answered(api('DELETE', `/api/containers/${String(body['id'])}`)));
    },
  },
  {
    name: 'a file that was written and is gone',
    expected: /\/root\/one of sandbox .*: found nothing, expected \d+/,
    plant: async ({ api, running }) => {
      await answered(api('DELETE', `/api/containers/${running}/files?path=/root/one`));
      return () => undefined;
    },
  },
  {
    name: 'a file with other bytes than were written',
    expected: /\/root\/one of sandbox .*: found 5 other bytes/,
    plant: async ({ api, running }) => {
      const bytes = Buffer.from('other');
      await answered(api('POST', `/api/containers/${running}/files?path=/root/one`, { bytes }));
      return () => undefined;
    },
  },
];

async function sleeperOf(): Promise<[end: () => Promise<void>, pid: number]> {
  const child = spawn('sleep', ['1000']);
  await once(child, 'spawn');
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return [end, child.pid ?? -1];
}

async function sleeper(): Promise<() => Promise<void>> {
  const [end] = await sleeperOf();
  return end;
}

function makeGroups(id: string): string[] {
  const groups = controllerMounts().map((point) => join(point, PARENT_GROUP, id));
  for (const group of groups) mkdirSync(group);
  return groups;
}

/** `enter`: a program and arguments that run the mount in its target place. */
function mount(place: string, enter: readonly [string, ...string[]]): () => void {
  const [program, ...options] = enter;
  mkdirSync(place);
  run(program, ...options, 'mount', '-t', 'tmpfs', 'planted', place);
  return () => {
    run(program, ...options, 'umount', place);
    rmdirSync(place);
  };
}

function exists(name: string): boolean {
  try {
    return readFileSync(name, 'utf8') !== '';
  } catch {
    return false; // another hierarchy has it
  }
}
