import type { SandboxResources } from '@svc/sandboxes/testing/driver';
import type { EscapeCase } from './escape-case.ts';

const SMALL: SandboxResources = { cpuMillis: 1000, memoryMb: 128, diskMb: 64, pids: 64 };

/** Amounts above a small sandbox's limits, tried in one, and in a larger sandbox with sufficient limits. */
const AMOUNTS: readonly (readonly [title: string, wider: Partial<SandboxResources>, ...probe: string[]])[] = [
  ['starts more processes than its limit (fork bomb)', { pids: 512 }, 'take-processes', '150'],
  ['uses more memory than its limit', { memoryMb: 512 }, 'take-memory', '200'],
  ['fills the disk of this host', { diskMb: 512 }, 'take-bytes', '150', '/root'],
  ['fills the memory of this host through /dev/shm', { memoryMb: 512 }, 'take-bytes', '200', '/dev/shm'],
];

export interface EmptyFiles {
  /** More empty files than a disk of `diskMb` can hold, and fewer than one of 2 GiB can. */
  readonly count: number;
  readonly diskMb: number;
}

export function resourceCases(files: EmptyFiles): EscapeCase[] {
  const amounts = AMOUNTS.map(([title, wider, ...probe]) => resourceCase(title, wider, probe));
  return [
    ...amounts,
    resourceCase(
      'fills the file system with empty files',
      { diskMb: 2048, memoryMb: 1024 },
      ['take-files', String(files.count), '/root'],
      { ...SMALL, diskMb: files.diskMb },
    ),
    {
      title: "uses up this host's open files",
      attempt: async ({ sandbox }) => (await sandbox('one')).probe('take-descriptors', '300000'),
      control: async ({ sandbox }) => (await sandbox('one')).probe('take-descriptors', '500'),
    },
  ];
}

function resourceCase(
  title: string,
  wider: Partial<SandboxResources>,
  probe: readonly string[],
  narrow = SMALL,
): EscapeCase {
  return {
    title,
    attempt: async ({ sandbox }) => {
      // A sandbox per case, because the attempt may end it.
      const tight = await sandbox(`tight-${nameOf(probe)}`, { resources: narrow });
      const outcome = await tight.probe(...probe).catch((error: unknown) => ({ done: true, detail: String(error) }));
      const neighbour = await (await sandbox('one')).shell('echo fine');
      if (neighbour.stdout !== 'fine\n') throw new Error(`its neighbour did not go on: ${outcome.detail}`);
      const alive = await tight.shell('echo alive').then(
        ({ stdout }) => stdout === 'alive\n',
        () => false,
      );
      return alive ? outcome : { done: true, detail: `it did not go on: ${outcome.detail}` };
    },
    control: async ({ sandbox }) => {
      return (await sandbox(`wide-${nameOf(probe)}`, { resources: { ...SMALL, ...wider } })).probe(...probe);
    },
  };
}

function nameOf([what = '', , where = '']: readonly string[]): string {
  return `${what}-${where.slice(1).replace('/', '-')}`;
}
