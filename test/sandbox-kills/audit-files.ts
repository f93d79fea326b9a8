import { join } from 'node:path';
import { filesBelow } from '../system/process-facts.ts';
import { namesIn } from './ground.ts';

export interface Folders {
  readonly dataFolder: string;
  readonly runFolder: string;
}

/** Files that belong to nothing: leftovers of interrupted operations and of deleted sandboxes. */
export function strayFiles(
  { dataFolder, runFolder }: Folders,
  kept: ReadonlySet<string>,
  snapshots: ReadonlySet<string>,
  volumes: ReadonlySet<string>,
  halves: ReadonlySet<string>,
): string[] {
  const data = join(dataFolder, 'sandboxes');
  const found = [data, runFolder].flatMap((folder) => filesBelow(folder).map((path) => join(folder, path)));
  const isExpected = (file: string): boolean =>
    [
      own(join(data, 'disks'), ['disk.img', 'sandbox.json'], kept),
      own(join(data, 'snapshots'), ['disk.img', 'snapshot.json'], snapshots),
      own(join(data, 'volumes'), ['volume.img'], volumes),
      (path: string) => [...halves].some((id) => path === join(data, 'prepared', `${id}.img`)),
      (path: string) => path.startsWith(join(data, 'templates/')) && /\/\d+\.ext4$/.test(path),
      (path: string) => path.startsWith(join(data, 'images/')) && !/\/images\/(partial|work|leases|holds)\//.test(path),
      (path: string) => isHold(path, join(data, 'images/holds/'), kept, snapshots),
      (path: string) =>
        /^\/(agent-[0-9a-f]+|seccomp-[0-9a-f]{16}\.json|launcher\.lock|mounts\.sock)$/.test(
          path.replace(runFolder, ''),
        ),
      // Files of a running sandbox; whether it runs is not checked here.
      (path: string) => path.startsWith(join(runFolder, 'sandboxes/')) && /\/(agent\.sock|state\.json)$/.test(path),
    ].some((matches) => matches(file));
  const folders = ['disks', 'snapshots', 'volumes'].flatMap((name) => {
    const folder = join(data, name);
    return namesIn(folder)
      .filter((each) => !kept.has(each) && !snapshots.has(each) && !volumes.has(each))
      .map((each) => join(folder, each));
  });
  return [...found.filter((file) => !isExpected(file)), ...folders].map((path) => `${path} is left over`);
}

/** Matches a file with one of the names in the folder of a kept item. */
function own(folder: string, names: readonly string[], kept: ReadonlySet<string>): (path: string) => boolean {
  return (path) => {
    if (!path.startsWith(`${folder}/`)) return false;
    const [id = '', name = '', ...rest] = path.slice(folder.length + 1).split('/');
    return kept.has(id) && names.includes(name) && rest.length === 0;
  };
}

/** Whether the holder of an image exists. */
function isHold(path: string, holds: string, kept: ReadonlySet<string>, snapshots: ReadonlySet<string>): boolean {
  const holder = path.startsWith(holds) ? (path.split('/').at(-1) ?? '') : '';
  return holder === 'owner' || kept.has(holder) || snapshots.has(holder);
}
