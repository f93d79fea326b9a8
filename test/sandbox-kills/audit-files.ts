import { basename, join } from 'node:path';
import { filesBelow } from '../system/process-facts.ts';
import { namesIn } from './ground.ts';

export interface Folders {
  readonly dataFolder: string;
  readonly runFolder: string;
}

/** Ids of what may have files. */
export interface Owners {
  readonly sandboxes: ReadonlySet<string>;
  readonly snapshots: ReadonlySet<string>;
  readonly volumes: ReadonlySet<string>;
  /** Prepared starts. */
  readonly halves: ReadonlySet<string>;
  /** Layers of templates. */
  readonly layers: ReadonlySet<string>;
  /** Hashes of archives that clients uploaded. */
  readonly uploads: ReadonlySet<string>;
}

/** Files that belong to nothing: leftovers of interrupted operations and of deleted sandboxes. */
export function strayFiles({ dataFolder, runFolder }: Folders, owners: Owners): string[] {
  const { sandboxes, snapshots, volumes, halves, layers, uploads } = owners;
  const holders = new Set(['owner', ...sandboxes, ...snapshots, ...layers]);
  const data = join(dataFolder, 'sandboxes');
  const found = [data, runFolder].flatMap((folder) => filesBelow(folder).map((path) => join(folder, path)));
  const isExpected = (file: string): boolean =>
    [
      own(join(data, 'disks'), ['disk.img', 'sandbox.json'], sandboxes),
      own(join(data, 'snapshots'), ['disk.img', 'snapshot.json'], snapshots),
      own(join(data, 'volumes'), ['volume.img'], volumes),
      (path: string) => [...halves].some((id) => path === join(data, 'prepared', `${id}.img`)),
      (path: string) => path.startsWith(join(data, 'templates/')) && /\/\d+\.ext4$/.test(path),
      (path: string) => path.startsWith(join(data, 'images/')) && !/\/images\/(partial|work|leases|holds)\//.test(path),
      (path: string) => path.startsWith(join(data, 'images/holds/')) && holders.has(basename(path)),
      (path: string) => [...layers].some((id) => path === join(data, 'built', `${id}.json`)),
      (path: string) => isUpload(path, join(data, 'template-files/'), uploads),
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
      .filter((each) => !sandboxes.has(each) && !snapshots.has(each) && !volumes.has(each))
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

/** A complete archive, in the folder of its workspace. */
function isUpload(path: string, folder: string, uploads: ReadonlySet<string>): boolean {
  if (!path.startsWith(folder)) return false;
  const [, hash] = /^[0-9a-f-]{36}\/sha256-([0-9a-f]{64})$/.exec(path.slice(folder.length)) ?? [];
  return hash !== undefined && uploads.has(hash);
}
