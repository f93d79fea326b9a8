import { distributionOf, type Distribution } from './figures.ts';
import type { SvcSubject } from './svc-subject.ts';

/** Contains Python and git. */
export const PROGRAMS_IMAGE = 'python';

/** A file tree as programs have it: 50 folders with 100 files each. */
const PREPARE = `
set -e
mkdir -p /root/tree && cd /root/tree
for folder in $(seq 50); do
  mkdir $folder
  for file in $(seq 100); do echo "$folder $file" > $folder/$file; done
done
git init -q . && git config user.email bench@example.org && git config user.name bench
git add . && git commit -q -m tree
tar -cf /root/tree.tar --exclude=.git .
mkdir /root/target
`;

/** Ordered from the most syscall-heavy program to one without system calls. */
const PROGRAMS: readonly (readonly [name: string, script: string])[] = [
  ['git status of 5,000 files', 'cd /root/tree && git status --porcelain'],
  ['tar: unpack 5,000 files', 'rm -rf /root/target && mkdir /root/target && tar -xf /root/tree.tar -C /root/target'],
  ['find: walk of the image', 'find / -xdev -type f -size +1M | wc -l'],
  ['sh: 200 programs one after the other', 'for _ in $(seq 200); do /bin/true; done'],
  [
    'python3: import of 10 modules',
    "python3 -c 'import asyncio, csv, http.client, json, logging, sqlite3, ssl, unittest, urllib.request, xml.etree.ElementTree'",
  ],
  ['python3: a loop, no system calls', "python3 -c 'sum(i * i for i in range(5_000_000))'"],
];

export interface ProgramFigures {
  readonly name: string;
  readonly ms: readonly Distribution[];
}

/**
 * Runs the same programs by `exec` in one sandbox per subject, alternately; the first run of each warms up the caches.
 */
export async function measurePrograms(subjects: readonly SvcSubject[], rounds: number): Promise<ProgramFigures[]> {
  const sandboxes = [];
  for (const svc of subjects) {
    const id = await svc.make(PROGRAMS_IMAGE);
    await run(svc, id, PREPARE);
    sandboxes.push({ svc, id });
  }
  const figures: ProgramFigures[] = [];
  for (const [name, script] of PROGRAMS) {
    const times: number[][] = subjects.map(() => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, { svc, id }] of sandboxes.entries()) {
        const ms = await run(svc, id, script);
        if (round > 0) times[index]?.push(ms);
      }
    }
    figures.push({ name, ms: times.map(distributionOf) });
  }
  for (const svc of subjects) await svc.settle();
  return figures;
}

/** Times a no-op command, sequentially and alternately. */
export async function measureExec(subjects: readonly SvcSubject[], count: number): Promise<Distribution[]> {
  const ids = [];
  for (const svc of subjects) ids.push(await svc.make());
  const times: number[][] = subjects.map(() => []);
  for (let round = 0; round < count; round += 1) {
    for (const [index, svc] of subjects.entries()) times[index]?.push(await run(svc, ids[index] ?? '', 'true'));
  }
  for (const svc of subjects) await svc.settle();
  return times.map(distributionOf);
}

async function run(svc: SvcSubject, id: string, command: string): Promise<number> {
  const begunMs = performance.now();
  const { status, body } = await svc.client.call('POST', `/api/sandboxes/${id}/exec`, { command });
  const tookMs = performance.now() - begunMs;
  const { exit_code: code } = JSON.parse(body.toString()) as { exit_code?: number }; // the contract's shape
  if (status !== 200 || code !== 0) throw new Error(`${command} answered ${status}: ${body.toString()}`);
  return tookMs;
}
